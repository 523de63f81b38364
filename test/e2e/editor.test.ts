import { PDFDocument, rgb, StandardFonts } from "pdf-lib";
import type { Browser, Locator, Page } from "playwright";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { buildApps } from "../../scripts/build-apps.ts";
import { TemplateVersion } from "../../server/features/templates/contract.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { addSession, desktop, launch, phone, seriousFindings, type VisitOptions, visit } from "../harness/page.ts";

/** The pages of the editor under a person's hands, on a document as large as may be: 500 pages with 500 fields. */

const soon = { timeout: 60_000 };
let app: TestAppliance;
let browser: Browser;
/** Of five pages, and of 500 with as many fields. */
let small: string;
let large: string;

beforeAll(async () => {
  await buildApps();
  [app, browser] = await Promise.all([startAppliance(), launch()]);
  small = await makeTemplate(5);
  large = await makeTemplate(500);
});

afterAll(async () => {
  await browser?.close();
  await app?.stop();
});

async function makeTemplate(pages: number): Promise<string> {
  const pdf = await PDFDocument.create();
  const font = await pdf.embedFont(StandardFonts.Helvetica);
  for (let number = 1; number <= pages; number += 1) {
    const page = pdf.addPage(number === 3 ? [842, 595] : [595, 842]);
    for (let line = 0; line < 20; line += 1)
      page.drawText(`Page ${number}: a line of a contract, number ${line}`, {
        x: 70,
        y: 500 - line * 18,
        size: 11,
        font,
      });
    page.drawLine({ start: { x: 70, y: 542 }, end: { x: 260, y: 542 }, thickness: 0.6, color: rgb(0, 0, 0) });
  }
  const Id = z.object({ id: z.string() });
  const { id } = Id.parse((await app.json("/v1/templates", { json: { name: "Master agreement" } })).body);
  const headers = { "content-type": "application/pdf" };
  const upload = await app.json(`/v1/templates/${id}/files`, { body: new Uint8Array(await pdf.save()), headers });
  const items = Array.from({ length: pages - 2 }, (_, index) => ({
    id: `initials-${index + 1}`,
    type: "initials",
    role: "Buyer",
    ...{ page: index + 3, x: 400, y: 500, width: 60, height: 30 },
  }));
  const text = { type: "text_input", role: "Seller", width: 150, height: 20 };
  items.push({ id: "a", ...text, page: 1, x: 100, y: 60 }, { id: "b", ...text, page: 1, x: 140, y: 160, width: 90 });
  const content = { mode: "overlay", file: Id.parse(upload.body).id, items };
  const json = { content, roles: [{ name: "Buyer" }, { name: "Seller", order: 2 }], variables: [] };
  expect((await app.json(`/v1/templates/${id}/draft`, { method: "PUT", json })).status).toBe(200);
  return id;
}

async function open(template: string, options: VisitOptions = desktop) {
  const visited = await visit(browser, options);
  visited.page.setDefaultTimeout(soon.timeout);
  await addSession(visited.context, app, await app.signIn());
  await visited.page.goto(`${app.url}/templates/${template}`);
  await visited.page.locator("[data-drawn]").first().waitFor();
  return visited;
}

async function items(template = small) {
  const { content } = TemplateVersion.parse((await app.json(`/v1/templates/${template}/versions/draft`)).body);
  if (content.mode !== "overlay") throw new Error("not an overlay");
  return content.items;
}
const item = async (id: string) => (await items()).find((one) => one.id === id);
const saved = (page: Page) => page.locator('.save-state[data-status="saved"]').waitFor();
const box = (page: Page, id: string) => page.locator(`[data-item="${id}"]`);
const said = (page: Page) => page.locator("[data-said]");

async function boundsOf(locator: Locator) {
  const bounds = await locator.boundingBox();
  if (!bounds) throw new Error("it is not shown");
  return bounds;
}

/** CSS pixels a point. */
const scaleOn = async (page: Page) => (await boundsOf(page.locator('[data-page="1"]'))).width / 595;

async function drag(page: Page, locator: Locator, x: number, y: number): Promise<void> {
  const { x: left, y: top, width, height } = await boundsOf(locator);
  const from = { x: left + width / 2, y: top + height / 2 };
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  for (const part of [0.3, 0.7, 1]) await page.mouse.move(from.x + x * part, from.y + y * part);
  await page.mouse.up();
}

test("fields are placed by drawing and dropping, chosen together, lined up, copied to pages, and undone to the beginning", async () => {
  const { page, context, troubles } = await open(small);
  const before = await items();
  const sheet = await boundsOf(page.locator('[data-page="1"]'));
  const scale = await scaleOn(page);
  const at = (x: number, y: number) => ({ x: sheet.x + x * scale, y: sheet.y + y * scale });

  // Drawn: the box is as large as was drawn, in the colour of the chosen role.
  await page.locator(".canvas-view").focus();
  await page.keyboard.press("2");
  await page.getByRole("button", { name: "Signature", exact: true }).click();
  await page.mouse.move(at(300, 80).x, at(300, 80).y);
  await page.mouse.down();
  await page.mouse.move(at(400, 110).x, at(400, 110).y);
  await page.mouse.move(at(460, 130).x, at(460, 130).y);
  await page.mouse.up();
  await said(page).getByText("Signature for Seller placed on page 1.").waitFor();
  await saved(page);
  const drawn = await item("signature-1");
  expect(drawn).toMatchObject({ role: "Seller", page: 1 });
  expect([drawn?.x, drawn?.y, drawn?.width, drawn?.height].map((side) => Math.round((side ?? 0) / 10))).toEqual([
    30, 8, 16, 5,
  ]);

  // Dropped from the palette.
  const target = page.locator('[data-page="1"]');
  await page
    .getByRole("button", { name: "Checkbox", exact: true })
    .dragTo(target, { targetPosition: { x: 500 * scale, y: 200 * scale } });
  await box(page, "checkbox-1").waitFor();
  await page.keyboard.press("Delete");
  await box(page, "checkbox-1").waitFor({ state: "detached" });

  // Chosen by a box drawn around them, lined up by keys, moved and given away together.
  await page.mouse.move(at(60, 40).x, at(60, 40).y);
  await page.mouse.down();
  await page.mouse.move(at(200, 100).x, at(200, 100).y);
  await page.mouse.move(at(290, 200).x, at(290, 200).y);
  await page.mouse.up();
  expect(await page.locator(".placed[aria-pressed=true]").count()).toBe(2);
  await page.keyboard.press("Alt+a");
  await said(page).getByText("2 fields aligned left.").waitFor();
  await page.getByRole("button", { name: "Arrange" }).click();
  await page.getByRole("menuitem", { name: "Same width" }).click();
  await page.getByRole("button", { name: "Selection" }).click();
  await page.getByRole("menuitem", { name: "Buyer" }).click();
  await saved(page);
  expect(await Promise.all([item("a"), item("b")])).toMatchObject([
    { x: 100, width: 150, role: "Buyer" },
    { x: 100, width: 150, role: "Buyer" },
  ]);

  // Dragged near a rule it falls into line with it, which is shown and said; with Ctrl it does not.
  await page.keyboard.press("Escape");
  await drag(page, box(page, "b"), 30 * scale, 60 * scale);
  await page.keyboard.press("Escape");
  const rule = 842 - 542;
  const now = await boundsOf(box(page, "b"));
  await drag(page, box(page, "b"), 0, at(0, rule).y + 3 - (now.y + now.height));
  await said(page).getByText("Snapped to a line.").waitFor();
  await saved(page);
  const snapped = await item("b");
  expect((snapped?.y ?? 0) + (snapped?.height ?? 0)).toBeCloseTo(rule, 0);
  await page.keyboard.down("Control");
  await drag(page, box(page, "b"), 0, 3);
  await page.keyboard.up("Control");
  await saved(page);
  expect((await item("b"))?.y).toBeGreaterThan((snapped?.y ?? 0) + 1);

  // Copied to a range of pages, and by the clipboard to another page.
  await page.getByRole("button", { name: "Selection" }).click();
  await page.getByRole("menuitem", { name: "Copy to pages" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("These pages").check();
  await dialog.getByLabel("Page numbers").fill("2, 4-6000");
  await dialog.getByRole("button", { name: "Copy fields" }).click();
  await dialog.getByText("Use page numbers from 1 to 5").waitFor();
  await dialog.getByLabel("Page numbers").fill("2, 3");
  await dialog.getByRole("button", { name: "Copy fields" }).click();
  await dialog.waitFor({ state: "detached" });
  await said(page).getByText("2 copies added on 2 pages.").waitFor();
  await box(page, "b").click();
  await page.keyboard.press("Control+x");
  await page.getByLabel("type a number to go to a page").fill("2");
  await page.keyboard.press("Enter");
  await page.locator('[data-page="2"][data-drawn]').waitFor();
  await page.locator(".canvas-view").focus();
  await page.keyboard.press("Control+v");
  await said(page).getByText("Text for Buyer pasted on page 2.").waitFor();
  await saved(page);
  expect((await items()).filter((one) => one.page === 2)).toHaveLength(2);

  // By the keyboard alone: the next field in reading order, wherever it is, a step and a size.
  await box(page, "text_input-2").focus();
  await page.keyboard.press("Tab");
  await expect.poll(() => box(page, "initials-1").evaluate((node) => node === document.activeElement), soon).toBe(true);
  await page.keyboard.press("Shift+ArrowLeft");
  await said(page).getByText("Initials for Buyer, page 3, moved to 390, 500.").waitFor();
  await page.keyboard.press("Alt+ArrowDown");
  await said(page).getByText("Initials for Buyer: 60 by 31 points.").waitFor();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).getByText("Distribute vertically").waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  // The help is closed, the field is still chosen.
  expect(await page.locator(".placed[aria-pressed=true]").count()).toBe(1);

  await page.locator(".canvas-view").focus();
  for (let step = 0; step < 30; step += 1) await page.keyboard.press("Control+z");
  expect(await page.getByRole("button", { name: "Undo" }).isDisabled()).toBe(true);
  await saved(page);
  expect(await items()).toEqual(before);
  expect(troubles).toEqual([]);
  await context.close();
}, 120_000);

const Watched = z.object({ longest: z.number(), frames: z.array(z.number()) });
/** In the page: tasks of more than 50 ms as the browser reports them, and the time from frame to frame. */
const watching = `{
  globalThis.watched = { longest: 0, frames: [] };
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) watched.longest = Math.max(watched.longest, duration);
  }).observe({ type: "longtask" });
  let last = performance.now();
  const look = () => {
    const now = performance.now();
    watched.frames.push(now - last);
    last = now;
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}`;

test("500 pages with 500 fields: few exist at a time, zooming keeps the place, and dragging never holds the page up", async () => {
  const { page, context, troubles } = await open(large);
  const scale = await scaleOn(page);
  expect(await page.locator("[data-page]").count()).toBeLessThan(6);

  // To the middle of the document, by thumbnail and keys; the page is drawn, and its thumbnail marked.
  await page.getByLabel("type a number to go to a page").fill("249");
  await page.keyboard.press("Enter");
  await page.locator('[data-thumbnail="249"][aria-current]').focus();
  await page.keyboard.press("ArrowDown");
  await page.locator('[data-thumbnail="250"]:focus').waitFor();
  expect(await page.locator('[data-thumbnail="250"]').innerText()).toContain("Page 250, one field");
  await page.locator('[data-page="250"][data-drawn]').waitFor();
  expect(await page.locator("[data-page]").count()).toBeLessThan(6);
  const field = box(page, "initials-248");
  await field.click();

  const { x, y, width, height } = await boundsOf(field);
  const from = { x: x + width / 2, y: y + height / 2 };
  await page.evaluate(watching);
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  // The machine, busy with something else, may hold up one round; the page would hold up each.
  const rounds: number[] = [];
  while (rounds.length < 4 && !rounds.some((longest) => longest < 50)) {
    await page.evaluate("watched = { longest: 0, frames: [] }");
    for (let step = 0; step < 60; step += 1)
      await page.mouse.move(from.x - 60 + 60 * Math.cos(step / 10), from.y + 40 * Math.sin(step / 10));
    const { longest, frames } = Watched.parse(await page.evaluate("watched"));
    const sorted = frames.toSorted((one, other) => one - other);
    const share = (part: number) => `${(sorted[Math.floor(sorted.length * part)] ?? 0).toFixed(1)} ms`;
    console.log(
      `dragging, ${frames.length} frames: median ${share(0.5)}, 95 % ${share(0.95)}, longest task ${longest.toFixed(0)} ms`,
    );
    rounds.push(longest);
  }
  expect(Math.min(...rounds)).toBeLessThan(50);

  // Held at the lower edge the pages scroll by, and the field goes to the next page.
  const view = await boundsOf(page.locator(".canvas-view"));
  await page.mouse.move(from.x, view.y + view.height - 5);
  await page.locator('[data-thumbnail="251"][aria-current]').waitFor();
  await page.mouse.move(from.x, view.y + view.height / 2);
  await page.mouse.up();
  await saved(page);
  const moved = (await items(large)).find(({ id }) => id === "initials-248");
  expect(moved?.page).toBeGreaterThan(250);

  // What is looked at stays where it is, by keys as by the wheel.
  const shown = page.locator(`[data-page="${moved?.page}"]`);
  const middle = view.y + view.height / 2;
  const place = async () => (middle - (await boundsOf(shown)).y) / (await boundsOf(shown)).height;
  const kept = await place();
  await field.focus();
  for (const key of ["Control+=", "Control+=", "Control+-"]) await page.keyboard.press(key);
  expect((await boundsOf(shown)).width).toBeGreaterThan(595 * scale * 1.1);
  expect(await place()).toBeCloseTo(kept, 1);
  await page.keyboard.press("Control+0");
  await expect.poll(async () => Math.round((await boundsOf(shown)).width), soon).toBe(Math.round(595 * scale));
  expect(await place()).toBeCloseTo(kept, 1);
  expect(troubles).toEqual([]);
  await context.close();
}, 120_000);

test("a phone shows the pages, its thumbnails behind a button, and places by a tap", async () => {
  const { page, context, troubles } = await open(small, phone);
  expect(await page.locator("[data-thumbnail]").count()).toBe(0);
  await page.getByRole("button", { name: "Page thumbnails" }).click();
  await page.locator('[data-thumbnail="2"]').click();
  await page.locator("[data-thumbnail]").first().waitFor({ state: "detached" });
  await page.locator('[data-page="2"][data-drawn]').waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await page.getByRole("button", { name: "Initials", exact: true }).tap();
  const sheet = page.locator('[data-page="2"]');
  await sheet.tap({ position: { x: 120, y: 90 } });
  await said(page).getByText("Initials for Buyer placed on page 2.").waitFor();
  expect(troubles).toEqual([]);
  await context.close();
}, 120_000);
