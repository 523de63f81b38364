import type { Browser, BrowserContextOptions, Page } from "playwright";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { buildApps } from "../../scripts/build-apps.ts";
import { createPerson } from "../../server/features/identity/people.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { type IdentityProvider, startIdentityProvider } from "../harness/identity-provider.ts";
import { addSession, desktop, launch, overflow, phone, seriousFindings, type Visit, visit } from "../harness/page.ts";

/** The account page in a real browser: its own passkeys, a real provider, and what others see of a session. */

let idp: IdentityProvider;
let app: TestAppliance;
let browser: Browser;
let user: string;
let count = 0;
let visits: Visit[] = [];

beforeAll(async () => {
  await buildApps();
  idp = await startIdentityProvider();
  // A name, not a number: browsers bind passkeys to names only.
  app = await startAppliance({ env: { ...idp.env("google"), SIGNET_HOST: "localhost" } });
  idp.serve(app.url);
  browser = await launch();
});
beforeEach(async () => {
  count += 1;
  // Whatever a test that failed left behind.
  idp.agrees = true;
  const input = { email: `pia${count}@example.com`, name: "Pia Person", passwordHash: null, locale: null };
  user = await app.deps.db.tx((tx) => createPerson(tx, app.deps, input));
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
  await idp?.stop();
});

/** The account page of a person who has just signed in. */
async function account(options: BrowserContextOptions = desktop, query = ""): Promise<Page> {
  const seen = await visit(browser, options);
  visits.push(seen);
  await addSession(seen.context, app, await app.signIn(user));
  await seen.page.goto(`${app.url}/settings/account${query}`);
  return seen.page;
}

/** A device of the person that makes passkeys and verifies them. */
async function addAuthenticator(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("WebAuthn.enable");
  await devtools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

async function clean(page: Page): Promise<void> {
  expect(await seriousFindings(page)).toEqual([]);
  expect(await overflow(page)).toBe(0);
}

describe("the account page", () => {
  test("a passkey is made, named, signs in, and is removed", async () => {
    const page = await account();
    await addAuthenticator(page);
    await page.getByRole("button", { name: "Add a passkey" }).click();
    const form = page.locator("form").filter({ hasText: "So that you know later" });
    await form.getByLabel("Name").fill("Work laptop");
    await form.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("button", { name: "Rename Work laptop" }).click();
    await expect.poll(() => page.evaluate("document.activeElement?.value")).toBe("Work laptop");
    await page.keyboard.type("Old laptop");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Rename Old laptop" }).waitFor();

    // One for each device: the browser says so before the service has to.
    await page.getByRole("button", { name: "Add a passkey" }).click();
    await form.getByRole("button", { name: "Continue" }).click();
    await page.getByText("This device already holds a passkey of your account.").waitFor();
    await form.getByRole("button", { name: "Cancel" }).click();
    await clean(page);

    await page.getByRole("button", { name: "Sign out everywhere", exact: true }).click();
    // Its way leads over the start page too.
    const signedOut = page.waitForURL(`${app.url}/sign-in`);
    await page.getByRole("dialog").getByRole("button", { name: "Sign out everywhere", exact: true }).click();
    await signedOut;
    // The device offers its passkey under the address field, and nobody has to press anything.
    await page.waitForURL(`${app.url}/`);
    await page.goto(`${app.url}/settings/account`);
    await page.getByText("Passkey · signed in").waitFor();

    await page.getByRole("button", { name: "Remove Old laptop" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await page.getByText("You have no passkey yet.").waitFor();
  });

  test("an account elsewhere is connected and disconnected", async () => {
    idp.account = { sub: `s${count}`, email: "pia@private.example", email_verified: false };
    const page = await account();
    await page.getByRole("button", { name: "Connect Google" }).click();
    await page.getByText("pia@private.example").waitFor();
    expect(new URL(page.url()).pathname).toBe("/settings/account");
    await page.getByRole("button", { name: "Disconnect Google" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Disconnect" }).click();
    await page.getByText("Not connected").waitFor();

    idp.agrees = false;
    const other = await account();
    await other.getByRole("button", { name: "Connect Google" }).click();
    await other.getByText("Connecting was cancelled.").waitFor();
  });

  test("whoever signed in too long ago signs in again before an account is connected", async () => {
    idp.account = { sub: `s${count}`, email: "pia@private.example", email_verified: false };
    const page = await account();
    await page.getByRole("button", { name: "Connect Google" }).waitFor();
    await page.clock.setFixedTime(Date.now() + 11 * 60_000);
    await page.getByRole("button", { name: "Connect Google" }).click();
    await page.getByRole("dialog").waitFor();
    expect(new URL(page.url()).pathname).toBe("/settings/account");
  });

  test("a password is set, then changed with the first one; the other sessions end", async () => {
    const page = await account();
    const elsewhere = await account();
    await page.getByRole("button", { name: "Set a password" }).click();
    await page.getByLabel("New password").fill("too short");
    await page.getByText("3 characters are missing").waitFor();
    await page.getByRole("button", { name: "Save password" }).click();
    await page.getByText("Use at least 12 characters.").waitFor();
    await clean(page);
    await page.getByLabel("New password").fill("four unrelated words");
    await page.getByRole("button", { name: "Save password" }).click();
    await page.getByText("You have a password.").waitFor();

    await page.getByRole("button", { name: "Change password" }).click();
    await page.getByLabel("Current password").fill("not this one");
    await page.getByLabel("New password").fill("four other words here");
    await page.getByRole("button", { name: "Save password" }).click();
    await page.getByText("This is not your current password.").waitFor();
    await page.getByLabel("Current password").fill("four unrelated words");
    await page.getByRole("button", { name: "Save password" }).click();
    await page.getByText("Your password is changed.").waitFor();
    await elsewhere.goto(`${app.url}/settings/account`);
    await elsewhere.waitForURL(/\/sign-in/);
  });

  test("a session elsewhere is seen and ended", async () => {
    const page = await account();
    await account();
    await page.reload();
    await page.getByRole("button", { name: "Sign out Unknown device" }).click();
    await page.getByRole("button", { name: "Sign out Unknown device" }).waitFor({ state: "detached" });
    await page.getByText("This device").waitFor();
  });

  test("name and language are the person's own; what is not saved is asked about", async () => {
    const page = await account();
    await page.getByRole("textbox", { name: "Name" }).fill("Pia Neu");
    await page
      .getByRole("link", { name: "API keys" })
      .or(page.getByRole("link", { name: "Start" }))
      .first()
      .click();
    await page.getByRole("dialog", { name: "Leave without saving?" }).getByRole("button", { name: /Stay/ }).click();
    await page.getByLabel("Language", { exact: true }).selectOption("de");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("heading", { name: "Ihr Konto" }).waitFor();
    await expect.poll(() => page.getByRole("textbox", { name: "Name" }).inputValue()).toBe("Pia Neu");
  });

  test.each([
    ["desktop, dark", { ...desktop, colorScheme: "dark" as const }],
    ["phone", phone],
  ])("is readable for everybody: %s", async (_, options) => {
    const page = await account(options, "?problem=social-taken");
    await page.getByText("This account already signs another person in.").waitFor();
    await page.getByRole("button", { name: "Sign out everywhere", exact: true }).waitFor();
    await clean(page);
  });
});
