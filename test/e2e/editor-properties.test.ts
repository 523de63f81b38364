import { PDFDocument } from "pdf-lib";
import type { Browser, Page } from "playwright";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { buildApps } from "../../scripts/build-apps.ts";
import { TemplateVersion } from "../../server/features/templates/contract.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { addSession, desktop, launch, seriousFindings, visit } from "../harness/page.ts";
import { png } from "../harness/pictures.ts";
import { textOf } from "../harness/rendering.ts";
import { agreementPdf } from "./agreement.ts";

/** What a sender says about each field, and the document's own text changed in place. */

const soon = { timeout: 120_000 };
let app: TestAppliance;
let browser: Browser;

beforeAll(async () => {
  await buildApps();
  [app, browser] = await Promise.all([startAppliance(), launch()]);
});

afterAll(async () => {
  await browser?.close();
  await app?.stop();
});

const Id = z.object({ id: z.string() });
const box = (x: number, y: number, width = 90, height = 20) => ({ page: 1, x, y, width, height });
const items = [
  { id: "pets", type: "checkbox", role: "Tenant", label: "Pets", ...box(300, 430, 14, 14) },
  { id: "iban", type: "text_input", role: "Tenant", label: "Account", ...box(300, 460, 200) },
  { id: "months", type: "number", role: "Tenant", label: "Months", default: 3, ...box(300, 490) },
  { id: "rent", type: "number", role: "Tenant", label: "Rent", ...box(420, 490) },
  { id: "sum", type: "formula", role: "Tenant", expression: "months", ...box(300, 520) },
  { id: "sign", type: "signature", role: "Tenant", ...box(300, 600, 180, 44) },
  { id: "rules", type: "text", text: "House rules of {{house}}", ...box(300, 560, 220) },
];

/** The agreement with a line that the service cannot take out: it is in a form of its own. */
async function withForm(): Promise<Uint8Array> {
  const form = await PDFDocument.create();
  form.addPage([200, 20]).drawText("Registered in Bern", { x: 2, y: 5, size: 11 });
  const pdf = await PDFDocument.load(await agreementPdf());
  const [line] = await pdf.embedPdf(await form.save());
  if (line) pdf.getPage(0).drawPage(line, { x: 70, y: 700 - 560 });
  return await pdf.save();
}

async function templateWith(fields: readonly object[], pdf: Uint8Array): Promise<string> {
  const { id } = Id.parse((await app.json("/v1/templates", { json: { name: "Set up" } })).body);
  const headers = { "content-type": "application/pdf" };
  const upload = { method: "POST", body: Buffer.from(pdf), headers };
  const file = Id.parse((await app.json(`/v1/templates/${id}/files`, upload)).body);
  const content = { mode: "overlay", file: file.id, items: fields };
  const json = { content, roles: [{ name: "Tenant" }], variables: [] };
  const saved = await app.json(`/v1/templates/${id}/draft`, { method: "PUT", json });
  expect(saved.status).toBe(200);
  return id;
}

async function itemsOf(id: string, version = "draft") {
  const { content } = TemplateVersion.parse((await app.json(`/v1/templates/${id}/versions/${version}`)).body);
  if (content.mode !== "overlay") throw new Error("not an overlay");
  return content.items;
}

const saved = (page: Page) => page.locator('.save-state[data-status="saved"]').waitFor();
const choose = (page: Page, item: string) => page.locator(`[data-item="${item}"]`).focus();
const open = (page: Page, group: string) => page.locator("summary", { hasText: group }).click();

async function enter(id: string) {
  const visited = await visit(browser, desktop);
  await addSession(visited.context, app, await app.signIn());
  await visited.page.goto(`${app.url}/templates/${id}`);
  await visited.page.locator("[data-drawn]").first().waitFor();
  return visited;
}

test("fields get their rules, options, conditions and formulas; what is wrong is said at once and where it is", async () => {
  const id = await templateWith(items, await agreementPdf());
  const { page, context, troubles } = await enter(id);
  const of = async (item: string) => (await itemsOf(id)).find((one) => one.id === item);

  // Known before anybody publishes: the text names a variable that is not declared.
  const todo = page.getByRole("button", { name: "1 thing to fix" });
  await todo.click();
  await page.getByRole("menuitem", { name: "The variable `house` is not declared." }).click();
  const wrong = page.getByLabel("Text", { exact: true });
  await expect.poll(() => wrong.evaluate((node) => node === document.activeElement), soon).toBe(true);
  expect(await page.locator('[data-item="rules"][data-wrong]').count()).toBe(1);
  await page.locator(".field-form").getByText("The variable `house` is not declared.").waitFor();

  // A form that texts must have, tried at once; a rule that contradicts another is not stored.
  await choose(page, "iban");
  await open(page, "Rules");
  await page.getByLabel("Format", { exact: true }).selectOption({ label: "IBAN" });
  await page.getByLabel("Try it").fill("DE89");
  await page.getByText("Enter an IBAN, for example").waitFor();
  await page.getByLabel("Try it").fill("DE89 3704 0044 0532 0130 00");
  await page.getByText("Accepted").waitFor();
  await page.getByLabel("Maximum length").fill("34");
  await page.getByLabel("Maximum length").press("Enter");
  await page.getByLabel("Minimum length").fill("40");
  await page.getByLabel("Minimum length").press("Enter");
  await page.getByText("The minimum length is above the maximum.").waitFor();

  // Shown only with pets.
  await open(page, "Show only if…");
  await page.getByLabel("Show this field").selectOption({ label: "Pets (Checkbox)" });
  await page.locator('[data-item="iban"][data-conditional]').waitFor();
  await saved(page);
  expect(await of("iban")).toMatchObject({ maxLength: 34, visibleWhen: { field: "pets", in: [true] } });
  expect(await of("iban")).not.toHaveProperty("minLength");

  // A formula, checked while it is written.
  await choose(page, "sum");
  const formula = page.getByLabel("Formula", { exact: true });
  await formula.fill("round(months *");
  await page.getByText("The formula ends too early. (character 15)").waitFor();
  await formula.fill("months * house");
  await page.getByText("house is not a number field.").waitFor();
  await formula.fill("months * ");
  await page.getByLabel("Insert number field").selectOption("rent");
  await page.getByText("With months = 3, rent = 10: 30").waitFor();
  await saved(page);
  expect(await of("sum")).toMatchObject({ expression: "months * rent" });
  expect(await seriousFindings(page)).toEqual([]);

  // Options by keyboard: each has its box below the last one, and keeps its place when they change their order.
  await page.getByRole("button", { name: "Choice", exact: true }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Add option" }).click();
  await page.getByLabel("Value of option 1").fill("month");
  await page.getByLabel("Value of option 1").press("Enter");
  await page.getByRole("button", { name: "Move month down" }).focus();
  await page.keyboard.press("Enter");
  await expect
    .poll(() => page.evaluate("document.activeElement?.getAttribute('aria-label')"), soon)
    .toBe("Move month down");
  await open(page, "Add a list");
  await page.getByLabel("One option per line").fill("year\nweek\n\nyear");
  await page.getByRole("button", { name: "Add 2 options" }).click();
  await page.getByRole("button", { name: "Box of option week" }).press("ArrowRight");
  await expect.poll(async () => (await of("radio-1"))?.width, soon).toBe(15);
  const radio = await of("radio-1");
  if (radio?.type !== "radio") throw new Error("there is no choice");
  expect(radio.options.map(({ value }) => value)).toEqual(["B", "month", "C", "year", "week"]);
  expect(radio.options.map((option) => Math.round((option.box?.y ?? 0) - radio.y))).toEqual([0, 22, 44, 66, 88]);
  expect(radio.height).toBe(102);

  // A picture keeps its proportions.
  await page.getByRole("button", { name: "Picture", exact: true }).focus();
  await page.keyboard.press("Enter");
  await page.locator(".field-form").getByText("Choose a picture.").waitFor();
  const picture = { name: "logo.png", mimeType: "image/png", buffer: png(40, 10) };
  await page.locator('.field-form input[type="file"]').setInputFiles(picture);
  await page.getByRole("img", { name: "The picture" }).waitFor();
  await saved(page);
  expect(await of("picture-1")).toMatchObject({ type: "image", width: 120, height: 30 });

  // Publishing says the same; a press declares the variable, and it is published.
  await page.getByRole("button", { name: "Publish" }).click();
  const refused = page.getByRole("alert");
  await refused.getByRole("button", { name: "Printed text “House rules of {{house}}”, page 1" }).click();
  await page.getByRole("button", { name: "Add variable house" }).click();
  await refused.waitFor({ state: "hidden" });
  await page.getByRole("button", { name: "Publish" }).click();
  await page.getByText("Version 1 is published.").waitFor();
  expect(troubles).toEqual([]);
  await context.close();
});

test("a line of the PDF is replaced in place, and the published document has the new one only", async () => {
  const id = await templateWith(
    items.filter((item) => item.id === "sign"),
    await withForm(),
  );
  const { page, context, troubles } = await enter(id);
  await page.getByRole("button", { name: "Edit PDF text" }).click();
  const line = (text: string) => page.getByRole("button", { name: `Edit line: ${text}`, exact: true });
  await line("Rental agreement").click();
  await page.getByLabel("New text of this line").fill("Lease contract");
  await page.keyboard.press("Enter");
  await page.getByText("Line changed.").waitFor({ state: "attached" });

  // Whoever clicks on the next line has finished with the one before.
  await line("Postcode").click();
  await page.getByLabel("New text of this line").fill("ZIP");
  await line("Company").click();
  await expect.poll(() => page.getByLabel("New text of this line").inputValue(), soon).toBe("Company");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Edit changed line: ZIP" }).click();
  await page.getByRole("button", { name: "Restore original" }).click();

  // By keyboard, and back again.
  await line("Months").focus();
  await page.keyboard.press("Enter");
  await page.getByLabel("New text of this line").fill("Weeks");
  await page.keyboard.press("Enter");
  const changed = page.getByRole("button", { name: "Edit changed line: Weeks" });
  await expect.poll(() => changed.evaluate((node) => node === document.activeElement), soon).toBe(true);
  expect(await seriousFindings(page)).toEqual([]);
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await page.getByRole("button", { name: "Restore original" }).press("Enter");
  await line("Months").waitFor();
  await saved(page);
  // Opened anew it is the same pair that is changed; a text that stays under it is said where it is.
  await line("Registered in Bern").click();
  await page.getByLabel("New text of this line").fill("Registered in Basel");
  await page.keyboard.press("Enter");
  await saved(page);
  await choose(page, "text-2");
  await page.getByText("Some of the original text could not be removed").waitFor();
  await page.locator(".field-form").getByRole("button", { name: "Restore original" }).click();
  await saved(page);
  const [, cover, text, ...rest] = await itemsOf(id);
  expect(rest).toEqual([]);
  expect(cover).toMatchObject({ type: "whiteout", group: "line-1", page: 1 });
  const style = { size: 24, weight: "bold", color: "#1a2424" };
  expect(text).toMatchObject({
    type: "text",
    group: "line-1",
    text: "Lease contract",
    original: "Rental agreement",
    ...style,
  });

  await page.getByRole("button", { name: "Publish" }).click();
  await page.getByText("Version 1 is published.").waitFor();
  const reply = await app.call(`/v1/templates/${id}/versions/1/document`);
  const published = textOf(new Uint8Array(await reply.arrayBuffer()), 1);
  expect(published).toContain("Lease contract");
  expect(published).not.toContain("Rental agreement");
  expect(published).toContain("Months");

  // The next draft beside it: what differs is outlined and said.
  await page.getByRole("button", { name: "Edit as a draft" }).click();
  await page.getByText("Draft after version 1").waitFor();
  await choose(page, "sign");
  await page.getByLabel("Label", { exact: true }).fill("Tenant");
  await page.getByLabel("Label", { exact: true }).press("Enter");
  await saved(page);
  await page.getByRole("tab", { name: "Versions" }).click();
  await page.getByRole("button", { name: "Compare versions" }).click();
  await page.getByText("Changed: Tenant (Signature), page 1 (label)").waitFor();
  await expect.poll(() => page.getByRole("img", { name: "Changed: Tenant (Signature)" }).count(), soon).toBe(1);
  await expect.poll(() => page.getByRole("img", { name: "Changed: Signature" }).count(), soon).toBe(1);
  expect(troubles).toEqual([]);
  await context.close();
});
