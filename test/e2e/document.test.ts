import { PDFDocument, StandardFonts } from "pdf-lib";
import type { Browser, Page } from "playwright";
import { afterAll, beforeAll, expect, onTestFailed, test } from "vitest";
import { buildApps } from "../../scripts/build-apps.ts";
import { Envelope, EnvelopeList } from "../../server/features/envelopes/contract.ts";
import { Template, TemplateList } from "../../server/features/templates/contract.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import {
  addSession,
  desktop,
  launch,
  overflow,
  phone,
  seriousFindings,
  type Visit,
  type VisitOptions,
  visit,
} from "../harness/page.ts";
import { linkTokenOf, publishTemplate, send } from "../harness/scenario.ts";

/** A document that is sent once, without becoming a template: dropped, people named, fields placed, sent, signed. */

const soon = { timeout: 120_000 };
let app: TestAppliance;
let browser: Browser;
let cookie: string;
beforeAll(async () => {
  await buildApps();
  app = await startAppliance();
  browser = await launch();
  cookie = await app.signIn();
});
afterAll(async () => {
  await browser?.close();
  await app?.stop();
});

async function enter(options: VisitOptions = desktop): Promise<Visit> {
  const seen = await visit(browser, options);
  onTestFailed(async () => console.error(await seen.story()));
  await addSession(seen.context, app, cookie);
  seen.page.on("dialog", (dialog) => void dialog.accept());
  return seen;
}

async function blankPdf(): Promise<Buffer> {
  const pdf = await PDFDocument.create();
  pdf.addPage([595, 842]);
  return Buffer.from(await pdf.save());
}

/** A contract with a place for two parties to sign at its end. */
async function contract(): Promise<Buffer> {
  const pdf = await PDFDocument.create();
  const font = await pdf.embedFont(StandardFonts.Helvetica);
  const page = pdf.addPage([595, 842]);
  page.drawText("Consulting agreement", { x: 60, y: 770, size: 18, font });
  page.drawText("The consultant advises the client on the matters named in the annex.", {
    x: 60,
    y: 730,
    size: 11,
    font,
  });
  for (const [party, x] of [
    ["Client", 60],
    ["Consultant", 330],
  ] as const) {
    page.drawLine({ start: { x, y: 200 }, end: { x: x + 200, y: 200 }, thickness: 0.8 });
    page.drawText(`Signature of the ${party}`, { x, y: 187, size: 9, font });
    page.drawLine({ start: { x, y: 150 }, end: { x: x + 200, y: 150 }, thickness: 0.8 });
    page.drawText("Date", { x, y: 137, size: 9, font });
  }
  return Buffer.from(await pdf.save());
}

/** Drags a file over the page and drops it, as from a folder of the machine. */
async function dropFile(page: Page, name: string, type: string, bytes: Buffer): Promise<void> {
  const transfer = await page.evaluateHandle(
    ({ name, type, base64 }) => {
      const data = new DataTransfer();
      const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
      data.items.add(new File([bytes], name, { type }));
      return data;
    },
    { name, type, base64: bytes.toString("base64") },
  );
  await page.dispatchEvent("main", "dragenter", { dataTransfer: transfer });
  await page.locator(".drop-anywhere").waitFor();
  await page.dispatchEvent("main", "dragover", { dataTransfer: transfer });
  await page.dispatchEvent("main", "drop", { dataTransfer: transfer });
  await page.locator(".drop-anywhere").waitFor({ state: "detached" });
}

async function clean(page: Page): Promise<void> {
  expect(await seriousFindings(page)).toEqual([]);
  expect(await overflow(page)).toBe(0);
}

const at = (page: Page, pointer: string) => page.locator(`[data-pointer="${pointer}"]`);
const heading = (page: Page, name: string) => page.getByRole("heading", { name, exact: true, level: 2 });
const templates = async () => TemplateList.parse((await app.json("/v1/templates")).body).data;

test("a PDF that is dropped on any page is sent with 4 clicks and 4 typed texts, and kept as a template at the end", async () => {
  const { page, context, troubles } = await enter();
  await page.goto(`${app.url}/envelopes`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await dropFile(page, "notes.txt", "text/plain", Buffer.from("no PDF"));
  await page.getByText("notes.txt is not a PDF").waitFor();
  await page.locator(".toast").getByRole("button").click();
  let clicks = 0;
  let typed = 0;
  const click = async (name: string) => {
    clicks += 1;
    await page.getByRole("button", { name, exact: true }).click();
  };
  const type = async (pointer: string, text: string) => {
    typed += 1;
    await at(page, pointer).fill(text);
  };
  const begun = performance.now();
  await dropFile(page, "Consulting agreement.pdf", "application/pdf", await contract());
  clicks += 1;
  await heading(page, "People").waitFor();
  // Both parties are named in the document.
  await expect.poll(() => page.locator(".send-person").count(), soon).toBe(2);
  await type("#/recipients/0/name", "Ada Client");
  await type("#/recipients/0/email", "ada@example.com");
  await type("#/recipients/1/name", "Ben Consultant");
  await type("#/recipients/1/email", "ben@example.com");
  await click("Next: Fields");
  await heading(page, "Fields").waitFor();
  await expect.poll(() => page.locator(".placed").count(), soon).toBe(4);
  await click("Next: Review");
  await page.locator("[data-checked]").waitFor();
  await page.locator(".send-preview .pdf-page[data-drawn]").first().waitFor();
  await clean(page);
  await click("Send now");
  await page.getByRole("heading", { name: "Sent", exact: true }).waitFor();
  expect({ clicks, typed }).toEqual({ clicks: 4, typed: 4 });
  expect(performance.now() - begun).toBeLessThan(60_000);
  const [sent] = EnvelopeList.parse((await app.json("/v1/envelopes")).body).data;
  expect(sent).toMatchObject({
    title: "Consulting agreement",
    recipients: [
      { role: "Client", name: "Ada Client" },
      { role: "Consultant", name: "Ben Consultant" },
    ],
  });
  expect(await templates()).toEqual([]);
  await page.getByRole("textbox", { name: "Save as template" }).fill("Consulting");
  await page.getByRole("button", { name: "Save as template" }).click();
  await page.getByText("Consulting is saved as a template").waitFor();
  const [kept] = await templates();
  expect(kept).toMatchObject({ name: "Consulting", latestVersion: 2, hasDraft: false, listed: true });
  expect(JSON.stringify((await app.json(`/v1/templates/${kept?.id}/versions/latest`)).body)).not.toContain("Ada");
  expect(troubles).toEqual([]);
  await context.close();
});

test("people are completed from earlier envelopes, fields are placed by keyboard, Back undoes one part, and a reload loses nothing", async () => {
  const { page, context, troubles } = await enter();
  await page.goto(`${app.url}/send`);
  await page.locator('input[type="file"]').setInputFiles({
    name: "blank.pdf",
    mimeType: "application/pdf",
    buffer: await blankPdf(),
  });
  await heading(page, "People").waitFor();
  await expect.poll(() => page.locator(".send-person").count(), soon).toBe(1);
  await at(page, "#/recipients/0/email").fill("ben@");
  await page.getByRole("option", { name: /Ben Consultant/ }).click();
  await expect.poll(() => at(page, "#/recipients/0/name").inputValue(), soon).toBe("Ben Consultant");
  await page.getByRole("button", { name: "I sign too" }).click();
  await expect.poll(() => at(page, "#/recipients/1/email").inputValue(), soon).toBe("owner@example.com");
  await page.getByRole("button", { name: "Add signer" }).click();
  await page.getByRole("button", { name: /Remove Signer 3/ }).click();
  await expect.poll(() => page.locator(".send-person").count(), soon).toBe(2);
  await page.locator(".send-person summary").first().click();
  await at(page, "#/recipients/0/verification").selectOption("none");
  await clean(page);
  await page.getByRole("button", { name: "Next: Fields" }).click();
  await heading(page, "Fields").waitFor();
  await page.locator(".pdf-page[data-drawn]").first().waitFor();
  // Called by their names, although their roles only count.
  await page.getByRole("radio", { name: /Ben Consultant/ }).waitFor();
  await page.getByRole("button", { name: "Signature", exact: true }).press("Enter");
  await expect.poll(() => page.locator(".placed").count(), soon).toBe(1);
  await page.getByRole("radio", { name: /Olive/ }).check();
  await page.getByRole("button", { name: "Signature", exact: true }).press("Enter");
  await expect.poll(() => page.locator(".placed").count(), soon).toBe(2);
  await clean(page);
  // Who goes elsewhere and comes back finds what was done, and can go on.
  await page.getByText("All changes saved").waitFor();
  await page.getByRole("link", { name: "Templates", exact: true }).click();
  await page.getByRole("heading", { name: "Templates", level: 1 }).waitFor();
  await page.goBack();
  await heading(page, "Fields").waitFor();
  await expect.poll(() => page.locator(".placed").count(), soon).toBe(2);
  await page.goBack();
  await heading(page, "People").waitFor();
  await page.goForward();
  await heading(page, "Fields").waitFor();
  await expect.poll(() => page.locator(".placed").count(), soon).toBe(2);
  await page.reload();
  await heading(page, "Fields").waitFor();
  await expect.poll(() => page.locator(".placed").count(), soon).toBe(2);
  await page.getByRole("button", { name: "Next: Review" }).click();
  await page.locator("[data-checked]").waitFor();
  // A change after the review is in what is sent.
  await page.goBack();
  await heading(page, "Fields").waitFor();
  await expect.poll(() => page.locator(".placed").count(), soon).toBe(2);
  await page.getByRole("button", { name: "Initials", exact: true }).press("Enter");
  await expect.poll(() => page.locator(".placed").count(), soon).toBe(3);
  await page.getByRole("button", { name: "Next: Review" }).click();
  await page.locator("[data-checked]").waitFor();
  await page.getByText("2 fields").waitFor();
  await page.getByRole("button", { name: "Send now" }).click();
  await page.getByRole("heading", { name: "Sent", exact: true }).waitFor();
  const [sent] = EnvelopeList.parse((await app.json("/v1/envelopes")).body).data;
  const whole = Envelope.parse((await app.json(`/v1/envelopes/${sent?.id}`)).body);
  expect(whole.recipients.map(({ name, order }) => `${order} ${name}`)).toEqual(["1 Ben Consultant", "2 Olive Owner"]);
  expect(whole.recipients.map(({ verification }) => verification)).toEqual(["none", "email_otp"]);
  const used = Template.parse((await app.json(`/v1/templates/${whole.template}`)).body);
  expect(used).toMatchObject({ listed: false, inUse: true, latestVersion: 2 });
  expect(troubles).toEqual([]);
  await context.close();
});

test("a member signs with the signature that they saved", async () => {
  const { page, context, troubles } = await enter({ ...phone, locale: "de-CH" });
  await page.goto(`${app.url}/settings/account`);
  await page.getByRole("button", { name: "Unterschrift speichern" }).click();
  await page.getByRole("dialog").getByText("Tippen", { exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Diese Unterschrift verwenden" }).click();
  await page.getByRole("img", { name: "Ihre gespeicherte Unterschrift" }).waitFor();
  await clean(page);
  const template = await publishTemplate(app);
  await send(app, template, { tenant: { email: "owner@example.com", name: "Olive Owner", verification: "none" } });
  await page.goto(`${app.url}/sign#${await linkTokenOf(app, "owner@example.com")}`);
  await page.locator("[data-drawn]").first().waitFor();
  await page.locator('.field[data-type="signature"] .field-button').first().click();
  await page.getByRole("button", { name: "Use your saved signature" }).click();
  await page.locator(".field .signature-typed").first().waitFor();
  // Shown in the face that the document is drawn with.
  expect(
    await page.evaluate(
      "[...document.fonts].some(({ family, status }) => family.includes('Caveat') && status === 'loaded')",
    ),
  ).toBe(true);
  expect(troubles).toEqual([]);
  await context.close();
});
