import type { Browser, Page } from "playwright";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { buildApps } from "../../scripts/build-apps.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { addSession, desktop, intercepted, launch, type Visit, type VisitOptions, visit } from "../harness/page.ts";
import { person } from "../harness/people.ts";
import { publishAgreement, sendAgreement } from "./agreement.ts";
import { publishLease } from "./lease.ts";

/** What somebody is in the middle of is neither lost nor done twice, whatever else they touch. */

let app: TestAppliance;
let browser: Browser;
let template: string;
let visits: Visit[] = [];

beforeAll(async () => {
  await buildApps();
  app = await startAppliance({ env: { SIGNET_SIGN_UP: "open" } });
  browser = await launch();
  template = await publishAgreement(app);
});

afterEach(async () => {
  await Promise.all(visits.map(({ context }) => context.close()));
  visits = [];
});

afterAll(async () => {
  await browser?.close();
  await app?.stop();
});

async function enter(options: VisitOptions = {}, user?: string): Promise<Visit> {
  const seen = await visit(browser, { ...desktop, ...options });
  visits.push(seen);
  await addSession(seen.context, app, await app.signIn(user));
  return seen;
}

const Sent = z.object({ data: z.array(z.object({ title: z.string() })) });
async function sent(word: string): Promise<number> {
  return Sent.parse((await app.json(`/v1/envelopes?limit=100&template=${template}&q=${word}`)).body).data.length;
}

/** Rows for as many envelopes, whose tenants are called after the word. */
const rows = (word: string, count: number) => [
  "Tenant: name,Tenant: email,Landlord: name,Landlord: email,Message",
  ...Array.from(
    { length: count },
    (_, i) => `${word}${i},${word.toLowerCase()}${i}@example.com,Ben,ben@example.com,Hi`,
  ),
];
async function choose(page: Page, lines: readonly string[]): Promise<void> {
  await page.goto(`${app.url}/bulk?template=${template}`);
  const buffer = Buffer.from(lines.join("\n"));
  await page.locator('input[type="file"]').setInputFiles({ name: "people.csv", mimeType: "text/csv", buffer });
}
const start = (page: Page) => page.getByRole("button", { name: /^Send \d+ envelopes/ });
const stays = (page: Page) => page.getByRole("dialog").getByRole("button", { name: "Stay on this page" }).click();
const leaves = (page: Page) => page.getByRole("dialog").getByRole("button", { name: "Leave without saving" }).click();
const speak = async (page: Page, language: string) => {
  await page.locator(".user-button").first().click();
  await page.locator(".choice label", { hasText: language }).first().click();
};

/** Lets only the first few envelopes through, until it is called. */
async function hold(page: Page, through: number): Promise<() => void> {
  let release: () => void = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let calls = 0;
  await page.context().route("**/v1/envelopes?test_mode=0", async (route) => {
    calls += 1;
    if (calls > through) await released;
    await route.continue().catch(() => {});
  });
  return release;
}

describe("a file that is being sent", () => {
  test("is sent once, however many tabs it is open in", async () => {
    const { page, context } = await enter(intercepted);
    const other = await context.newPage();
    const third = await context.newPage();
    for (const one of [page, other, third]) {
      await choose(one, rows("Tabs", 6));
      await start(one).waitFor();
    }
    const release = await hold(page, 2);
    await start(page).click();
    await page.locator('.bulk-run[data-phase="running"]').waitFor();
    await other.locator(".bulk-card button", { hasText: /^(Send \d|Go on with)/ }).click();
    await other.getByRole("alert").getByText("is being sent in another tab").waitFor();
    release();
    await page.getByText("6 of 6 sent").waitFor();
    // The other tabs know by now, and a press shows what was sent.
    await third.getByText("people.csv was begun before").waitFor();
    await third
      .getByRole("button", { name: "Show the rows" })
      .or(third.getByRole("button", { name: "Show" }))
      .first()
      .click();
    await third.getByText("6 of 6 sent").waitFor();
    expect(await sent("tabs")).toBe(6);
  });

  test("is not stopped by another mode or language without a question", async () => {
    const { page } = await enter(intercepted);
    const release = await hold(page, 0);
    await choose(page, rows("Redraw", 8));
    await start(page).click();
    await page.locator('.bulk-run[data-phase="running"]').waitFor();
    await page.locator(".mode-switch").first().getByText("Test").click();
    await stays(page);
    expect(await page.locator(".mode-band").count()).toBe(0);
    await speak(page, "Deutsch");
    await stays(page);
    expect(await page.getAttribute("html", "lang")).toBe("en");
    await page.locator('.bulk-run[data-phase="running"]').waitFor();
    release();
    await page.getByText("8 of 8 sent").waitFor();
    expect(await sent("redraw")).toBe(8);
  });

  test("is asked about before there is a new organization", async () => {
    const { page } = await enter(intercepted, (await person(app, "Nora", "owner")).id);
    const release = await hold(page, 0);
    let made = 0;
    page.on("request", (request) => {
      if (request.method() === "POST" && /\/organizations$/.test(new URL(request.url()).pathname)) made += 1;
    });
    await choose(page, rows("Gamma", 8));
    await start(page).click();
    await page.locator('.bulk-run[data-phase="running"]').waitFor();
    await page.locator(".organization-button").first().click();
    await page
      .locator(".organization-button ~ *, .disclosure-panel")
      .getByRole("button", { name: /organization/i })
      .last()
      .click();
    const dialog = page.getByRole("dialog");
    await dialog.locator("input").first().fill("Gamma");
    await dialog.locator("button[type=submit]").click();
    await stays(page);
    await page.locator('.bulk-run[data-phase="running"]').waitFor();
    expect(made).toBe(0);
    await dialog.locator("button[type=submit]").click();
    await leaves(page);
    await page.locator(".organization-button b", { hasText: "Gamma" }).first().waitFor();
    expect(made).toBe(1);
    release();
  });

  test("is refused when a quote in it does not close, naming the row", async () => {
    const { page } = await enter();
    const lines = rows("Quote", 10);
    lines[3] = 'Quote2,quote2@example.com,Ben,ben@example.com,"Hello';
    await choose(page, lines);
    await page.getByRole("alert").getByText("In row 4 a quotation mark").waitFor();
    expect(await start(page).count()).toBe(0);
  });
});

test("a live envelope is never shown below the band of test mode, nor a test envelope without it", async () => {
  const live = await sendAgreement(app, template, "live");
  const trial = await sendAgreement(app, template, "test");
  const { page } = await enter();
  await page.addInitScript(
    "sessionStorage.getItem('signet.testMode') ?? sessionStorage.setItem('signet.testMode', '1')",
  );
  await page.goto(`${app.url}/envelopes/${live}`);
  await page.locator(".toast", { hasText: "This envelope is live" }).waitFor();
  await page.locator(".envelope-state").waitFor();
  expect(await page.locator(".mode-band").count()).toBe(0);
  await page.goto(`${app.url}/envelopes/${trial}`);
  await page.locator(".envelope-state").waitFor();
  await page.locator(".mode-band").waitFor();
  // Who then chooses the other mode leaves the envelope.
  await page.getByRole("button", { name: "Leave test mode" }).or(page.locator(".mode-band button")).first().click();
  await page.waitForURL(/\/envelopes$/);
  expect(await page.locator(".mode-band").count()).toBe(0);
});

test("the last change of a template is saved before it is left; when that fails one is asked", async () => {
  const made = await publishAgreement(app);
  const { page } = await enter(intercepted);
  await page.goto(`${app.url}/templates/${made}`);
  await page.getByRole("button", { name: "Edit" }).first().click();
  await page.locator(".save-state").waitFor();
  await page.goto(`${app.url}/templates/${made}?version=draft&tab=variables`);
  await page.locator('.save-state[data-status="saved"]').waitFor();
  let refuse = true;
  await page.route("**/draft", (route) =>
    refuse && route.request().method() === "PUT" ? route.abort() : route.continue(),
  );
  await page.getByRole("button", { name: /Add a variable|Add variable/ }).click();
  await page.locator(".side-fixed").getByRole("link", { name: "Envelopes" }).click();
  await stays(page);
  expect(new URL(page.url()).pathname).toBe(`/templates/${made}`);
  refuse = false;
  const saved = page.waitForResponse((reply) => reply.request().method() === "PUT" && reply.url().endsWith("/draft"));
  await page.locator(".side-fixed").getByRole("link", { name: "Envelopes" }).click();
  expect((await saved).status()).toBe(200);
  await page.getByRole("heading", { level: 1, name: "Envelopes" }).waitFor();
  expect(await page.getByRole("dialog").count()).toBe(0);
});

test("a number means what it meant when it was typed, whatever language the page speaks afterwards", async () => {
  const lease = await publishLease(app);
  const german = await person(app, "Greta", "owner");
  const { page } = await enter({ locale: "de-DE" }, german.id);
  await page.goto(`${app.url}/send?template=${lease}`);
  const at = (pointer: string) => page.locator(`[data-pointer="${pointer}"]`);
  const onward = page.locator(".send-bar > button");
  for (const [index, name] of ["Ada", "Ben"].entries()) {
    await at(`#/recipients/${index}/name`).fill(name);
    await at(`#/recipients/${index}/email`).fill(`${name.toLowerCase()}@example.com`);
  }
  await onward.click();
  await at("#/variables/object").fill("Lindenhof 4");
  await at("#/variables/rent").fill("1.850");
  await page.getByText("Gelesen als 1.850").waitFor();
  await speak(page, "English");
  await page.getByText("Read as 1,850").waitFor();
  const checked = page.waitForRequest((request) => request.url().includes("dry_run") && request.method() === "POST");
  await onward.click();
  const body = z.object({ variables: z.object({ rent: z.number() }) }).parse((await checked).postDataJSON());
  expect(body.variables.rent).toBe(1850);
});
