import type { Browser, Page } from "playwright";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { buildApps } from "../../scripts/build-apps.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import {
  addSession,
  desktop,
  dialogReady,
  intercepted,
  launch,
  overflow,
  phone,
  seriousFindings,
  type Visit,
  type VisitOptions,
  visit,
} from "../harness/page.ts";
import { person } from "../harness/people.ts";
import { codeFor } from "../harness/sign-in.ts";

/** The settings of an organization, its members and its record, as owners, administrators and members meet them. */

const patient = { timeout: 120_000 };

let app: TestAppliance;
let browser: Browser;
let visits: Visit[] = [];

beforeAll(async () => {
  await buildApps();
  app = await startAppliance();
  browser = await launch();
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

/** Opens a page of the settings as this person, the owner unless said otherwise. */
async function open(section: string, user?: string, options: VisitOptions = desktop): Promise<Page> {
  const seen = await visit(browser, options);
  visits.push(seen);
  await addSession(seen.context, app, await app.signIn(user));
  await seen.page.goto(`${app.url}/settings/${section}`);
  await seen.page.getByRole("heading", { level: 1 }).waitFor();
  return seen.page;
}

async function clean(page: Page): Promise<void> {
  expect(await seriousFindings(page)).toEqual([]);
  expect(await overflow(page)).toBe(0);
}

const dialog = (page: Page) => page.getByRole("dialog");
const row = (page: Page, text: string) => page.locator("tbody tr", { hasText: text });
const sections = (page: Page) => page.getByRole("navigation", { name: "Settings" }).getByRole("link").allTextContents();
const told = (page: Page, text: string) => page.locator(".toast", { hasText: text }).waitFor();

describe("members", () => {
  test("are invited, and their invitation mailed again or revoked", async () => {
    const page = await open("members");
    await page.getByText("No invitation is open.").waitFor();
    await page.getByRole("button", { name: "Invite somebody" }).click();
    await dialog(page).getByRole("button", { name: "Send the invitation" }).click();
    await dialog(page).getByText("Enter an e-mail address.").waitFor();
    await clean(page);
    await dialog(page).getByLabel("E-mail address").fill("Guest@example.org");
    await dialog(page).getByRole("radio", { name: "Administrator" }).check();
    await dialog(page).getByLabel("Language of the mail").selectOption("de");
    await dialog(page).getByRole("button", { name: "Send the invitation" }).click();
    await told(page, "Guest@example.org is invited.");
    await row(page, "Guest@example.org").getByText("Administrator").waitFor();
    const mail = (await app.mail()).find(({ to }) => to.email === "Guest@example.org");
    expect(mail?.text).toContain("Administrator");
    await clean(page);

    await page.getByRole("button", { name: "Mail again to Guest@example.org" }).click();
    await page.getByRole("alert").getByText("less than a minute ago").waitFor();
    await page.getByRole("alert").getByText("Request id").waitFor();
    await page.getByRole("button", { name: "Revoke the invitation of Guest@example.org" }).click();
    await dialog(page).getByRole("button", { name: "Revoke" }).click();
    await page.getByText("No invitation is open.").waitFor();
  });

  test("get another role, with a question before it is an owner's; the last owner stays and is told why", async () => {
    const max = await person(app, "Max", "member");
    const page = await open("members");
    await row(page, "Olive Owner").getByText("The only owner.").waitFor();
    expect(await row(page, "Olive Owner").getByRole("combobox").count()).toBe(0);
    const role = page.getByRole("combobox", { name: "Role of Max" });
    await role.selectOption("admin");
    await page.getByRole("dialog").getByRole("button", { name: "Make administrator" }).click();
    await told(page, "Max is Administrator now.");
    await role.selectOption("owner");
    await dialog(page).getByRole("button", { name: "Cancel" }).click();
    await expect.poll(() => role.inputValue(), patient).toBe("admin");
    await role.selectOption("owner");
    await dialog(page).getByRole("button", { name: "Make owner" }).click();
    await told(page, "Max is Owner now.");
    // With a second one the first may go.
    await page.getByRole("combobox", { name: "Role of Olive Owner" }).waitFor();
    await clean(page);
    await page.getByRole("button", { name: "Remove Max" }).click();
    await dialog(page).getByText(max.email).waitFor();
    await dialog(page).getByRole("button", { name: "Remove" }).click();
    await told(page, "Max is no longer a member.");
    expect((await max.as("GET", "/v1/envelopes")).status).toBe(403);
  });

  test("an invitation that is under way keeps its dialog, and a dialog that closes gives the focus back", async () => {
    const mona = await person(app, "Mona", "member");
    const page = await open("members", undefined, intercepted);
    const opener = page.getByRole("button", { name: "Invite somebody" });
    const hasFocus = (locator: typeof opener) => locator.evaluate((one) => one === document.activeElement);
    await opener.press("Enter");
    await dialogReady(page);
    await dialog(page).getByLabel("E-mail address").fill("held@example.org");
    let refuse: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      refuse = resolve;
    });
    await page.route("**/auth/organization/invitations", async (route) => {
      if (route.request().method() !== "POST") return await route.continue();
      await held;
      await route.abort();
    });
    const asked = page.waitForRequest((one) => one.method() === "POST" && one.url().endsWith("/invitations"));
    await page.keyboard.press("Enter");
    await asked;
    // Drawn as busy a moment after the request went out.
    const close = dialog(page).getByRole("button", { name: "Close", exact: true });
    await expect.poll(() => close.isDisabled(), patient).toBe(true);
    await page.keyboard.press("Escape");
    refuse();
    await dialog(page).getByRole("alert").waitFor();
    expect(await dialog(page).getByLabel("E-mail address").inputValue()).toBe("held@example.org");
    await page.keyboard.press("Escape");
    await dialog(page).waitFor({ state: "detached" });
    await expect.poll(() => hasFocus(opener), patient).toBe(true);
    // The first question of a visit, whose dialog is loaded for it.
    const remove = page.getByRole("button", { name: "Remove Mona" });
    await remove.press("Enter");
    await dialog(page).getByText(mona.email).waitFor();
    await page.keyboard.press("Escape");
    await dialog(page).waitFor({ state: "detached" });
    await expect.poll(() => hasFocus(remove), patient).toBe(true);
    // A row that goes leaves the keyboard on the page, not at its beginning.
    await page.keyboard.press("Enter");
    await dialogReady(page);
    await dialog(page).getByRole("button", { name: "Remove" }).press("Enter");
    await told(page, "Mona is no longer a member.");
    await row(page, "Mona").waitFor({ state: "detached" });
    await expect
      .poll(() => page.evaluate("document.activeElement?.closest('.settings-page')?.className"), patient)
      .toBe("settings-page");
  });

  test.each(["Cancel", "Escape", "signing in"])(
    "a sign-in that is asked for over a dialog leaves it as it is: %s",
    async (way) => {
      const page = await open("members", undefined, intercepted);
      await page.getByRole("button", { name: "Invite somebody" }).press("Enter");
      await dialogReady(page);
      const form = page.getByRole("dialog", { name: "Invite somebody" });
      await form.getByLabel("E-mail address").fill("later@example.org");
      const refusal = { type: "about:blank", title: "Sign in again", status: 403, code: "fresh-sign-in-required" };
      const body = JSON.stringify({ ...refusal, detail: "Sign in again.", instance: "/", requestId: "req_1" });
      let calls = 0;
      await page.route("**/auth/organization/invitations", async (route) => {
        if (route.request().method() !== "POST") return await route.continue();
        calls += 1;
        if (calls > 1) return await route.abort();
        await route.fulfill({ status: 403, contentType: "application/problem+json", body });
      });
      const send = form.getByRole("button", { name: "Send the invitation" });
      await send.press("Enter");
      const again = page.getByRole("dialog", { name: "Sign in again" });
      await again.locator(":focus").waitFor();
      if (way === "Cancel") await again.getByRole("button", { name: way }).press("Enter");
      else if (way === "Escape") await page.keyboard.press(way);
      else {
        await again.getByRole("button", { name: "E-mail me a code" }).press("Enter");
        const input = again.getByLabel("Six-digit code");
        await input.waitFor();
        await input.fill(await codeFor(app, "owner@example.com"));
      }
      await again.waitFor({ state: "detached" });
      if (way === "signing in") await form.getByRole("alert").waitFor();
      expect(await form.getByLabel("E-mail address").inputValue()).toBe("later@example.org");
      await expect.poll(() => form.evaluate((one) => one.contains(document.activeElement)), patient).toBe(true);
    },
  );

  test("who administrate change no owners; plain members manage nobody", async () => {
    const admin = await person(app, "Ada", "admin");
    const page = await open("members", admin.id);
    await row(page, "Olive Owner").getByText("Only owners change the role of an owner.").waitFor();
    expect(await page.getByRole("combobox", { name: "Role of Ada" }).locator("option").allTextContents()).toEqual([
      "Administrator",
      "Member",
    ]);
    const plain = await person(app, "Paul", "member");
    const other = await open("members", plain.id);
    await other.getByRole("heading", { name: "Members are managed by owners and administrators" }).waitFor();
    expect(await sections(other)).toEqual(["My account", "Organization"]);
    await clean(other);
  });
});

describe("the organization", () => {
  test("is renamed, its zone found by a part of the name; leaving unsaved is asked about", async () => {
    const page = await open("organization");
    expect(await sections(page)).toEqual([
      "My account",
      "Organization",
      "Members",
      "API keys",
      "Webhooks",
      "Activity",
      "Branding (later)",
    ]);
    const form = page.locator("form").filter({ has: page.getByLabel("Address for notices") });
    const save = form.getByRole("button", { name: "Save" });
    expect(await save.isDisabled()).toBe(true);
    await page.getByLabel("Name").fill("Renamed AG");
    await page.getByLabel("Address for notices").fill("nobody");
    await save.click();
    await page.getByText("Enter an e-mail address, or nothing.").waitFor();
    await clean(page);
    await page.getByLabel("Address for notices").fill("office@example.com");
    const zone = page.getByRole("combobox", { name: "Time zone" });
    await zone.fill("zuri");
    await page.getByRole("option", { name: "Europe/Zurich" }).click();
    await page.getByRole("link", { name: "Members", exact: true }).click();
    await dialog(page).getByRole("button", { name: "Stay on this page" }).click();
    await save.click();
    await told(page, "Saved.");
    await page.locator("aside").getByText("Renamed AG").waitFor();
    await page.getByRole("link", { name: "Activity" }).click();
    const entry = page.locator(".audit-list > li").first();
    await entry.getByText("Olive Owner changed the organization.").waitFor();
    expect(await entry.getByRole("listitem").allTextContents()).toEqual([
      "Name: Example Ltd → Renamed AG",
      "Time zone: UTC → Europe/Zurich",
      "Address for notices: nothing → office@example.com",
    ]);
    await clean(page);
  });

  test("keeps what is typed while it is being saved, and while it cannot be fetched anew", async () => {
    const page = await open("organization", undefined, intercepted);
    const name = page.getByLabel("Name");
    const notified = page.getByLabel("Address for notices");
    await name.fill("Lindenhof");
    let go: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      go = resolve;
    });
    await page.route("**/auth/organization", async (route) => {
      if (route.request().method() === "PATCH") await held;
      await route.continue();
    });
    const asked = page.waitForRequest((one) => one.method() === "PATCH");
    await page.getByRole("button", { name: "Save", exact: true }).first().click();
    await asked;
    await notified.fill("office@example.org");
    go();
    await told(page, "Saved.");
    expect(await notified.inputValue()).toBe("office@example.org");
    // The network comes back, but the first answer over it does not.
    const lost = page.waitForEvent(
      "requestfailed",
      (one) => one.method() === "GET" && one.url().endsWith("/v1/organization/settings"),
    );
    await page.route("**/v1/organization/settings", (route) => route.abort());
    await page.evaluate("window.dispatchEvent(new Event('offline')); window.dispatchEvent(new Event('online'))");
    await lost;
    expect(await notified.inputValue()).toBe("office@example.org");
  });

  test("is left by a member, and not by its only owner", async () => {
    const owner = await open("organization");
    await owner.getByText("You are the only owner of").waitFor();
    expect(await owner.getByRole("button", { name: "Leave the organization" }).count()).toBe(0);
    const lea = await person(app, "Lea", "member");
    const page = await open("organization", lea.id);
    await page.getByText("Owners and administrators change these settings.").waitFor();
    await clean(page);
    await page.getByRole("button", { name: "Leave the organization" }).click();
    await dialog(page).getByRole("button", { name: "Leave" }).click();
    await page.getByRole("heading", { name: "You are in no organization" }).waitFor();
    expect((await lea.as("GET", "/auth/session")).body).toMatchObject({ organizations: [] });
  });
});

test("the record shows older entries on demand, in sentences", async () => {
  const ann = await person(app, "Ann", "admin");
  for (let index = 0; index < 16; index += 1) {
    await ann.as("PATCH", "/auth/organization", { name: `Name ${index}` });
    await ann.as("PATCH", "/auth/organization", { name: "Renamed AG" });
  }
  const page = await open("audit");
  const entries = page.locator(".audit-list > li");
  await entries.first().waitFor();
  expect(await entries.count()).toBe(30);
  await page.getByRole("button", { name: "Show more" }).click();
  await page.getByText("Ann joined as administrator.").waitFor();
  const sentences = await entries.locator("p:first-child").allTextContents();
  for (const sentence of sentences) expect(sentence).not.toMatch(/_|\{\{|undefined/);
  await clean(page);
});

test("on a phone the pages fit, dark and in German too", async () => {
  for (const [options, heading] of [
    [{ ...phone, colorScheme: "dark" as const }, "Members"],
    [{ ...phone, locale: "de-CH" }, "Mitglieder"],
  ] as const) {
    const page = await open("members", undefined, options);
    await page.getByRole("heading", { level: 1, name: heading }).waitFor();
    await row(page, "Olive Owner").waitFor();
    await clean(page);
    for (const section of ["organization", "audit"]) {
      await page.goto(`${app.url}/settings/${section}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.locator("form, .audit-list").first().waitFor();
      await clean(page);
    }
  }
});
