import type { Browser, BrowserContext, Page } from "playwright";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { buildApps } from "../../scripts/build-apps.ts";
import { foundOrganization } from "../../server/features/identity/memberships.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { addSession, desktop, launch, seriousFindings, type Visit, visit } from "../harness/page.ts";
import { browser as caller, person } from "../harness/people.ts";

/** Tabs of one browser share a session, and what a person may change under a page that is open. */

let app: TestAppliance;
let browser: Browser;
let visits: Visit[] = [];

beforeAll(async () => {
  await buildApps();
  app = await startAppliance();
  browser = await launch();
});

afterEach(async () => {
  await Promise.all(visits.map(({ context }) => context.close()));
  visits = [];
});

afterAll(async () => {
  await browser?.close();
  await app?.stop();
});

async function open(cookie: string, path: string): Promise<{ page: Page; context: BrowserContext }> {
  const seen = await visit(browser, desktop);
  visits.push(seen);
  await addSession(seen.context, app, cookie);
  await seen.page.goto(`${app.url}${path}`);
  await seen.page.getByRole("heading", { level: 1 }).waitFor();
  return seen;
}

let made = 0;
/** An owner of two organizations, signed in to the first. */
async function ownerOfTwo() {
  made += 1;
  const { id, email } = await person(app, `Two${made}`, "owner");
  const name = `Second ${made} Ltd`;
  const second = await app.deps.db.tx((tx) =>
    foundOrganization(tx, app.deps, { name }, id, { actor: { type: "user", id, name: "Two", email }, ip: null }),
  );
  const cookie = await app.signIn(id);
  return { id, email, name, second, cookie, as: caller(app, cookie) };
}

const told = (page: Page, text: string) => page.locator(".toast", { hasText: text }).waitFor();

describe("a page whose session works elsewhere by now", () => {
  test("does nothing there, follows, and says so", async () => {
    const { cookie, as, second, name } = await ownerOfTwo();
    const { page } = await open(cookie, "/settings/organization");
    const input = page.getByRole("textbox", { name: "Name" });
    await input.fill("Meant for the first");
    // Not by a tab of this browser, which would tell this one.
    await as("POST", "/auth/organization", { organization: second });
    await page.getByRole("button", { name: "Save", exact: true }).first().click();
    await told(page, `You work in ${name} now.`);
    await expect.poll(() => input.inputValue()).toBe(name);
    expect((await as("GET", "/v1/organization/settings")).body).toMatchObject({ name });
  });

  test("hears of it from the tab in which it happened", async () => {
    const { cookie, name } = await ownerOfTwo();
    const { page, context } = await open(cookie, "/settings/organization");
    const other = await context.newPage();
    await other.goto(app.url);
    await other.getByRole("button", { name: /Change organization/ }).click();
    await other.getByRole("button", { name: new RegExp(name) }).click();
    await told(other, `You work in ${name} now.`);
    await expect.poll(() => page.getByRole("textbox", { name: "Name" }).inputValue()).toBe(name);
  });

  test("keeps nothing of somebody who signed out in another tab", async () => {
    const { cookie } = await ownerOfTwo();
    const { page, context } = await open(cookie, "/settings/account");
    await page.evaluate(() => sessionStorage.setItem("signet.send.usr_x.tpl_x", "names"));
    const other = await context.newPage();
    await other.goto(app.url);
    await other.getByRole("button", { name: /Account and display/ }).click();
    await other.getByRole("button", { name: "Sign out" }).click();
    await other.getByRole("heading", { name: "Sign in" }).waitFor();
    await page.waitForURL(/\/sign-in/);
    expect(await page.evaluate(() => sessionStorage.getItem("signet.send.usr_x.tpl_x"))).toBeNull();
  });

  test("becomes a page of whoever signed in meanwhile", async () => {
    const { cookie, email } = await ownerOfTwo();
    const { page, context } = await open(cookie, "/settings/account");
    const next = await person(app, `Next${made}`, "member");
    await addSession(context, app, await app.signIn(next.id));
    const other = await context.newPage();
    await other.goto(app.url);
    await page.bringToFront();
    await page.evaluate(() => window.dispatchEvent(new Event("visibilitychange")));
    await page.getByText(next.email).first().waitFor();
    await expect.poll(() => page.getByText(email).count()).toBe(0);
  });
});

describe("unsaved work", () => {
  test("is asked about before one signs out", async () => {
    const { cookie, as } = await ownerOfTwo();
    const { page } = await open(cookie, "/settings/organization");
    await page.getByRole("textbox", { name: "Name" }).fill("Half a name");
    await page.getByRole("button", { name: /Account and display/ }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("dialog").getByRole("button", { name: /Stay/ }).click();
    expect(await page.getByRole("textbox", { name: "Name" }).inputValue()).toBe("Half a name");
    expect((await as("GET", "/auth/session")).status).toBe(200);
  });
});

describe("an invitation of one's own address", () => {
  test("is shown to who is in no organization, and joined by a press", async () => {
    const { as, email } = await person(app, "Lone", null);
    const owner = caller(app, await app.signIn());
    expect((await owner("POST", "/auth/organization/invitations", { email, role: "member" })).status).toBe(201);
    const user = ((await as("GET", "/auth/session")).body.user as { id: string }).id;
    const { page } = await open(await app.signIn(user), "/");
    await page.getByText("Olive Owner invites you to Example Ltd (Member).").waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole("button", { name: "Join Example Ltd" }).click();
    await told(page, "You work in Example Ltd now.");
  });

  test("stands among the organizations of who is in another one", async () => {
    const { id, second, email, name } = await ownerOfTwo();
    const owner = caller(app, await app.signIn());
    const { body } = await owner("POST", "/auth/organizations", { name: "Third Ltd" });
    expect(body).toMatchObject({ organization: { name: "Third Ltd" } });
    await owner("POST", "/auth/organization/invitations", { email, role: "member" });
    const cookie = await app.signIn(id);
    await caller(app, cookie)("POST", "/auth/organization", { organization: second });
    const { page } = await open(cookie, "/");
    await page.getByRole("button", { name: /Change organization/ }).click();
    await page.getByRole("list", { name: "You are invited" }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole("button", { name: /Third Ltd.*Join/ }).click();
    await told(page, "You work in Third Ltd now.");
    expect(name).not.toBe("Third Ltd");
  });
});

describe("less rights than the page shows", () => {
  test("show themselves at the first refusal", async () => {
    const admin = await person(app, `Demoted${made}`, "admin");
    const { page } = await open(await app.signIn(admin.id), "/settings/members");
    await page.getByRole("button", { name: "Invite somebody" }).waitFor();
    const owner = caller(app, await app.signIn());
    await owner("PATCH", `/auth/organization/members/${admin.id}`, { role: "member" });
    await page.getByRole("button", { name: "Invite somebody" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel(/E-mail/).fill("x@example.org");
    await dialog.getByRole("button", { name: "Send the invitation" }).click();
    await page.locator("main").getByRole("button", { name: "Invite somebody" }).waitFor({ state: "detached" });
  });
});

describe("a sign-in that is too old for what is asked", () => {
  test("is asked for anew over the page before an administrator is invited", async () => {
    const { cookie, id, as } = await ownerOfTwo();
    const { page } = await open(cookie, "/settings/members");
    await app.deps.db.tx((tx) =>
      tx.updateTable("sessions").set({ signed_in_at: "2020-01-01T00:00:00.000Z" }).where("user", "=", id).execute(),
    );
    await page.getByRole("button", { name: "Invite somebody" }).click();
    await page.getByLabel(/E-mail/).fill("boss@example.org");
    await page.getByRole("radio", { name: /Administrator/ }).check();
    await page.getByRole("button", { name: "Send the invitation" }).click();
    await page.getByRole("dialog", { name: /[Ss]ign in/ }).waitFor();
    expect((await as("GET", "/auth/organization/invitations")).body.data).not.toContainEqual(
      expect.objectContaining({ email: "boss@example.org" }),
    );
  });
});

test("a magic link says whose account it opens, and who is signed in here", async () => {
  const here = await ownerOfTwo();
  const there = await person(app, `Magic${made}`, "member");
  await app.json("/auth/magic-links", {
    key: null,
    method: "POST",
    json: { email: there.email },
    headers: { origin: app.url },
  });
  const mail = (await app.mail()).find(({ kind, to }) => kind === "magic_link" && to.email === there.email);
  const { page } = await open(here.cookie, new URL(mail?.link ?? "").pathname + new URL(mail?.link ?? "").hash);
  await page.getByText(`This link opens the account of ${there.email[0]}***@example.com.`).waitFor();
  await page.getByText(`You are signed in as ${here.email} here.`).waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.waitForURL(`${app.url}/`);
  await page.getByText(there.email).first().waitFor();
});
