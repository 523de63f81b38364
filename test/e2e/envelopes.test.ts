import type { Browser, Page } from "playwright";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { buildApps } from "../../scripts/build-apps.ts";
import { updateFailure } from "../../server/features/envelopes/failure-store.ts";
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
import {
  auditOf,
  enter,
  envelopeOf,
  exchange,
  linkTokenOf,
  ok,
  publishTemplate,
  send,
  submission,
  viewOf,
} from "../harness/scenario.ts";

/** The list of envelopes and the page of one, as a member works with them. */

const patient = { timeout: 120_000 };

let app: TestAppliance;
let browser: Browser;
let template: string;
let cookie: string;
let visits: Visit[] = [];

beforeAll(async () => {
  await buildApps();
  app = await startAppliance({ env: { SIGNET_PLAN: "free" } });
  browser = await launch();
  template = await publishTemplate(app);
  cookie = await app.signIn();
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

async function member(options: VisitOptions = desktop): Promise<Page> {
  const seen = await visit(browser, options);
  visits.push(seen);
  await addSession(seen.context, app, cookie);
  return seen.page;
}

async function clean(page: Page): Promise<void> {
  expect(await seriousFindings(page)).toEqual([]);
  expect(await overflow(page)).toBe(0);
}

async function sign(email: string): Promise<void> {
  const bearer = await enter(app, email);
  await viewOf(app, bearer);
  await ok(app, 200, "/v1/signing/submit", { key: { bearer }, json: await submission(app, bearer) });
  await app.jobs.idle();
}

const rows = (page: Page) => page.locator("[data-row]");
const row = (page: Page, title: string) =>
  page.locator("tr", { has: page.getByRole("link", { name: title, exact: true }) });
const state = (page: Page) => page.locator(".envelope-state");
const entry = (page: Page, text: string) => page.locator(".envelope-entry", { hasText: text });

async function openEnvelope(page: Page, id: string, tab = ""): Promise<void> {
  await page.goto(`${app.url}/envelopes/${id}${tab && `?tab=${tab}`}`);
  await page.getByRole("heading", { name: "Recipients" }).waitFor();
}

describe("the list", () => {
  test("explains itself while there is nothing, and says so when a filter finds nothing", async () => {
    const page = await member();
    await page.goto(`${app.url}/envelopes`);
    await page.getByRole("heading", { name: "No envelopes yet" }).waitFor();
    await clean(page);
    await page.goto(`${app.url}/envelopes?status=declined&q=nobody`);
    await page.getByRole("heading", { name: "Nothing found" }).waitFor();
    await clean(page);
    await page.getByRole("button", { name: "Clear the filters" }).last().click();
    await page.getByRole("heading", { name: "No envelopes yet" }).waitFor();
    expect(page.url()).toBe(`${app.url}/envelopes`);
  });

  test("filters and searches in its address; the way back undoes it", async () => {
    const other = await publishTemplate(app);
    await send(app, template, { envelope: { title: "Cellar" } });
    const voided = await send(app, template, { envelope: { title: "Garage" } });
    await ok(app, 200, `/v1/envelopes/${voided.id}/void`, { json: { reason: "Let to somebody else" } });
    await send(app, other, {
      envelope: { title: "Attic" },
      tenant: { name: "Grace Hopper", email: "grace@example.com" },
    });
    await send(app, template, { key: "test", envelope: { title: "Only a test" } });

    const page = await member();
    await page.goto(`${app.url}/envelopes`);
    await rows(page).first().waitFor();
    expect(await rows(page).allTextContents()).toEqual(["Attic", "Garage", "Cellar"]);
    await page.getByLabel("Status").selectOption("voided");
    await expect.poll(() => rows(page).allTextContents(), patient).toEqual(["Garage"]);
    expect(new URL(page.url()).search).toBe("?status=voided");
    await page.goBack();
    await expect.poll(() => rows(page).allTextContents(), patient).toEqual(["Attic", "Garage", "Cellar"]);
    expect(await page.getByLabel("Status").inputValue()).toBe("");

    await page.keyboard.press("/");
    await page.keyboard.type("grace hop");
    // Whoever types slowly is shown what its beginning finds, which is the same.
    await expect.poll(() => new URL(page.url()).searchParams.get("q"), patient).toBe("grace hop");
    await expect.poll(() => rows(page).allTextContents(), patient).toEqual(["Attic"]);
    await page.reload();
    await rows(page).first().waitFor();
    expect(await page.getByLabel("Search envelopes").inputValue()).toBe("grace hop");
    await page.goto(`${app.url}/envelopes?template=${other}`);
    await expect.poll(() => rows(page).allTextContents(), patient).toEqual(["Attic"]);

    // What is no filter is ignored.
    await page.goto(`${app.url}/envelopes?status=lost&template=7`);
    await expect.poll(() => rows(page).count(), patient).toBe(3);
  });

  test("follows an envelope that is signed elsewhere, without losing its place", async () => {
    for (let number = 1; number <= 30; number += 1) {
      await ok(app, 201, "/v1/envelopes", {
        json: {
          template,
          title: `Flat ${number}`,
          recipients: [
            { role: "Tenant", name: "Ada Muster", email: `tenant${number}@example.com` },
            { role: "Landlord", name: "Ben Beispiel", email: "ben@example.com" },
          ],
        },
      });
    }
    await app.jobs.idle();
    const page = await member();
    await page.goto(`${app.url}/envelopes?q=Flat`);
    await rows(page).first().waitFor();
    expect(await rows(page).count()).toBe(25);
    await page.getByRole("button", { name: "Show more" }).click();
    await rows(page).nth(29).waitFor();
    await row(page, "Flat 2").scrollIntoViewIfNeeded();
    const before = await page.evaluate("window.scrollY");
    expect(before).toBeGreaterThan(0);
    await row(page, "Flat 2").getByText("Waiting for Ada Muster").waitFor();
    await sign("tenant2@example.com");
    await row(page, "Flat 2").getByText("Waiting for Ben Beispiel").waitFor();
    await row(page, "Flat 2").getByText("1 of 2 signed").waitFor();
    expect(await page.evaluate("window.scrollY")).toBe(before);
    expect(await rows(page).count()).toBe(30);
  });

  test("looks for changes by itself while the stream of changes fails", async () => {
    const { id } = await send(app, template, { envelope: { title: "Without a stream" } });
    const page = await member(intercepted);
    await page.clock.install();
    await page.route("**/auth/changes", (route) => route.abort());
    await page.goto(`${app.url}/envelopes`);
    await page.getByText("this page looks for changes every 15 seconds").waitFor();
    await row(page, "Without a stream").getByText("Out for signature").waitFor();
    await ok(app, 200, `/v1/envelopes/${id}/void`, { json: { reason: "Never mind" } });
    await page.clock.fastForward(15_000);
    await row(page, "Without a stream").getByText("Voided").waitFor();
    // The stream is back: what was missed meanwhile is looked up, and the notice goes.
    await page.unroute("**/auth/changes");
    await page.clock.fastForward(15_000);
    await page.getByText("this page looks for changes every 15 seconds").waitFor({ state: "hidden" });
  });

  test("is walked with the keyboard, and clean in every look", async () => {
    const page = await member();
    await page.goto(`${app.url}/envelopes`);
    const hasFocus = (index: number) =>
      rows(page)
        .nth(index)
        .evaluate((link) => link === document.activeElement);
    // The rows are drawn a moment before the page hears keys.
    await rows(page).first().waitFor();
    const press = async () => {
      await page.keyboard.press("j");
      return await hasFocus(0);
    };
    await expect.poll(press, patient).toBe(true);
    await page.keyboard.press("j");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("k");
    expect(await hasFocus(1)).toBe(true);
    const title = await rows(page).nth(1).textContent();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: title ?? "", exact: true }).waitFor();

    for (const look of [desktop, { ...desktop, colorScheme: "dark" as const }, phone]) {
      const seen = await member(look);
      await seen.goto(`${app.url}/envelopes`);
      await rows(seen).first().waitFor();
      await clean(seen);
    }
  });
});

describe("single keys that are switched off", () => {
  test("do nothing on the list either, and are not offered there; arrows still move from a row", async () => {
    const page = await member();
    await page.goto(`${app.url}/envelopes`);
    await rows(page).nth(1).waitFor();
    const search = page.getByLabel("Search envelopes");
    const hint = page.getByText("J and K to move");
    const onBody = () =>
      page.evaluate("document.activeElement === document.body || document.activeElement?.tagName === 'H1'");
    await hint.waitFor();
    expect(await search.getAttribute("aria-keyshortcuts")).toBe("/");
    await page.keyboard.press("?");
    const help = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await help.getByLabel("Use single keys as shortcuts").uncheck({ force: true });
    await page.keyboard.press("Escape");
    await help.waitFor({ state: "hidden" });
    await hint.waitFor({ state: "detached" });
    expect(await search.getAttribute("aria-keyshortcuts")).toBe(null);
    await page.reload();
    await rows(page).nth(1).waitFor();
    for (const key of ["j", "k", "/"]) {
      await page.keyboard.press(key);
      expect(await onBody()).toBe(true);
    }
    await rows(page).first().focus();
    await page.keyboard.press("ArrowDown");
    expect(
      await rows(page)
        .nth(1)
        .evaluate((link) => link === document.activeElement),
    ).toBe(true);
  });
});

test("a date is that of the zone which it names, to the eye and to the ear", async () => {
  const soon = new Date(Date.now() + 10 * 24 * 60 * 60 * 1000);
  soon.setUTCHours(23, 0, 0, 0);
  await send(app, template, { envelope: { title: "At night", expiresAt: soon.toISOString() } });
  const page = await member({ ...desktop, timezoneId: "Asia/Tokyo" });
  await page.goto(`${app.url}/envelopes?q=At+night`);
  const deadline = row(page, "At night").locator("td").last().locator("time");
  const date = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", timeZone: "UTC" }).format(soon);
  await expect.poll(() => deadline.textContent(), patient).toMatch(new RegExp(`^${date}(, \\d{4})? \\(UTC\\)$`));
  expect(await deadline.getAttribute("title")).toMatch(/11:00:00.*UTC \(UTC\)$/);
  // The time of the viewer's own zone where nobody else's matters.
  const changed = row(page, "At night").locator("td time").first();
  expect(await changed.getAttribute("title")).toContain("(Asia/Tokyo)");
});

test("the overview stays while it cannot be fetched anew", async () => {
  const page = await member(intercepted);
  await page.clock.install();
  await page.goto(app.url);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  const known = page.getByRole("link", { name: "At night" }).first();
  await known.waitFor();
  await page.route("**/v1/envelopes?*", (route) => route.abort());
  await page.clock.runFor(15_000);
  await page.getByRole("alert").waitFor();
  expect(await known.count()).toBe(1);
  await page.unroute("**/v1/envelopes?*");
  await page.clock.runFor(15_000);
  await page.getByRole("alert").waitFor({ state: "detached" });
});

describe("one envelope", () => {
  test("staff make the code that they hand over, and print nothing but its sheet", async () => {
    const tenant = { name: "Hana Handover", email: "hana@example.com", verification: "operator_delivered" };
    const { id } = await send(app, template, { tenant });
    const page = await member({ ...phone, colorScheme: "dark" });
    await openEnvelope(page, id);
    await page.getByRole("button", { name: "Code to hand over: Hana Handover" }).click();
    const dialog = page.getByRole("dialog", { name: "Code to hand over" });
    await dialog.getByText("You check yourself who Hana Handover is").waitFor();
    await clean(page);
    await page.keyboard.press("Enter");
    const output = dialog.getByRole("status", { name: "Code" });
    await output.waitFor();
    await clean(page);
    const code = (await output.textContent()) ?? "";
    expect(code).toMatch(/^\d{6}$/);
    await page.emulateMedia({ media: "print" });
    expect(await page.locator("#root").isVisible()).toBe(false);
    expect(await dialog.getByRole("button", { name: "Print" }).isVisible()).toBe(false);
    expect(await output.isVisible()).toBe(true);
    await page.emulateMedia({ media: "screen" });
    await dialog.getByRole("button", { name: "Done" }).click();
    await entry(page, "Olive Owner made a code to hand over to Hana Handover").waitFor();
    const { accessToken } = await exchange(app, await linkTokenOf(app, "hana@example.com"));
    await ok(app, 200, "/v1/signing/otp/verify", { key: { bearer: accessToken }, json: { code } });
    await ok(app, 200, `/v1/envelopes/${id}/void`, { json: { reason: "Only tried" } });
  });

  test("shows what happens while it happens, to the seal", async () => {
    const { id } = await send(app, template, {
      envelope: {
        title: "Lindenhof 4",
        externalId: "contract-4711",
        metadata: { project: "Lindenhof" },
        cc: [{ email: "lea@example.com" }],
        reminders: { firstAfterDays: 2, everyDays: 3, max: 3 },
      },
      tenant: { email: "live@example.com" },
    });
    const page = await member();
    await openEnvelope(page, id);
    await state(page).getByText("Waiting for Ada Muster").waitFor();
    await page.getByText("First after 2 days, then every 3 days, at most 3").waitFor();
    await page.getByText("contract-4711").waitFor();
    await entry(page, "Ada Muster was asked to sign").waitFor();
    await page.getByText("The record is complete and unchanged").waitFor();

    const bearer = await enter(app, "live@example.com");
    await entry(page, "Ada Muster entered the right code").waitFor();
    await viewOf(app, bearer);
    await entry(page, "Ada Muster opened the document").waitFor();
    await page.getByText("Has opened it").waitFor();
    await ok(app, 200, "/v1/signing/submit", { key: { bearer }, json: await submission(app, bearer) });
    await app.jobs.idle();
    await entry(page, "Ada Muster signed").waitFor();
    await state(page).getByText("Waiting for Ben Beispiel").waitFor();
    await sign("ben@example.com");
    await state(page).getByText("Completed").waitFor();
    await entry(page, "The document was sealed").waitFor();
    await entry(page, "A copy was sent to lea@example.com").waitFor();
    await page.getByText("Settled: nothing more will happen to this envelope.").waitFor();
    const trail = await auditOf(app, id);
    await expect.poll(() => page.locator(".envelope-entry").count(), patient).toBe(trail.verification.length);
    await page.getByText(`${trail.verification.length} entries, each linked`).waitFor();
    await page
      .getByText("Details of entry 1", { exact: true })
      .or(page.getByLabel("Details of entry 1", { exact: true }))
      .click();
    await entry(page, "created the envelope")
      .getByText(trail.data[0]?.hash ?? "")
      .waitFor();
    await clean(page);

    await page.getByRole("tab", { name: "Values" }).click();
    await page.getByRole("row", { name: "city Zürich" }).waitFor();
    await clean(page);
    await page.getByRole("tab", { name: "Document" }).click();
    await page.locator("[data-drawn]").first().waitFor();
    expect(await page.getByRole("radio", { name: "Sealed" }).isChecked()).toBe(true);
    await clean(page);
    for (const name of ["Download the original", "Download the sealed PDF", "Download the certificate"]) {
      const downloading = page.waitForEvent("download");
      await page.getByRole("button", { name }).click();
      expect((await downloading).suggestedFilename()).toMatch(/^Lindenhof 4.*\.pdf$/);
    }
  });

  test("says loudly that its record was changed", async () => {
    const { id } = await send(app, template, { envelope: { title: "Changed record" } });
    const page = await member(intercepted);
    await openEnvelope(page, id);
    await page.getByText("The record is complete and unchanged").waitFor();
    // Behind the service's back: a verdict that is not valid must not be missed.
    await page.route(`**/v1/envelopes/${id}/events?*`, async (route) => {
      const response = await route.fetch();
      const trail = await response.json();
      await route.fulfill({
        response,
        json: { ...trail, verification: { ...trail.verification, valid: false, brokenAtSeq: 2 } },
      });
    });
    await page.reload();
    await page.getByRole("alert").getByText("The record was changed").waitFor();
    await page.getByText("Entry 2 does not fit").waitFor();
    await clean(page);
    // The record is asked for again whenever something changes.
    await page.unrouteAll({ behavior: "ignoreErrors" });
  });

  test("is voided with a reason, after asking", async () => {
    const { id } = await send(app, template, { envelope: { title: "To be voided" } });
    const page = await member();
    await openEnvelope(page, id);
    await page.getByRole("button", { name: "Void…" }).click();
    const dialog = page.getByRole("dialog", { name: "Void this envelope" });
    await dialog.getByRole("button", { name: "Void the envelope" }).click();
    await dialog.getByText("Give a reason.").waitFor();
    await clean(page);
    await dialog.getByLabel("Reason").fill("Wrong address in clause 3");
    await dialog.getByLabel("Tell the people involved by e-mail").uncheck();
    await dialog.getByRole("button", { name: "Void the envelope" }).click();
    await page.getByText(/^Voided .* Reason: Wrong address in clause 3$/).waitFor();
    await dialog.waitFor({ state: "hidden" });
    await entry(page, "Olive Owner voided the envelope: Wrong address in clause 3").waitFor();
    expect(await page.getByRole("button", { name: "Void…" }).count()).toBe(0);
    expect(await envelopeOf(app, id)).toMatchObject({ status: "voided", voidReason: "Wrong address in clause 3" });
    expect((await app.mail()).filter((mail) => mail.kind === "voided" && mail.envelope === id)).toEqual([]);
  });

  test("sends a link again once a minute, and shows a refusal in its place", async () => {
    const { id, recipients } = await send(app, template, { tenant: { email: "again@example.com" } });
    const tenant = recipients[0]?.id ?? "";
    const page = await member(intercepted);
    // A busy machine may show the page later than a minute after the link was sent.
    await lastSent(tenant, quarterHourMs);
    await openEnvelope(page, id);
    await page.getByRole("button", { name: /^Send again in \d+ s$/ }).waitFor();
    await lastSent(tenant, -quarterHourMs);
    await page.reload();
    await page.getByRole("button", { name: "Send the link again: Ada Muster" }).click();
    await page.getByText("A fresh link is on its way to again@example.com.").waitFor();
    await page.getByRole("button", { name: /^Send again in \d+ s$/ }).waitFor();
    await entry(page, "Olive Owner sent the link again to Ada Muster").waitFor();

    // Somebody else was quicker: the page does not know it yet.
    await lastSent(tenant, -quarterHourMs);
    await page.reload();
    const button = page.getByRole("button", { name: "Send the link again: Ada Muster" });
    await button.waitFor();
    const body = await page.evaluate(async (path) => (await fetch(path)).text(), `/v1/envelopes/${id}`);
    await page.route(`**/v1/envelopes/${id}`, (route) => route.fulfill({ body, contentType: "application/json" }));
    await lastSent(tenant, quarterHourMs);
    await button.click();
    await page.locator(".envelope-resend").getByRole("alert").waitFor();
    await page.locator(".envelope-resend").getByText("Request id").waitFor();
    await clean(page);
  });

  const quarterHourMs = 15 * 60_000;

  async function lastSent(recipient: string, fromNowMs: number): Promise<void> {
    const at = new Date(app.deps.clock.now() + fromNowMs).toISOString();
    await app.deps.db.tx(async (tx) => {
      await tx.updateTable("recipients").set({ last_sent_at: at }).where("id", "=", recipient).execute();
    });
  }

  test("takes viewers as far as the plan goes, and removes them", async () => {
    const { id } = await send(app, template, { envelope: { title: "Watched" } });
    const page = await member();
    await openEnvelope(page, id);
    await page.getByLabel("E-mail").fill("not an address");
    await page.getByRole("button", { name: "Add the viewer" }).click();
    await page.getByText("Use an e-mail address.").waitFor();
    await page.getByLabel("E-mail").fill("vera@example.com");
    await page.getByLabel("Name (optional)").fill("Vera Viewer");
    await page.getByLabel("Name (optional)").press("Enter");
    await page.getByRole("button", { name: "Remove: vera@example.com" }).waitFor();
    await entry(page, "Olive Owner added vera@example.com as a viewer").waitFor();
    await page.getByLabel("E-mail").fill("wim@example.com");
    await page.getByRole("button", { name: "Add the viewer" }).click();
    await page.getByText(/The plan allows 1 viewer per envelope/).waitFor();
    await clean(page);
    await page.getByRole("button", { name: "Remove: vera@example.com" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await page.getByText("Nobody follows this envelope.").waitFor();
    await entry(page, "Olive Owner removed").waitFor();
  });

  test("names what holds it up and lets it be tried again", async () => {
    const { id } = await send(app, template, { envelope: { title: "Held up" } });
    const page = await member();
    await openEnvelope(page, id);
    await app.deps.db.tx(async (tx) => {
      const at = app.deps.clock.ts();
      const message = "The mail server refused the connection.";
      await updateFailure(tx, id, { stage: "render", code: "invite-failed", message, at }, at);
    });
    // No entry of the trail tells of it: the next look at the envelope does.
    await page.reload();
    await page.getByText("The mail server refused the connection.").waitFor();
    await state(page).getByText("Held up").waitFor();
    await page.getByText("invite-failed").waitFor();
    await clean(page);
    await page.getByRole("button", { name: "Try again" }).click();
    // Nothing is dead in truth, which the service says with its request id.
    await page.locator(".envelope-stuck").getByRole("alert").getByText("Request id").waitFor();
  });

  test("gives a tester the links and codes of a test envelope", async () => {
    const { id } = await send(app, template, {
      key: "test",
      envelope: { title: "A test" },
      tenant: { email: "tester@example.com" },
    });
    const page = await member();
    await openEnvelope(page, id, "mails");
    await page.locator(".envelope-state").getByText("Test mode").waitFor();
    const link = page.locator(".envelope-mail").first().getByLabel("Link");
    await link.waitFor();
    expect(await link.inputValue()).toMatch(/\/sign#svcs_/);
    await clean(page);
    await enter(app, "tester@example.com");
    await page.locator(".envelope-mail[data-kind=code]").getByLabel("Code").waitFor();
    await clean(page);
  });

  test("says where an unknown one may be, and is clean in every look", async () => {
    const { id } = await send(app, template, {
      envelope: { title: "A title that is so long that it needs more than one line on a phone, as titles do" },
    });
    for (const look of [desktop, { ...desktop, colorScheme: "dark" as const }, phone]) {
      const page = await member(look);
      await page.goto(`${app.url}/envelopes/env_000000000000000000000000`);
      await page.getByRole("heading", { name: "There is no such envelope" }).waitFor();
      await clean(page);
      await page.getByRole("link", { name: "Show all envelopes" }).click();
      await rows(page).first().waitFor();
      await openEnvelope(page, id);
      await page.locator(".envelope-entry").first().waitFor();
      await clean(page);
    }
  });
});
