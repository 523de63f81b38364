import type { Browser, Locator, Page } from "playwright";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { buildApps } from "../../scripts/build-apps.ts";
import { Template, TemplateList, TemplateVersion } from "../../server/features/templates/contract.ts";
import { problemKinds } from "../../server/kernel/problem.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { contract } from "../harness/hostile-pdfs.ts";
import {
  addSession,
  desktop,
  dialogReady,
  intercepted,
  launch,
  phone,
  seriousFindings,
  shareOf,
  type Visit,
  type VisitOptions,
  visit,
} from "../harness/page.ts";
import { agreementPdf, publishAgreement } from "./agreement.ts";

/** Templates, the welcome page and API keys as a person uses them: no call of theirs needs curl. */

/** How long a slow machine may take. */
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

/** The owner, signed in, in a browser of their own. */
async function enter(options: VisitOptions = desktop): Promise<Visit> {
  const visited = await visit(browser, options);
  visited.page.setDefaultTimeout(soon.timeout);
  await addSession(visited.context, app, await app.signIn());
  return visited;
}

const drawn = (page: Page) => page.locator("[data-drawn]").first().waitFor();
const saved = (page: Page) => page.locator('.save-state[data-status="saved"]').waitFor();
const placed = (page: Page) => page.locator(".placed");

async function templates(q: string) {
  return TemplateList.parse((await app.json(`/v1/templates?q=${encodeURIComponent(q)}`)).body).data;
}

async function draftOf(id: string) {
  const version = TemplateVersion.parse((await app.json(`/v1/templates/${id}/versions/draft`)).body);
  if (version.content.mode !== "overlay") throw new Error("not an overlay");
  return { ...version, items: version.content.items };
}

const idIn = (page: Page) => new URL(page.url()).pathname.split("/").at(-1) ?? "";

/** Makes a template of the rental agreement in the browser. @returns its id */
async function create(page: Page, name: string): Promise<string> {
  await page.goto(`${app.url}/templates`);
  await page.getByRole("button", { name: "New template" }).first().click();
  await dialogReady(page);
  await choosePdf(page, "agreement.pdf", Buffer.from(await agreementPdf()));
  await page.getByLabel("Name of the template").fill(name);
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.waitForURL(/\/templates\/tpl_/);
  await drawn(page);
  return idIn(page);
}

async function choosePdf(page: Page, name: string, buffer: Buffer): Promise<void> {
  await page.locator('input[type="file"]').setInputFiles({ name, mimeType: "application/pdf", buffer });
}

async function centre(of: Locator): Promise<{ x: number; y: number }> {
  const box = await of.boundingBox();
  if (!box) throw new Error("it is not shown");
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

async function drag(page: Page, from: { x: number; y: number }, by: { x: number; y: number }): Promise<void> {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(from.x + by.x / 2, from.y + by.y / 2);
  await page.mouse.move(from.x + by.x, from.y + by.y);
  await page.mouse.up();
}

describe("a template", () => {
  test("is made from a PDF; what is no PDF is refused here, what is broken by the service, and nothing is made twice", async () => {
    const { page, context, troubles } = await enter();
    await page.goto(`${app.url}/templates`);
    await page.getByRole("heading", { name: "No templates yet" }).waitFor();
    await page.getByRole("button", { name: "New template" }).first().click();
    await page
      .locator('input[type="file"]')
      .setInputFiles({ name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("x") });
    await page.getByText("“notes.txt” is not a PDF.").waitFor();

    await choosePdf(page, "Lease 2026.pdf", Buffer.from("%PDF-1.7 not really"));
    expect(await page.getByLabel("Name of the template").inputValue()).toBe("Lease 2026");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByRole("alert").getByText("Invalid document").waitFor();
    // What was refused leaves no template without a document.
    await expect.poll(() => templates("Lease 2026"), soon).toEqual([]);

    await choosePdf(page, "Lease 2026.pdf", Buffer.from(await agreementPdf()));
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.waitForURL(/\/templates\/tpl_/);
    await drawn(page);
    const made = await templates("Lease 2026");
    expect(made).toHaveLength(1);
    expect(made[0]).toMatchObject({ hasDraft: true, latestVersion: null, roles: ["Signer"] });
    expect(idIn(page)).toBe(made[0]?.id);
    expect(troubles).toEqual([]);
    await context.close();
  });

  test("whose upload broke off goes on with a retry, and is gone when the person gives up", async () => {
    const { page, context } = await enter(intercepted);
    const uploads = "**/v1/templates/*/files";
    await page.goto(`${app.url}/templates`);
    for (const giveUp of [true, false]) {
      await context.route(uploads, (route) => route.abort());
      await page.getByRole("button", { name: "New template" }).first().click();
      await dialogReady(page);
      await choosePdf(page, "Broken off.pdf", Buffer.from(await agreementPdf()));
      await page.getByRole("button", { name: "Create", exact: true }).click();
      await page.getByRole("button", { name: "Try again" }).waitFor();
      expect(await templates("Broken off")).toHaveLength(1);
      await context.unroute(uploads);
      if (giveUp) {
        await page.getByRole("button", { name: "Cancel" }).click();
        await expect.poll(() => templates("Broken off"), soon).toEqual([]);
      } else {
        await page.getByRole("button", { name: "Try again" }).click();
        await page.waitForURL(/\/templates\/tpl_/);
        expect(await templates("Broken off")).toMatchObject([{ id: idIn(page), hasDraft: true }]);
      }
    }
    await context.close();
  });

  test("whose upload is still looked at when it is repeated waits for it", async () => {
    const { page, context } = await enter(intercepted);
    await page.goto(`${app.url}/templates`);
    let sent = 0;
    await context.route("**/v1/templates/*/files", async (route) => {
      sent += 1;
      if (sent === 1) {
        // It arrives, and its answer does not.
        await route.fetch();
        return route.abort();
      }
      if (sent > 3) return route.continue();
      const { status, title, detail } = problemKinds["idempotency-in-progress"];
      const about = { type: "x", code: "idempotency-in-progress", instance: "*", requestId: "req_12345678" };
      const body = JSON.stringify({ ...about, status, title, detail, retryAfter: 0.1 });
      return route.fulfill({ status, body, contentType: "application/problem+json" });
    });
    await page.getByRole("button", { name: "New template" }).first().click();
    await dialogReady(page);
    await choosePdf(page, "Looked at.pdf", Buffer.from(await agreementPdf()));
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByRole("button", { name: "Try again" }).click();
    await page.waitForURL(/\/templates\/tpl_/);
    expect(sent).toBe(4);
    expect(await templates("Looked at")).toMatchObject([{ id: idIn(page), hasDraft: true }]);
    await context.close();
  });

  test("gets its fields by mouse and by keyboard, with undo, and is published", async () => {
    const { page, context, troubles } = await enter();
    const id = await create(page, "By hand");

    // By mouse: choose, click on the page, drag, pull at the corner.
    await page.getByRole("button", { name: "Signature", exact: true }).click();
    const sheet = await page.locator(".pdf-page").first().boundingBox();
    if (!sheet) throw new Error("there is no page");
    const scale = sheet.width / 595;
    await page.mouse.click(sheet.x + 300 * scale, sheet.y + 400 * scale);
    const signature = placed(page).first();
    await signature.waitFor();
    await saved(page);
    const [first] = (await draftOf(id)).items;
    if (!first) throw new Error("nothing is placed");
    expect(first.x + first.width / 2).toBeCloseTo(300, -0.5);
    expect(first.y + first.height / 2).toBeCloseTo(400, -0.5);

    // Exactly, without falling into line with what is printed.
    await page.keyboard.down("Control");
    await drag(page, await centre(signature), { x: 60 * scale, y: -80 * scale });
    await drag(page, await centre(page.locator('[data-handle="se"]')), { x: 30 * scale, y: 10 * scale });
    await page.keyboard.up("Control");
    await saved(page);
    const [moved] = (await draftOf(id)).items;
    expect((moved?.x ?? 0) - first.x).toBeCloseTo(60, -0.5);
    expect((moved?.y ?? 0) - first.y).toBeCloseTo(-80, -0.5);
    expect((moved?.width ?? 0) - first.width).toBeCloseTo(30, -0.5);

    // By keyboard: the field appears in view and has the focus.
    await page.getByRole("button", { name: "Date signed", exact: true }).focus();
    await page.keyboard.press("Enter");
    const date = page.locator('.placed[data-type="date_signed"]');
    await date.waitFor();
    await expect.poll(() => date.evaluate((node) => node === document.activeElement), soon).toBe(true);
    await saved(page);
    const at = async () => {
      const item = (await draftOf(id)).items.find(({ type }) => type === "date_signed");
      if (!item) throw new Error("there is no date");
      return item;
    };
    const before = await at();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Shift+ArrowDown");
    await page.keyboard.press("Control+ArrowRight");
    await saved(page);
    const after = await at();
    expect([after.x - before.x, after.y - before.y, after.width - before.width].map(Math.round)).toEqual([1, 10, 1]);

    // By numbers.
    await page.getByLabel("From the left").fill("100");
    await page.getByLabel("From the left").press("Enter");
    await expect.poll(async () => (await at()).x, soon).toBe(100);

    // Undone step by step, and again.
    await page.getByRole("button", { name: "Undo" }).click();
    await expect.poll(async () => Math.round((await at()).x), soon).toBe(Math.round(after.x));
    await page.getByRole("button", { name: "Redo" }).click();
    await expect.poll(async () => (await at()).x, soon).toBe(100);
    await date.focus();
    await page.keyboard.press("Delete");
    await expect.poll(() => placed(page).count(), soon).toBe(1);
    await page.keyboard.press("Control+z");
    await expect.poll(() => placed(page).count(), soon).toBe(2);

    // A second person, named; their fields follow the name.
    await page.getByRole("tab", { name: "People" }).click();
    await page.getByRole("button", { name: "Add a role" }).click();
    await page.getByLabel("Role", { exact: true }).nth(1).fill("Landlord");
    await page.getByLabel("Role", { exact: true }).nth(1).press("Enter");
    await page.getByLabel("Role", { exact: true }).first().fill("Tenant");
    await page.getByLabel("Role", { exact: true }).first().press("Enter");
    // Only what this appliance can carry out is offered.
    expect(await page.getByLabel("Proves who they are by").first().locator("option").allTextContents()).toHaveLength(3);
    await saved(page);
    const draft = await draftOf(id);
    expect(draft.roles.map(({ name, order }) => [name, order])).toEqual([
      ["Tenant", 1],
      ["Landlord", 2],
    ]);
    expect(draft.items.map((item) => "role" in item && item.role)).toEqual(["Tenant", "Tenant"]);

    await page.getByRole("button", { name: "Publish" }).click();
    // The landlord has nowhere to sign: that is asked about, and nothing happens until it is answered.
    const question = page.getByRole("dialog", { name: "Publish without a signature?" });
    await question.getByText("Landlord has no field for a signature or initials.").waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await question.getByRole("button", { name: "Cancel" }).click();
    await question.waitFor({ state: "hidden" });
    expect((await templates("By hand"))[0]).toMatchObject({ latestVersion: null });
    await page.getByRole("button", { name: "Publish" }).click();
    await page.getByRole("button", { name: "Publish anyway" }).click();
    await page.getByText("Version 1 is published.").waitFor();
    await page.getByRole("button", { name: "Edit as a draft" }).waitFor();
    const [template] = await templates("By hand");
    expect(template).toMatchObject({ latestVersion: 1, hasDraft: false });
    expect(await page.getByRole("link", { name: "Send", exact: true }).getAttribute("href")).toBe(
      `/send?template=${id}`,
    );

    // What was published can be edited again.
    await page.getByRole("button", { name: "Edit as a draft" }).click();
    await page.getByText("Draft after version 1").waitFor();
    await expect.poll(() => placed(page).count(), soon).toBe(2);
    expect(troubles).toEqual([]);
    await context.close();
  });

  test("that cannot be published says why and where; a variable makes it right and fills the preview", async () => {
    const { page, context, troubles } = await enter();
    const id = await create(page, "With a mistake");
    await page.getByRole("button", { name: "Printed text", exact: true }).focus();
    await page.keyboard.press("Enter");
    await page.getByLabel("Text", { exact: true }).fill("Rent: {{rent}}");
    await page.getByLabel("Text", { exact: true }).blur();
    await saved(page);
    await page.getByRole("button", { name: "Publish" }).click();
    await page.getByRole("button", { name: "Publish anyway" }).click();
    const problem = page.getByRole("alert");
    await problem.getByText("This draft cannot be published yet").waitFor();
    await problem.getByText("The variable `rent` is not declared.").waitFor();
    await page.getByRole("button", { name: "Close the field's details" }).click();
    await problem.getByRole("button", { name: "Printed text “Rent: {{rent}}”, page 1" }).click();
    await page.getByLabel("Text", { exact: true }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);

    await page.getByRole("tab", { name: "Variables" }).click();
    await page.getByRole("button", { name: "Add a variable" }).click();
    await page.getByLabel("Name", { exact: true }).fill("rent");
    await page.getByLabel("Name", { exact: true }).press("Enter");
    await page.getByLabel("Kind", { exact: true }).selectOption("number");
    await saved(page);
    await page.getByRole("button", { name: "More", exact: true }).click();
    await page.getByRole("menuitem", { name: "Preview as PDF" }).click();
    const dialog = page.getByRole("dialog");
    await dialogReady(page);
    await dialog.getByLabel("rent").fill("1450");
    await dialog.getByRole("button", { name: "Show the preview" }).click();
    await dialog.locator("[data-drawn]").first().waitFor();
    await expect
      .poll(async () => await dialog.locator(".pdf-text").first().textContent(), soon)
      .toContain("Rent: 1450");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Publish" }).click();
    await page.getByRole("button", { name: "Publish anyway" }).click();
    await page.getByText("Version 1 is published.").waitFor();
    expect(Template.parse((await app.json(`/v1/templates/${id}`)).body).latestVersion).toBe(1);
    expect(troubles).toEqual([]);
    await context.close();
  });

  test("that somebody else changed is not overwritten unasked", async () => {
    const { page, context } = await enter();
    const id = await create(page, "Two people");
    await page.getByRole("tab", { name: "Settings" }).click();
    const changeElsewhere = async (name: string) => {
      const { content, variables, settings } = await draftOf(id);
      const json = { name, content, roles: [{ name }], variables, settings };
      expect((await app.json(`/v1/templates/${id}/draft`, { method: "PUT", json })).status).toBe(200);
    };
    const decline = page.getByLabel("People may decline");

    await changeElsewhere("Changed by Bea");
    await decline.uncheck();
    // A dialog: seen wherever the page is scrolled to, and nothing goes on behind it.
    const dialog = page.getByRole("dialog", { name: "This draft was changed elsewhere" });
    await dialog.waitFor();
    await dialogReady(page);
    await page.keyboard.press("Enter");
    await page.keyboard.press("Escape");
    expect(await dialog.isVisible()).toBe(true);
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole("button", { name: "Load newer version" }).click();
    await dialog.waitFor({ state: "hidden" });
    await expect.poll(() => page.getByLabel("Name of the template").inputValue(), soon).toBe("Changed by Bea");
    expect((await draftOf(id)).settings.allowDecline).toBe(true);

    await changeElsewhere("Changed again");
    await decline.uncheck();
    await page.getByRole("button", { name: "Keep mine" }).click();
    await saved(page);
    const mine = await draftOf(id);
    expect(mine.settings.allowDecline).toBe(false);
    expect(mine.roles.map(({ name }) => name)).toEqual(["Changed by Bea"]);
    // A renaming is not undone by somebody who did not rename.
    expect(Template.parse((await app.json(`/v1/templates/${id}`)).body).name).toBe("Changed again");
    await context.close();
  });

  test("is deleted only when nothing was made from it", async () => {
    const { page, context } = await enter();
    const id = await create(page, "Short-lived");
    await page.getByRole("button", { name: "More", exact: true }).click();
    await page.getByRole("menuitem", { name: "Delete the template" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
    await page.waitForURL(/\/templates$/);
    expect((await app.json(`/v1/templates/${id}`)).status).toBe(404);
    await context.close();
  });
});

describe("a new workspace", () => {
  test("tries the sample: a published template, ready to send in test mode, and only one of it", async () => {
    const { page, context, troubles } = await enter();
    for (let time = 0; time < 2; time += 1) {
      await page.goto(`${app.url}/`);
      await page.getByRole("button", { name: "Try it with a sample" }).click();
      await page.waitForURL(/\/send\?template=tpl_/);
    }
    const samples = await templates("Sample: consulting agreement");
    expect(samples).toHaveLength(1);
    expect(samples[0]).toMatchObject({ latestVersion: 1, roles: ["Client", "Consultant"] });
    expect(new URL(page.url()).searchParams.get("template")).toBe(samples[0]?.id);
    expect(await page.evaluate(() => sessionStorage.getItem("signet.testMode"))).toBe("1");
    const preview = await app.call(`/v1/templates/${samples[0]?.id}/versions/1/render`, { method: "POST" });
    expect(preview.status).toBe(200);
    // A published version's document holds the fixed texts: the editor does not write them a second time.
    const label = page.locator('.placed[data-item="project"] .placed-label');
    const opacity = () => label.evaluate((node) => getComputedStyle(node).opacity);
    await page.goto(`${app.url}/templates/${samples[0]?.id}`);
    await drawn(page);
    await expect.poll(opacity, soon).toBe("0");
    await page.getByRole("button", { name: "Edit" }).click();
    await page.waitForURL(/version=draft/);
    await drawn(page);
    await expect.poll(opacity, soon).toBe("1");
    expect(troubles).toEqual([]);
    await context.close();
  });
});

describe("an API key", () => {
  test("is made with what was chosen, shown once, works, and stops when it is revoked", async () => {
    const { page, context, troubles } = await enter();
    await page.goto(`${app.url}/settings/keys`);
    await page.getByRole("button", { name: "Create a key" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Billing system");
    await dialog.getByText("Test", { exact: true }).click();
    await dialog.getByLabel("Valid for").selectOption("30");
    await dialog.getByLabel("Publish templates").uncheck();
    await dialog.getByRole("button", { name: "Create the key" }).click();
    const secret = page.getByLabel("API key", { exact: true });
    await secret.waitFor();
    const key = await secret.inputValue();
    expect(key).toMatch(/^svc_test_/);
    expect(await page.getByLabel("Try it").inputValue()).toContain(`Bearer ${key}`);
    expect(await seriousFindings(page)).toEqual([]);

    const bearer = { key: { bearer: key } };
    expect((await app.json("/v1/templates", bearer)).status).toBe(200);
    const refused = await app.json("/v1/templates/tpl_000000000000/publish", { ...bearer, method: "POST" });
    expect(refused.body).toMatchObject({ code: "forbidden", permission: "template:publish" });

    await page.getByRole("button", { name: "I have kept the key" }).click();
    await page.getByRole("button", { name: "Show it again" }).click();
    await secret.waitFor();
    await page.getByRole("button", { name: "I have kept the key" }).click();
    await page.getByRole("button", { name: "Yes, close" }).click();
    await secret.waitFor({ state: "hidden" });
    const row = page.getByRole("row").filter({ hasText: "Billing system" });
    await row.waitFor();
    expect(await page.content()).not.toContain(key);

    await page.getByRole("button", { name: "Revoke the key Billing system" }).click();
    await page.getByText("Revoke the key “Billing system”?").waitFor();
    await page.getByRole("button", { name: "Revoke the key", exact: true }).click();
    await row.waitFor({ state: "detached" });
    expect((await app.json("/v1/templates", bearer)).status).toBe(401);
    expect(troubles).toEqual([]);
    await context.close();
  });
});

test("axe finds nothing serious, in light, in the dark and on a phone, where nothing is wider than the screen", async () => {
  const id = await publishAgreement(app);
  const Id = z.object({ id: z.string() });
  const draft = Id.parse((await app.json("/v1/templates", { json: { name: "Without a document" } })).body).id;
  const looks = [desktop, { ...desktop, colorScheme: "dark" as const }, phone];
  const places = [
    ...["/", "/templates", `/templates/${id}`, `/templates/${draft}`, "/settings/keys", "/settings/branding"],
    ...["roles", "variables", "settings", "versions"].map((tab) => `/templates/${id}?tab=${tab}`),
  ];
  for (const look of looks) {
    const { page, context, troubles } = await enter(look);
    for (const path of shareOf(look, looks, places)) {
      await page.goto(app.url + path);
      await page.getByRole("heading", { level: 1 }).first().waitFor();
      await expect.poll(() => page.locator(".loading:visible").count(), soon).toBe(0);
      expect({ path, found: await seriousFindings(page) }).toEqual({ path, found: [] });
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      expect({ path, width: width <= look.viewport.width }).toEqual({ path, width: true });
    }
    expect(troubles).toEqual([]);
    await context.close();
  }
}, 600_000);

// The last: once something was sent, the new workspace is none any more.
test("that a document lost a signature is said in the editor, of the version, in bulk and on the envelope", async () => {
  const { page, context, troubles } = await enter();
  // Signed by somebody else and cut off; on its second page something lies in front of the field.
  const cover = "<</Type/Annot/Subtype/Square/Rect[40 525 300 578]/IC[1 1 1]>>";
  const broken = contract({
    1: "<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[8 0 R]/SigFlags 3>>>>",
    4: `<</Type/Page/Parent 2 0 R/Contents 6 0 R/Annots[${cover}]>>`,
    8: "<</FT/Sig/T(Theirs)/V 9 0 R>>",
    9: "<</Type/Sig/Filter/Adobe.PPKLite/SubFilter/ETSI.CAdES.detached/ByteRange[0 1 2 3]/Contents<00>>>",
  }).subarray(0, -20);
  const Id = z.object({ id: z.string() });
  const { id } = Id.parse((await app.json("/v1/templates", { json: { name: "Signed before" } })).body);
  const headers = { "content-type": "application/pdf" };
  const upload = await app.json(`/v1/templates/${id}/files`, { body: new Uint8Array(broken), headers });
  const sign = { id: "sign", type: "signature", role: "Signer", page: 2, x: 60, y: 220, width: 200, height: 40 };
  const content = { mode: "overlay", file: Id.parse(upload.body).id, items: [sign] };
  const json = { content, roles: [{ name: "Signer", verification: "none" }], variables: [] };
  expect((await app.json(`/v1/templates/${id}/draft`, { method: "PUT", json })).status).toBe(200);
  const removed = page.getByText("its signatures could not be kept and were removed");
  const covered = page.getByText("Page 2: A comment, stamp or form field of the PDF lies in front of a field");

  // Whoever opens it next was not there at the upload.
  await page.goto(`${app.url}/templates/${id}`);
  await removed.waitFor();
  expect(await covered.count()).toBe(0);
  expect(await seriousFindings(page)).toEqual([]);
  await page.getByRole("button", { name: "Publish" }).click();
  await page.getByRole("button", { name: "Edit as a draft" }).waitFor();
  await removed.waitFor();
  await covered.waitFor();

  await page.goto(`${app.url}/bulk?template=${id}`);
  const buffer = Buffer.from("Signer: name;Signer: email\nAda Muster;ada@example.com\n");
  await page.locator('input[type="file"]').setInputFiles({ name: "people.csv", mimeType: "text/csv", buffer });
  await page.getByRole("button", { name: "Test row 2 without sending" }).click();
  await removed.waitFor();
  // Publishing found it, and the dry run finds it again.
  expect(await covered.count()).toBe(1);
  expect(await seriousFindings(page)).toEqual([]);

  const recipients = [{ role: "Signer", name: "Ada Muster", email: "ada@example.com" }];
  const sent = await app.json("/v1/envelopes", { json: { template: id, recipients } });
  await page.goto(`${app.url}/envelopes/${Id.parse(sent.body).id}`);
  await removed.waitFor();
  expect(await covered.count()).toBe(0);
  expect(await seriousFindings(page)).toEqual([]);
  expect(troubles).toEqual([]);
  await context.close();
});
