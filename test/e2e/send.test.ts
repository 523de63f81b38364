import type { Browser, Page } from "playwright";
import { afterAll, beforeAll, describe, expect, onTestFailed, test } from "vitest";
import type { z } from "zod";
import { readCsv } from "../../apps/dashboard/src/features/bulk/csv.ts";
import { buildApps } from "../../scripts/build-apps.ts";
import { Envelope, EnvelopeList } from "../../server/features/envelopes/contract.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import {
  addSession,
  desktop,
  intercepted,
  launch,
  overflow,
  phone,
  seriousFindings,
  type Visit,
  type VisitOptions,
  visit,
} from "../harness/page.ts";
import { publishAgreement } from "./agreement.ts";
import { publishLease } from "./lease.ts";

/** How long to look again for what is on its way. */
const soon = { timeout: 120_000 };

let app: TestAppliance;
let browser: Browser;
let lease: string;

beforeAll(async () => {
  await buildApps();
  app = await startAppliance();
  browser = await launch();
  lease = await publishLease(app);
  await publishAgreement(app);
});

afterAll(async () => {
  await browser?.close();
  await app?.stop();
});

/** A signed-in owner's browser. */
async function enter(options: VisitOptions = desktop): Promise<Visit> {
  const seen = await visit(browser, options);
  onTestFailed(async () => console.error(await seen.story()));
  await addSession(seen.context, app, await app.signIn());
  // The browser's own question before a page with unsaved work is left.
  seen.page.on("dialog", (dialog) => void dialog.accept());
  return seen;
}

async function clean(page: Page): Promise<void> {
  expect(await seriousFindings(page)).toEqual([]);
  expect(await overflow(page)).toBe(0);
}

const focusedPointer = (page: Page) => page.evaluate("document.activeElement?.dataset.pointer");
const at = (page: Page, pointer: string) => page.locator(`[data-pointer="${pointer}"]`);
const next = (page: Page, step: string) => page.getByRole("button", { name: `Next: ${step}` }).click();
const heading = (page: Page, name: string) => page.getByRole("heading", { name, exact: true, level: 2 });

async function list(key: "live" | "test", q?: string): Promise<z.infer<typeof Envelope>[]> {
  const query = new URLSearchParams({ limit: "100", template: lease, ...(q ? { q } : {}) });
  return EnvelopeList.parse((await app.json(`/v1/envelopes?${query}`, { key })).body).data;
}

/** A refusal of the service that a test cannot bring about in another way. */
const refusal = (status: number, code: string, detail: string, further: object = {}) => ({
  status,
  contentType: "application/problem+json",
  body: JSON.stringify({
    type: `${app.url}/errors/${code}`,
    title: "Refused",
    status,
    detail,
    code,
    instance: "/v1/envelopes",
    requestId: "req_refused",
    ...further,
  }),
});

async function fillPeople(page: Page): Promise<void> {
  await at(page, "#/recipients/0/name").fill("Ada Lovelace");
  await at(page, "#/recipients/0/email").fill("ada@example.com");
  await at(page, "#/recipients/1/name").fill("Ben Beispiel");
  await at(page, "#/recipients/1/email").fill("ben@example.com");
}

async function fillContent(page: Page): Promise<void> {
  await at(page, "#/variables/object").fill("Lindenhof 4");
  await at(page, "#/variables/rent").fill("1,850.50");
}

describe("sending one envelope", () => {
  test("each step is an entry of the browser's history, and an address may name a step", async () => {
    const { page, context } = await enter();
    await page.goto(`${app.url}/send`);
    await page.getByRole("button", { name: /Lease/ }).click();
    await heading(page, "People").waitFor();
    await fillPeople(page);
    await next(page, "Content");
    await heading(page, "Content").waitFor();
    await fillContent(page);
    await page.goBack();
    await heading(page, "People").waitFor();
    await expect.poll(() => at(page, "#/recipients/0/name").inputValue(), soon).toBe("Ada Lovelace");
    await page.goForward();
    await heading(page, "Content").waitFor();
    await expect.poll(() => page.evaluate("document.activeElement?.textContent"), soon).toBe("Content");
    await page.reload();
    await expect.poll(() => at(page, "#/variables/object").inputValue(), soon).toBe("Lindenhof 4");
    await page.goBack();
    await heading(page, "People").waitFor();
    await page.goBack();
    await page.getByRole("searchbox", { name: "Search templates" }).waitFor();
    // Nobody filled in anything in this tab: there is nothing to review.
    const other = await context.newPage();
    await other.goto(`${app.url}/send?template=${lease}&step=review`);
    await heading(other, "People").waitFor();
    expect(new URL(other.url()).searchParams.get("step")).toBe("people");
    expect(await other.getByText("Please fill this in.").count()).toBe(0);
    await context.close();
  });

  test("two signers, variables, copy and viewer: checked, shown, sent once", async () => {
    const { page, context, troubles } = await enter(intercepted);
    await page.goto(`${app.url}/send`);
    await page.getByRole("searchbox", { name: "Search templates" }).fill("leas");
    const choice = page.getByRole("button", { name: /Lease.*3 roles: Tenant, Landlord, Office.*2 pages/s });
    await expect.poll(() => page.locator(".send-template").count(), soon).toBe(1);
    await clean(page);
    await choice.click();

    await heading(page, "People").waitFor();
    expect(new URL(page.url()).searchParams.get("template")).toBe(lease);
    await next(page, "Content");
    // Nothing is asked of the service while it is plain what is missing; the first wrong input has the focus.
    await page.getByText("Please fill this in.").first().waitFor();
    await expect.poll(() => focusedPointer(page), soon).toBe("#/recipients/0/name");
    await clean(page);
    await fillPeople(page);
    // The landlord first: by the keyboard.
    await page.getByRole("button", { name: "Move Landlord up" }).focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator(".send-person legend").first().textContent(), soon).toContain("Landlord");
    await page.getByRole("button", { name: "Add a copy" }).click();
    await at(page, "#/cc/0/email").fill("copy@example.com");
    await page.getByRole("button", { name: "Add a viewer" }).click();
    await at(page, "#/viewers/0/email").fill("viewer@");
    await next(page, "Content");
    await page.getByText("Use an e-mail address").waitFor();
    await at(page, "#/viewers/0/email").fill("viewer@example.com");
    await page.getByRole("checkbox", { name: "Viewers may see the document" }).check();
    await next(page, "Content");

    await heading(page, "Content").waitFor();
    await at(page, "#/title").fill("Lease of Ada");
    await at(page, "#/message").fill("Please sign by Friday.");
    await fillContent(page);
    await at(page, "#/variables/begin").fill("2026-12-01");
    await at(page, "#/variables/furnished").selectOption("Yes");
    await page.getByRole("button", { name: "Add a row to Extras" }).click();
    await page.getByRole("textbox", { name: "what, row 1" }).fill("Cellar");
    await page.getByRole("textbox", { name: "price, row 1" }).fill("twenty");
    await at(page, "#/values/Tenant/postcode").fill("1234");
    await at(page, "#/values/Landlord/payment").selectOption("every month");
    await next(page, "Review");
    await page.getByText("A postcode has five digits.").waitFor();
    await at(page, "#/values/Tenant/postcode").fill("12345");
    await page.getByRole("textbox", { name: "price, row 1" }).fill("20");
    // A reload loses nothing.
    await page.reload();
    await expect.poll(() => at(page, "#/title").inputValue(), soon).toBe("Lease of Ada");
    await page.getByText("Deadline, reminders and language").click();
    await page.getByRole("combobox", { name: "Expires" }).selectOption("On a certain day");
    const day = new Date(app.deps.clock.now() + 9 * 86_400_000).toISOString().slice(0, 10);
    await at(page, "#/expiresAt").fill(day);
    await page.getByRole("combobox", { name: "Remind people" }).selectOption("Own settings");
    await at(page, "#/reminders/everyDays").fill("");
    await at(page, "#/externalId").fill("contract-1");
    await page.getByRole("button", { name: "Add an entry" }).click();
    await page.getByRole("textbox", { name: "Key 1" }).fill("desk");
    await page.getByRole("textbox", { name: "Value 1" }).fill("7");
    await clean(page);
    await next(page, "Review");

    await heading(page, "Review").waitFor();
    await page.locator("[data-checked]").waitFor();
    await page.locator(".pdf-page[data-drawn]").first().waitFor();
    await expect.poll(() => page.locator(".send-preview").textContent(), soon).toContain("Lindenhof 4");
    expect(await page.locator(".send-preview").textContent()).toContain("1,850.50");
    expect(await page.locator(".send-facts").textContent()).toContain("Counts against the plan");
    await clean(page);

    // The answer of the first try is lost on the way, after the service has sent.
    let lost = 0;
    await page.route("**/v1/envelopes?test_mode=0", async (route) => {
      const reply = await route.fetch();
      expect(reply.status()).toBe(201);
      lost += 1;
      if (lost === 1) await route.abort("connectionreset");
      else await route.fulfill({ response: reply });
    });
    await page.getByRole("button", { name: "Send now" }).dblclick();
    await page.getByText("the envelope is sent only once").waitFor();
    await page.reload();
    await page.locator("[data-checked]").waitFor();
    await page.getByRole("button", { name: "Send now" }).dblclick();
    await page.getByRole("heading", { name: "Sent", exact: true }).waitFor();
    await clean(page);
    expect(lost).toBe(2);

    const sent = await list("live", "contract-1");
    expect(sent).toHaveLength(1);
    expect(sent[0]).toMatchObject({
      title: "Lease of Ada",
      message: "Please sign by Friday.",
      testMode: false,
      source: "dashboard",
      viewerDocumentAccess: true,
      metadata: { desk: "7" },
      reminders: { firstAfterDays: 3, everyDays: null, max: 3 },
      expiresAt: `${day}T23:59:00.000Z`,
      cc: [{ email: "copy@example.com" }],
    });
    expect(Object.fromEntries((sent[0]?.recipients ?? []).map(({ role, order }) => [role, order]))).toEqual({
      Landlord: 1,
      Tenant: 2,
      Office: 3,
    });
    const whole = Envelope.parse((await app.json(`/v1/envelopes/${sent[0]?.id}`)).body);
    expect(whole.values?.variables).toEqual({
      object: "Lindenhof 4",
      rent: 1850.5,
      begin: "2026-12-01",
      furnished: true,
      extras: [{ what: "Cellar", price: 20 }],
    });
    expect(whole.viewers?.map(({ email }) => email)).toEqual(["viewer@example.com"]);
    // Nobody's address stays behind in the browser.
    const kept = await page.evaluate("JSON.stringify({ ...sessionStorage, ...localStorage })");
    expect(kept).not.toContain("example.com");
    await page.getByRole("link", { name: "Open the envelope" }).click();
    await page.waitForURL(`**/envelopes/${sent[0]?.id}`);
    expect(troubles).toEqual([]);
    await context.close();
  });

  test("what the service refuses lands on its input, and the draft can be started over", async () => {
    const { page, context, troubles } = await enter(intercepted);
    await page.goto(`${app.url}/send?template=${lease}`);
    await fillPeople(page);
    await next(page, "Content");
    await fillContent(page);
    await next(page, "Review");
    await page.locator("[data-checked]").waitFor();
    // A rule that the page does not know of.
    const errors = [{ pointer: "#/recipients/1/email", code: "conflict", detail: "This mailbox is closed." }];
    const refused = refusal(422, "validation-failed", "The request has invalid members.", { errors });
    const keys: (string | undefined)[] = [];
    await page.route("**/v1/envelopes?test_mode=0", async (route) => {
      keys.push(route.request().headers()["idempotency-key"]);
      await route.fulfill(refused);
    });
    await page.getByRole("button", { name: "Send now" }).click();
    await heading(page, "People").waitFor();
    await page.getByText("This mailbox is closed.").waitFor();
    // The refusal is drawn first; the focus follows it.
    await expect.poll(() => focusedPointer(page), soon).toBe("#/recipients/1/email");
    await at(page, "#/recipients/1/email").fill("ben2@example.com");
    expect(await page.getByText("This mailbox is closed.").count()).toBe(0);
    for (const step of ["Content", "Review"]) await next(page, step);
    await page.locator("[data-checked]").waitFor();
    await page.getByRole("button", { name: "Send now" }).click();
    await heading(page, "People").waitFor();
    // A refusal is stored under its key: what was corrected goes with another one.
    expect(new Set(keys).size).toBe(2);

    // A feature that is not set up is refused in its place.
    await page.locator("summary").first().click();
    // It is not offered either: besides the template's own choice there is what this appliance can do.
    expect(await at(page, "#/recipients/0/verification").locator("option").count()).toBe(4);
    const off = refusal(403, "feature-disabled", "Verification `sms_otp` is not set up on this appliance.");
    await page.route("**/v1/envelopes?dry_run=1*", (route) => route.fulfill(off));
    await at(page, "#/recipients/0/verification").selectOption("none");
    for (const step of ["Content", "Review"]) await next(page, step);
    await page.locator(".send-refusal").waitFor();
    expect(await page.locator(".send-refusal").textContent()).toContain("not set up on this appliance");

    // So is what the plan does not include.
    await at(page, "#/recipients/0/verification").selectOption("");
    await page.getByRole("button", { name: "Add a viewer" }).click();
    await at(page, "#/viewers/0/email").fill("viewer@example.com");
    await page.route("**/v1/envelopes?dry_run=1*", (route) =>
      route.fulfill(refusal(403, "plan-upgrade-required", "The plan allows 0 viewers per envelope.")),
    );
    for (const step of ["Content", "Review"]) await next(page, step);
    await page.locator(".send-others .send-refusal").waitFor();
    expect(await page.locator(".send-others .send-refusal").textContent()).toContain("The plan allows 0 viewers");
    await expect.poll(() => page.evaluate("document.activeElement?.className"), soon).toContain("send-refusal");

    await page.getByRole("link", { name: "Envelopes", exact: true }).first().click();
    await page.getByRole("dialog").getByRole("button").last().waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Start over" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Start over" }).click();
    await expect.poll(() => at(page, "#/recipients/0/email").inputValue(), soon).toBe("");
    expect(troubles).toEqual([]);
    await context.close();
  });

  test("in test mode, in the dark and on a phone, in German", async () => {
    for (const [options, locale] of [
      [{ ...desktop, colorScheme: "dark" as const }, "en-GB"],
      [phone, "de-CH"],
    ] as const) {
      const { page, context, troubles } = await enter({ ...options, locale });
      await page.addInitScript("sessionStorage.setItem('signet.testMode', '1')");
      await page.goto(`${app.url}/send?template=${lease}`);
      await at(page, "#/recipients/0/name").waitFor();
      await clean(page);
      await fillPeople(page);
      const onward = page.locator(".send-bar > button");
      await onward.click();
      await at(page, "#/variables/object").fill("Lindenhof 4");
      await at(page, "#/variables/rent").fill(locale === "de-CH" ? "1850,50" : "1850.50");
      await clean(page);
      await page.locator(".send-options > summary").click();
      await at(page, "#/externalId").fill(`look-${locale}`);
      await clean(page);
      await onward.click();
      await page.locator("[data-checked]").waitFor();
      await page.locator(".pdf-page[data-drawn]").first().waitFor();
      await page.locator(".send-mode[data-test]").waitFor();
      await clean(page);
      await page.locator(".send-final button").click();
      await page.locator(".send-sent").waitFor();
      await clean(page);
      const sent = await list("test", `look-${locale}`);
      expect(sent).toHaveLength(1);
      const { values } = Envelope.parse((await app.json(`/v1/envelopes/${sent[0]?.id}`, { key: "test" })).body);
      expect(values?.variables.rent).toBe(1850.5);
      expect(troubles).toEqual([]);
      await context.close();
    }
  });
});

describe("sending from a file", () => {
  const head = "Tenant: name;Tenant: email;Landlord: name;Landlord: email;Flat;rent;Tenant / postcode;Remark";
  const row = (index: number, rent = `${1000 + index},50`, mail = `p${index}@example.com`) =>
    `Person ${index};${mail};Ben;ben@example.com;"Lindenhof ${index}\nleft";${rent};12345;x`;
  const numbers = Array.from({ length: 20 }, (_, index) => index + 1);
  const broken = numbers.map((index) =>
    index === 4 ? row(index, "cheap") : index === 9 ? row(index, "1,5", "p9@") : row(index),
  );
  const corrected = numbers.map((index) => row(index));
  const file = (lines: readonly string[]) => ({
    name: "people.csv",
    mimeType: "text/csv",
    // As Excel in Windows writes it.
    buffer: Buffer.from([head, ...lines].join("\r\n"), "latin1"),
  });
  const choose = (page: Page, lines: readonly string[]) =>
    page.locator('input[type="file"]').setInputFiles(file(lines));

  test("two bad rows are named, eighteen are sent, a reload in the middle and a corrected file make exactly twenty", async () => {
    const { page, context, troubles } = await enter(intercepted);
    await page.goto(`${app.url}/bulk`);
    await page.getByRole("button", { name: /Lease/ }).click();
    const template = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download an empty file" }).click();
    const headers = await (await template).createReadStream().then((stream) => stream.toArray());
    expect(readCsv(Buffer.concat(headers).toString("utf8")).headers.slice(0, 6)).toEqual([
      "Tenant: name",
      "Tenant: email",
      "Landlord: name",
      "Landlord: email",
      "object",
      "rent",
    ]);
    await choose(page, broken);
    const wrong = page.getByRole("table", { name: "Rows with errors" });
    await wrong.waitFor();
    const texts = await wrong.locator("tbody tr").allTextContents();
    expect(texts.map((text) => text.replace(/\s+/g, " "))).toEqual([
      expect.stringMatching(/5.*Person 4, Ben.*rent/),
      expect.stringMatching(/10.*Person 9, Ben.*Tenant: email.*e-mail address/),
    ]);
    // A column that was not recognised can be set, and taken away again.
    const remark = page.getByRole("combobox", { name: "What column Remark holds" });
    await remark.selectOption("Message");
    await remark.selectOption("Not used");
    await page.getByRole("button", { name: "Test row 2 without sending" }).click();
    await page.getByText("The service accepts row 2: a document of 2 pages.").waitFor();
    await clean(page);

    // After six answers the page is closed while further rows are on their way.
    let answers = 0;
    let stop: () => void = () => {};
    const stopped = new Promise<void>((resolve) => {
      stop = resolve;
    });
    await page.route("**/v1/envelopes?test_mode=0", async (route) => {
      const reply = await route.fetch();
      answers += 1;
      if (answers <= 6) return await route.fulfill({ response: reply });
      if (answers === 10) stop();
      // The others never hear that their envelope exists.
    });
    await page.getByRole("button", { name: "Send 18 envelopes" }).click();
    await stopped;
    await page.reload();
    await page.unrouteAll({ behavior: "ignoreErrors" });
    expect(await list("live", "Person")).toHaveLength(10);

    await choose(page, broken);
    await page.getByText("people.csv was begun before: 6 rows have their envelopes").waitFor();
    // The service is busy for a moment, and the network is lost for another.
    let calls = 0;
    await page.route("**/v1/envelopes?test_mode=0", async (route) => {
      calls += 1;
      if (calls === 2) return await route.abort("internetdisconnected");
      if (calls !== 3) return await route.continue();
      await route.fulfill(refusal(429, "rate-limited", "Too many requests.", { retryAfter: 1 }));
    });
    await page.getByRole("button", { name: "Go on with 12 envelopes" }).click();
    await page.locator('[data-phase="done"]').waitFor();
    await page.unrouteAll({ behavior: "wait" });
    expect(await page.locator(".bulk-counts").textContent()).toContain("18 of 18 sent");
    expect(await page.getByRole("progressbar", { name: "Progress" }).getAttribute("aria-valuenow")).toBe("100");
    await clean(page);
    expect(await list("live", "Person")).toHaveLength(18);
    const results = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download the results" }).click();
    const bytes = await (await results).createReadStream().then((stream) => stream.toArray());
    const table = readCsv(Buffer.concat(bytes).toString("utf8"));
    expect(table.rows.map(({ cells }) => cells[2]).filter((status) => status === "sent")).toHaveLength(18);
    expect(table.rows.filter(({ cells }) => cells[2] === "invalid").map(({ cells }) => cells[0])).toEqual(["5", "10"]);

    await page.getByRole("button", { name: "Choose another file" }).click();
    await choose(page, corrected);
    await page.getByText("people.csv was begun before: 18 rows have their envelopes").waitFor();
    await page.getByRole("button", { name: "Go on with 2 envelopes" }).click();
    await page.locator('[data-phase="done"]').waitFor();
    const made = await list("live", "Person");
    expect(made).toHaveLength(20);
    expect(new Set(made.flatMap(({ recipients }) => recipients.map(({ email }) => email))).size).toBe(22);
    // What the browser keeps of it says nothing about anybody.
    expect(await page.evaluate("JSON.stringify({ ...sessionStorage, ...localStorage })")).not.toContain("example.com");
    expect(troubles).toEqual([]);
    await context.close();
  });

  test("pause, a refused row, retry, and rows that are found by their reference", async () => {
    const { page, context, troubles } = await enter({ ...phone, intercepted: true });
    await page.addInitScript("sessionStorage.setItem('signet.testMode', '1')");
    await page.goto(`${app.url}/bulk?template=${lease}`);
    const lines = [`${head};externalId`, ...numbers.slice(0, 8).map((index) => `${row(index)};ref-${index}`)];
    const buffer = Buffer.from(lines.join("\n"));
    const take = (where: Page) =>
      where.locator('input[type="file"]').setInputFiles({ name: "refs.csv", mimeType: "text/csv", buffer });
    await take(page);
    await page.getByText("8 rows are ready.").waitFor();
    await page.getByText("Rows with a reference are safe for ever").waitFor();
    await clean(page);
    let calls = 0;
    let release: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route("**/v1/envelopes?test_mode=1", async (route) => {
      calls += 1;
      if (calls === 1) return await route.fulfill(refusal(409, "conflict", "Not now."));
      if (calls <= 5) await held;
      await route.continue();
    });
    await page.getByRole("button", { name: "Send 8 envelopes in test mode" }).click();
    await page.getByRole("button", { name: "Pause" }).click();
    release();
    await expect.poll(() => page.locator('[data-state="sending"]').count(), soon).toBe(0);
    await page.getByText("Paused").waitFor();
    expect(await page.locator('[data-state="waiting"]').count()).toBeGreaterThan(0);
    await page.getByRole("button", { name: "Go on" }).click();
    await page.locator('[data-phase="done"]').waitFor();
    expect(await page.locator('[data-state="failed"]').textContent()).toContain("Not now. Request id: req_refused");
    await clean(page);
    await page.getByRole("button", { name: "Try 1 failed row again" }).click();
    await expect.poll(() => page.locator('[data-state="sent"]').count(), soon).toBe(8);
    expect(await list("test", "ref-")).toHaveLength(8);
    await app.jobs.idle();

    // Another browser knows nothing of the batch: the references do.
    const other = await enter();
    await other.page.addInitScript("sessionStorage.setItem('signet.testMode', '1')");
    await other.page.goto(`${app.url}/bulk?template=${lease}`);
    await take(other.page);
    await other.page.getByRole("button", { name: "Send 8 envelopes in test mode" }).click();
    await other.page.locator('[data-phase="done"]').waitFor();
    expect(await other.page.getByText("Existed before").count()).toBe(8);
    expect(await list("test", "ref-")).toHaveLength(8);
    expect([...troubles, ...other.troubles]).toEqual([]);
    await other.context.close();
    await context.close();
  });
});
