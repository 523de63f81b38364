import type { Browser, BrowserContextOptions, Page } from "playwright";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { buildApps } from "../../scripts/build-apps.ts";
import { joinOrganization } from "../../server/features/identity/memberships.ts";
import type { TestAppliance } from "../harness/appliance.ts";
import { desktop, launch, phone, seriousFindings, shareOf, type Visit, visit } from "../harness/page.ts";
import {
  addPerson,
  auth,
  codeFor,
  goodPassword,
  mailsTo,
  newClient,
  otherPassword,
  startSignIn,
  tokenFor,
  wrongCode,
} from "../harness/sign-in.ts";

/** Every way into the dashboard and out of it, in a real browser. */

let app: TestAppliance;
let browser: Browser;
let email: string;
let user: string;
let visits: Visit[] = [];

beforeAll(async () => {
  await buildApps();
  app = await startSignIn();
  browser = await launch();
});
beforeEach(async () => {
  ({ email, id: user } = await addPerson(app));
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

async function open(path: string, options: BrowserContextOptions = desktop): Promise<Page> {
  const opened = await visit(browser, { ...options, extraHTTPHeaders: { "x-forwarded-for": newClient() } });
  visits.push(opened);
  await opened.page.goto(app.url + path);
  await opened.page.locator("h1").waitFor();
  return opened.page;
}

/** Address and password into the form. */
async function enterPassword(page: Page, password = goodPassword): Promise<void> {
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

const accountIsOpen = (page: Page) => page.getByRole("heading", { name: "Your account" }).waitFor();
/** What the button of oneself opens. */
const panel = (page: Page) => page.locator(".disclosure-panel");
const pathOf = (page: Page) => new URL(page.url()).pathname;
const join = () =>
  app.deps.db.tx((tx) =>
    joinOrganization(tx, app.deps, app.organization, { id: user, email, name: "Pia" }, "member", null),
  );

describe("sign-in", () => {
  test("a password leads to where one wanted to go; a wrong one is told in place", async () => {
    const page = await open("/settings/account?x=1");
    expect(pathOf(page)).toBe("/sign-in");
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByText("Enter an e-mail address").waitFor();
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute("name"))).toBe("email");
    await enterPassword(page, "not the password");
    await page.getByRole("alert").getByText("is not right").waitFor();
    await enterPassword(page);
    await accountIsOpen(page);
    expect(pathOf(page)).toBe("/settings/account");
    // Who is in goes on, and to no other site.
    await page.goto(`${app.url}/sign-in?returnTo=//evil.example/`);
    await page.locator("main h1").waitFor();
    expect(page.url()).toBe(`${app.url}/`);
  });

  test("the keyboard alone is enough", async () => {
    const page = await open("/sign-in?returnTo=/settings/account");
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Skip to the content");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    await page.keyboard.type(email);
    await page.keyboard.press("Tab");
    await page.keyboard.type(goodPassword);
    await page.keyboard.press("Enter");
    await accountIsOpen(page);
  });

  test("a mailed code, after a wrong one", async () => {
    const page = await open("/sign-in?returnTo=/settings/account");
    await page.getByLabel("E-mail address").fill(email);
    await page.getByRole("button", { name: "E-mail me a code" }).click();
    const input = page.getByLabel("Six-digit code");
    await input.waitFor();
    expect(await input.getAttribute("autocomplete")).toBe("one-time-code");
    expect(await input.getAttribute("inputmode")).toBe("numeric");
    const code = await codeFor(app, email);
    await input.fill(wrongCode(code));
    await page.getByRole("alert").waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    // The last digit sends it.
    await input.fill("");
    await input.pressSequentially(code);
    await accountIsOpen(page);
  });

  test("a mailed link, by one press, only once", async () => {
    const page = await open("/sign-in?returnTo=/settings/account");
    await page.getByLabel("E-mail address").fill(email);
    await page.getByRole("button", { name: "E-mail me a link" }).click();
    await page.getByRole("heading", { name: "Look into your mailbox" }).waitFor();
    const token = await tokenFor(app, email, "magic_link");
    const other = await open(`/magic#${token}`);
    expect(other.url()).toBe(`${app.url}/magic`);
    await other.getByRole("button", { name: "Sign in", exact: true }).click();
    await accountIsOpen(other);
    // A link that has served says so before anybody presses anything.
    const late = await open(`/magic#${token}`);
    await late.getByRole("alert").waitFor();
    await late.getByRole("link", { name: "Go to the sign-in" }).waitFor();
  });

  test("a problem from elsewhere is explained, not repeated", async () => {
    const page = await open("/sign-in?problem=social-cancelled");
    await page.getByRole("alert").getByText("The sign-in was cancelled").waitFor();
    const unknown = await open("/sign-in?problem=%3Cb%3Eyour+bank%3C/b%3E");
    expect(await unknown.getByRole("alert").textContent()).not.toContain("bank");
  });
});

test("a forgotten password is replaced", async () => {
  const page = await open("/sign-in");
  await page.getByRole("link", { name: "Forgot password?" }).click();
  await page.getByRole("heading", { name: "Forgot your password?" }).waitFor();
  // The navigation is told by the heading, which gets the focus once it is drawn.
  await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe("H1");
  await page.getByLabel("E-mail address").fill(email);
  await page.getByRole("button", { name: "E-mail me the link" }).click();
  await page.getByText("a link is on its way").waitFor();
  const token = await tokenFor(app, email, "password_reset");
  const reset = await open(`/password/reset#${token}`);
  expect(reset.url()).toBe(`${app.url}/password/reset`);
  const input = reset.getByLabel("New password");
  expect(await input.getAttribute("autocomplete")).toBe("new-password");
  await input.fill("short");
  await reset.getByRole("button", { name: "Save password" }).click();
  await reset.getByText("Use at least 12 characters.").waitFor();
  await input.fill(otherPassword);
  await reset.getByRole("button", { name: "Save password" }).click();
  await reset.getByRole("heading", { name: "Your password is set" }).waitFor();
  await reset.getByRole("link", { name: "Sign in" }).click();
  await enterPassword(reset, otherPassword);
  await reset.getByRole("heading", { name: "You are in no organization" }).waitFor();
});

describe("invitations", () => {
  async function invite(address: string): Promise<string> {
    const cookie = await app.signIn();
    const { status } = await auth(
      app,
      "/auth/organization/invitations",
      { email: address, role: "member" },
      { cookie },
    );
    expect(status).toBe(201);
    return await tokenFor(app, address, "invitation");
  }

  test("a new person chooses a password and is in", async () => {
    const page = await open(`/invite#${await invite("new.person@example.com")}`);
    expect(page.url()).toBe(`${app.url}/invite`);
    await page.getByRole("heading", { name: "Join Example Ltd" }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByLabel("Your name").fill("Nora New");
    await page.getByLabel("Password", { exact: true }).fill(goodPassword);
    await page.getByRole("button", { name: "Create account and join" }).click();
    await page.getByText("Nora New").first().waitFor();
    expect(pathOf(page)).toBe("/");
  });

  test("a person with an account signs in and is in; a dead link says so", async () => {
    const token = await invite(email);
    const page = await open(`/invite#${token}`);
    await page.getByText("There is an account for this address").waitFor();
    await page.getByLabel("Password", { exact: true }).fill(goodPassword);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("link", { name: "Envelopes" }).first().waitFor();
    const again = await open(`/invite#${token}`);
    await again.getByRole("alert").getByText("not valid any more").waitFor();
  });

  test("somebody else who is signed in here is asked to leave first", async () => {
    const page = await open("/sign-in?returnTo=/settings/account");
    await enterPassword(page);
    await accountIsOpen(page);
    await page.goto(`${app.url}/invite#${await invite("someone.else@example.com")}`);
    await page.getByText(`You are signed in as ${email}`).waitFor();
    await page.getByRole("button", { name: "Sign out and go on" }).click();
    await page.getByLabel("Your name").waitFor();
  });
});

describe("the session", () => {
  test("that ends while somebody works is renewed over the page, and the call is repeated", async () => {
    await join();
    const page = await open("/sign-in?returnTo=/settings/account");
    await enterPassword(page);
    await accountIsOpen(page);
    const name = page.getByLabel("Name", { exact: true });
    await name.fill("Pia Renamed");
    const cookie = await app.signIn(user);
    expect((await auth(app, "/auth/sessions", undefined, { cookie, method: "DELETE" })).status).toBe(204);
    await page.getByRole("button", { name: "Save", exact: true }).first().click();
    const dialog = page.getByRole("dialog", { name: "Your session has ended" });
    await dialog.waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await dialog.getByLabel("Password", { exact: true }).fill(goodPassword);
    await dialog.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByText("Your profile is saved.").waitFor();
    expect(await name.inputValue()).toBe("Pia Renamed");
  });

  test("ends by signing out, also for the way back", async () => {
    const page = await open("/sign-in?returnTo=/settings/account");
    await enterPassword(page);
    await accountIsOpen(page);
    await page.getByRole("button", { name: /Account and display/ }).click();
    await panel(page).getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
  });
});

describe("the frame", () => {
  test("test mode is a band over the whole width, for this tab, and announced", async () => {
    await join();
    const page = await open("/sign-in?returnTo=/settings/account");
    await enterPassword(page);
    await accountIsOpen(page);
    await page.locator(".mode-switch").getByText("Test", { exact: true }).click();
    const band = page.getByRole("status").filter({ hasText: "Test mode" });
    await band.waitFor();
    expect((await band.boundingBox())?.width).toBe(1280);
    expect(await seriousFindings(page)).toEqual([]);
    await page.reload();
    await band.waitFor();
    await page.getByRole("button", { name: "Go to live" }).click();
    await band.waitFor({ state: "detached" });
  });

  test("keys lead through the rooms, and can be switched off", async () => {
    await join();
    const page = await open("/sign-in?returnTo=/settings/account");
    await enterPassword(page);
    await accountIsOpen(page);
    await page.locator("body").press("?");
    const help = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await help.getByLabel("Use single keys as shortcuts").waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await help.waitFor({ state: "hidden" });
    // They count as one within a second and a half, which a busy machine may need for each of them.
    const goToTemplates = async () => {
      await page.keyboard.press("g");
      await page.keyboard.press("t");
      return pathOf(page);
    };
    await expect.poll(goToTemplates, { timeout: 100_000 }).toBe("/templates");
    await page.getByRole("heading", { name: "Templates", level: 1 }).waitFor();
    expect(await page.title()).toContain("Templates");
    await page.getByRole("button", { name: /Account and display/ }).click();
    await page.getByRole("button", { name: /Keyboard shortcuts/ }).click();
    await help.getByLabel("Use single keys as shortcuts").uncheck({ force: true });
    await page.keyboard.press("Escape");
    await help.waitFor({ state: "hidden" });
    await page.keyboard.press("g");
    await page.keyboard.press("e");
    expect(pathOf(page)).toBe("/templates");
  });

  test("the person's language is the page's, wherever they sign in", async () => {
    const first = await open("/sign-in?returnTo=/settings/account");
    await enterPassword(first);
    await accountIsOpen(first);
    await first.getByRole("button", { name: /Account and display/ }).click();
    await panel(first).getByRole("radio", { name: "Deutsch" }).click();
    await first.getByRole("link", { name: "Einstellungen" }).waitFor();
    expect(await first.evaluate(() => document.documentElement.lang)).toBe("de");
    const elsewhere = await open("/sign-in?returnTo=/settings/account");
    await enterPassword(elsewhere);
    await elsewhere.getByRole("link", { name: "Einstellungen" }).waitFor();
    const ofBrowser = await open("/sign-in", { ...desktop, locale: "de-CH" });
    await ofBrowser.getByRole("heading", { name: "Anmelden" }).waitFor();
  });

  test("a phone has the rooms behind one button", async () => {
    await join();
    const page = await open("/sign-in?returnTo=/settings/account", phone);
    await enterPassword(page);
    await accountIsOpen(page);
    await page.getByRole("button", { name: "Menu" }).click();
    const drawer = page.getByRole("dialog");
    await drawer.getByRole("link", { name: "Templates" }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await drawer.getByRole("link", { name: "Templates" }).click();
    await page.waitForURL(`${app.url}/templates`);
    await drawer.waitFor({ state: "detached" });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(375);
  });

  test("a person in no organization is told what to do", async () => {
    const page = await open("/sign-in");
    await enterPassword(page);
    await page.getByRole("heading", { name: "You are in no organization" }).waitFor();
    await page.getByRole("heading", { name: "Ask for an invitation" }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });
});

test("sign-up is open only where the appliance allows it", async () => {
  const page = await open("/sign-up");
  await page.getByText("by invitation only").waitFor();
  expect(await page.getByLabel("E-mail address").count()).toBe(0);
  const free = await startSignIn({ env: { SIGNET_SIGN_UP: "open" } });
  try {
    await page.goto(`${free.url}/sign-up`);
    await page.getByLabel("Your name").fill("Fred Free");
    await page.getByLabel("E-mail address").fill("fred@example.com");
    await page.getByLabel("Password", { exact: true }).fill(goodPassword);
    await page.getByRole("button", { name: "Create account" }).click();
    const input = page.getByLabel("Six-digit code");
    await input.waitFor();
    await input.fill(await codeFor(free, "fred@example.com"));
    await page.getByRole("heading", { name: "You are in no organization" }).waitFor();
    await page.getByLabel("Name", { exact: true }).fill("Free & Sons");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByText("Free & Sons").first().waitFor();
    expect(z.array(z.unknown()).parse(await mailsTo(free, "fred@example.com"))).toHaveLength(1);
  } finally {
    await free.stop();
  }
});

const looks = [
  { ...desktop, colorScheme: "light" as const },
  { ...desktop, colorScheme: "dark" as const },
  { ...phone, colorScheme: "light" as const },
];
const places = [
  "/sign-in",
  "/sign-up",
  "/first-owner",
  "/first-owner#svcf_0000000000000000",
  "/invite",
  "/invite#svci_0000000000000000",
  "/magic",
  "/magic#svcm_0000000000000000",
  "/password/forgot",
  "/password/reset",
  "/password/reset#svcr_0000000000000000",
  "/settings/nowhere",
];

describe.each(looks)("in $colorScheme", (look) => {
  const { width } = look.viewport;
  test.each(shareOf(look, looks, places))(`%s is accessible at ${width} px`, async (path) => {
    const page = await open(path, look);
    await page.getByRole("status").filter({ hasText: "Loading" }).waitFor({ state: "detached" });
    expect(page.url()).not.toContain("#");
    expect(await seriousFindings(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  });
});
