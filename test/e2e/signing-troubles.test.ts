import type { Browser, Page } from "playwright";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { buildApps } from "../../scripts/build-apps.ts";
import type { Envelope } from "../../server/features/envelopes/contract.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import {
  desktop,
  intercepted,
  launch,
  seriousFindings,
  type Visit,
  type VisitOptions,
  visit,
} from "../harness/page.ts";
import { png } from "../harness/pictures.ts";
import { codeOf, envelopeOf, linkTokenOf, ok, publishTemplate, send } from "../harness/scenario.ts";
import { drawn, drawSignature, finish } from "./steps.ts";

/** The signing page when the network, other people or the signer's own detours come between. */

let app: TestAppliance;
let browser: Browser;
let template: string;
let visits: Visit[] = [];
let signers = 0;

beforeAll(async () => {
  await buildApps();
  app = await startAppliance();
  browser = await launch();
  template = await publishTemplate(app);
});

afterEach(async () => {
  const troubles = visits.flatMap((one) => one.troubles);
  await Promise.all(visits.map(({ context }) => context.close()));
  visits = [];
  expect(troubles).toEqual([]);
});

afterAll(async () => {
  await browser?.close();
  await app?.stop();
});

/** A tenant of their own opens the mailed link. */
async function open(
  tenant: Record<string, unknown> = {},
  options: VisitOptions = desktop,
): Promise<{ page: Page; envelope: Envelope; email: string }> {
  signers += 1;
  const email = `signer${signers}@example.com`;
  const envelope = await send(app, template, { tenant: { email, ...tenant } });
  const seen = await visit(browser, options);
  visits.push(seen);
  await seen.page.goto(`${app.url}/sign#${await linkTokenOf(app, email)}`);
  return { page: seen.page, envelope, email };
}

const unasked = { verification: "none" };
const field = (page: Page, id: string) => page.locator(`.field [data-field="${id}"]`);
const focused = (page: Page, selector: string) =>
  page.locator(selector).evaluate((one) => one === document.activeElement);

/** Fills in what must be, up to the signature, which is typed. */
async function fill(page: Page): Promise<void> {
  await drawn(page);
  await field(page, "city").fill("Bern");
  await field(page, "tenant-sign").click();
  await page.getByText("Type", { exact: true }).click();
  await page.getByRole("button", { name: "Use this signature" }).click();
}

test("a wrong code leaves the focus where the next one is typed", async () => {
  const { page, email } = await open();
  await page.getByRole("button", { name: "Send the code" }).click();
  const input = page.getByLabel("Your code");
  await input.waitFor();
  const code = await codeOf(app, email);
  await page.keyboard.type(code === "111111" ? "222222" : "111111");
  await page.getByText(/attempts are left/).waitFor();
  await expect.poll(() => input.inputValue()).toBe("");
  await page.keyboard.type(code);
  await drawn(page);
});

test("a right code opens the document, also when the answer after it is lost", async () => {
  const { page, email } = await open({}, intercepted);
  await page.getByRole("button", { name: "Send the code" }).click();
  await page.getByLabel("Your code").waitFor();
  let lost = 0;
  await page.route("**/v1/signing/session", async (route) => {
    lost += 1;
    if (lost === 1) await route.abort();
    else await route.continue();
  });
  await page.getByLabel("Your code").fill(await codeOf(app, email));
  await drawn(page);
  expect(lost).toBeGreaterThan(1);
});

test("a drawing survives a look at the other ways to sign", async () => {
  const { page } = await open(unasked);
  await drawn(page);
  await field(page, "tenant-sign").click();
  await drawSignature(page);
  await page.getByText("Type", { exact: true }).click();
  await page.getByLabel("Your name").waitFor();
  await page.getByText("Draw", { exact: true }).click();
  await page.getByRole("img", { name: "Area to draw your signature in" }).waitFor();
  await page.getByRole("button", { name: "Use this signature" }).click();
  await page.locator(".field .signature-picture").waitFor();
});

test("a file that is on its way is waited for, and one that did not arrive is told of before the end", async () => {
  const { page } = await open(unasked, intercepted);
  await fill(page);
  let answer: (fail: boolean) => void = () => {};
  await page.route("**/v1/signing/attachments", async (route) => {
    const fails = await new Promise<boolean>((resolve) => {
      answer = resolve;
    });
    if (fails) await route.abort();
    else await route.continue();
  });
  const choose = async () => {
    await field(page, "stamp").click();
    const asked = page.waitForRequest("**/v1/signing/attachments");
    const input = page.locator(".uploads input[type=file]");
    await input.setInputFiles({ name: "stamp.png", mimeType: "image/png", buffer: Buffer.from(png(20, 20)) });
    await asked;
    expect(await input.inputValue()).toBe("");
  };
  await choose();
  // The signer goes on while it is sent.
  await page.getByRole("button", { name: "Done", exact: true }).click();
  await page.getByText("A file is still on its way").waitFor();
  expect(await page.getByRole("button", { name: "Finish" }).isDisabled()).toBe(true);
  answer(true);
  await page.getByText("Everything is filled in").waitFor();
  await page.getByRole("button", { name: "Finish" }).click();
  await page.locator(".uploads").getByRole("alert").waitFor();
  expect(await page.getByRole("dialog").count()).toBe(0);
  expect(await seriousFindings(page)).toEqual([]);
  await choose();
  answer(false);
  await page.getByRole("button", { name: "Remove stamp.png" }).waitFor();
  const submitted = page.waitForRequest("**/v1/signing/submit");
  await finish(page);
  expect((await submitted).postDataJSON().fields.stamp).toHaveLength(1);
  await page.getByRole("heading", { name: "Thank you, you have signed" }).waitFor();
});

test("who reads the document at the end is not led away from it", async () => {
  const { page } = await open({ ...unasked, redirectUrl: "https://shop.example/back" }, intercepted);
  await page.route("https://shop.example/**", (route) => route.fulfill({ body: "the shop" }));
  await fill(page);
  await page.clock.install();
  await finish(page);
  await page.getByRole("link", { name: /Back to shop\.example in/ }).waitFor();
  await page.getByRole("button", { name: "Read it here" }).click();
  const back = page.getByRole("link", { name: "Back to shop.example", exact: true });
  await back.waitFor();
  await page.clock.runFor(30_000);
  expect(new URL(page.url()).origin).toBe(app.url);
  expect(await back.getAttribute("href")).toContain("https://shop.example/back?");
});

test("what ended meanwhile is shown as ended, by signing and by declining", async () => {
  for (const way of ["sign", "decline"] as const) {
    const { page, envelope } = await open(unasked);
    await fill(page);
    await ok(app, 200, `/v1/envelopes/${envelope.id}/void`, { json: { reason: "Let to somebody else" } });
    if (way === "sign") await finish(page);
    else {
      await page.getByRole("button", { name: "Decline" }).click();
      await page.getByLabel("Your reason").fill("The rent is too high.");
      await page.getByRole("button", { name: "Decline to sign" }).click();
    }
    await page.getByRole("heading", { name: "This document can no longer be signed" }).waitFor();
    expect((await envelopeOf(app, envelope.id)).status).toBe("voided");
  }
});

test("a dialog that closes gives the focus back to what opened it", async () => {
  const { page } = await open(unasked);
  await drawn(page);
  await page.getByRole("button", { name: "Decline" }).press("Enter");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await expect.poll(() => focused(page, "button.decline")).toBe(true);
});
