import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Browser, Page } from "playwright";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildApps } from "../../scripts/build-apps.ts";
import { type IdentityProvider, startIdentityProvider } from "../harness/identity-provider.ts";
import { desktop, dialogReady, launch, phone, seriousFindings, type Visit, visit } from "../harness/page.ts";
import { type SmtpSink, startSmtpSink } from "../harness/smtp.ts";
import { agreementPdf } from "./agreement.ts";
import { drawn, finish } from "./steps.ts";

/**
 * The dashboard from the first start to a sealed document, as people use it: a process of its own, a real mail server, a real
 * browser for each person, and a real identity provider.
 */

let folder: string;
let sink: SmtpSink;
let idp: IdentityProvider;
let server: ChildProcess;
let browser: Browser;
let url: string;
let owner: Visit;
const visits: Visit[] = [];

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  if (address === null || typeof address === "string") throw new Error("there is no free port");
  return address.port;
}

beforeAll(async () => {
  await buildApps();
  folder = await mkdtemp(path.join(tmpdir(), "signet-dashboard-"));
  [sink, idp, browser] = await Promise.all([startSmtpSink(), startIdentityProvider(), launch()]);
  const port = await freePort();
  // A name: passkeys are bound to one, and mails with links to loopback addresses are held back. Browsers keep it on this machine.
  url = `http://signet.localhost:${port}`;
  idp.serve(url);
  server = spawn(process.execPath, [path.resolve(import.meta.dirname, "../../server/main.ts"), "serve"], {
    env: {
      PATH: process.env.PATH ?? "",
      SIGNET_DATA_DIR: folder,
      SIGNET_PORT: String(port),
      SIGNET_BASE_URL: url,
      SIGNET_SMTP_URL: sink.url,
      SIGNET_LOG_LEVEL: "warn",
      SIGNET_ANCHOR_INTERVAL_SECONDS: "1",
      ...idp.env("google"),
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
});

afterAll(async () => {
  for (const { context } of visits) await context.close();
  await browser?.close();
  if (server && server.exitCode === null) {
    server.kill("SIGTERM");
    await once(server, "exit");
  }
  await Promise.all([sink?.close(), idp?.stop()]);
  await rm(folder, { recursive: true, force: true });
});

async function newVisit(options: Parameters<typeof visit>[1] = desktop): Promise<Visit> {
  const made = await visit(browser, options);
  visits.push(made);
  return made;
}

/** The first match of the pattern in a mail to the address, once one has arrived. */
async function mailed(to: string, pattern: RegExp): Promise<string> {
  let found: string | undefined;
  await expect
    .poll(
      () => {
        const texts = sink.received.filter((mail) => mail.to.includes(to)).map(({ mail }) => mail.text ?? "");
        found = texts
          .toReversed()
          .map((text) => pattern.exec(text)?.[0])
          .find((match) => match !== undefined);
        return found;
      },
      { timeout: 120_000, interval: 50 },
    )
    .toBeTruthy();
  return found ?? "";
}

const linkTo = (place: string) => new RegExp(`${url.replaceAll(".", "\\.")}/${place}#\\w+`);
const heading = (page: Page, name: string | RegExp) => page.getByRole("heading", { level: 1, name });
const button = (page: Page, name: string | RegExp) =>
  page.getByRole("button", { name, exact: typeof name === "string" });

async function clean({ page, troubles }: Visit): Promise<void> {
  expect(await seriousFindings(page)).toEqual([]);
  expect(troubles.filter((trouble) => !trouble.includes("signet.localhost"))).toEqual([]);
}

test("the link of the first start makes the first owner", async () => {
  if (!server.stdout) throw new Error("the server has no standard output");
  let printed = "";
  for await (const chunk of server.stdout) {
    printed += String(chunk);
    if (printed.includes("first-link")) break;
  }
  expect(printed).toContain(`Signet is ready at ${url}`);
  const link = linkTo("first-owner").exec(printed)?.[0] ?? "";
  owner = await newVisit();
  const { page } = owner;
  await page.goto(link);
  await page.getByLabel("Organization").fill("Lindenhof Estates");
  await page.getByLabel("Your name").fill("Olive Owner");
  await page.getByLabel("E-mail address").fill("olive@lindenhof.example");
  await page.getByLabel("Password", { exact: true }).fill("a garden with seven old lime trees");
  await clean(owner);
  await button(page, "Create organization").click();
  await heading(page, "Welcome, Olive")
    .or(heading(page, /Welcome/))
    .first()
    .waitFor();
  expect(page.url()).toBe(`${url}/`);
  await clean(owner);
  // The link has served.
  const late = await newVisit();
  await late.page.goto(link);
  await late.page.getByLabel("Organization").fill("Thieves Ltd");
  await late.page.getByLabel("Your name").fill("T");
  await late.page.getByLabel("E-mail address").fill("t@thieves.example");
  await late.page.getByLabel("Password", { exact: true }).fill("another long enough password");
  await button(late.page, "Create organization").click();
  await late.page.getByRole("alert").first().waitFor();
});

test("the owner invites a colleague, who creates an account from the mail", async () => {
  const { page } = owner;
  await page.goto(`${url}/settings/members`);
  await button(page, "Invite somebody").click();
  await page.getByLabel("E-mail address").fill("mia@lindenhof.example");
  await button(page, "Send the invitation").click();
  await page.getByText("mia@lindenhof.example").first().waitFor();
  const link = await mailed("mia@lindenhof.example", linkTo("invite"));
  const mia = await newVisit({ ...desktop, colorScheme: "dark" });
  await mia.page.goto(link);
  await heading(mia.page, "Join Lindenhof Estates").waitFor();
  await mia.page.getByLabel("Your name").fill("Mia Member");
  await mia.page.getByLabel("Password", { exact: true }).fill("mia likes long sentences best");
  await clean(mia);
  await button(mia.page, "Create account and join").click();
  await heading(mia.page, /Welcome|Overview/).waitFor();
  // A member sees no keys and no members.
  await mia.page.goto(`${url}/settings/members`);
  await mia.page.getByText("Members are managed by owners and administrators").waitFor();
  await page.reload();
  await page.getByText("Mia Member").first().waitFor();
});

test("an API key works at once, and not after it is revoked", async () => {
  const { page } = owner;
  await page.goto(`${url}/settings/keys`);
  await button(page, "Create a key").first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name", { exact: true }).fill("Billing system");
  await button(page, "Create the key").click();
  const key = await page.getByRole("dialog").getByLabel("API key", { exact: true }).inputValue();
  expect(key).toMatch(/^svc_live_\w+$/);
  await clean(owner);
  const call = async () =>
    await page.evaluate(
      async (token) =>
        (await fetch("/v1/templates", { credentials: "omit", headers: { authorization: `Bearer ${token}` } })).status,
      key,
    );
  expect(await call()).toBe(200);
  await button(page, "I have kept the key").click();
  await button(page, "Yes, close").click();
  await button(page, /Revoke the key Billing system/).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke the key", exact: true }).click();
  await page.getByText("The key “Billing system” is revoked.").waitFor();
  expect(await call()).toBe(401);
});

let template: string;
test("a PDF becomes a published template", async () => {
  const { page } = owner;
  await page.goto(`${url}/templates`);
  await button(page, "New template").first().click();
  await dialogReady(page);
  await page.getByLabel("Name of the template").fill("Rental agreement");
  await page
    .locator("input[type=file]")
    .setInputFiles({ name: "agreement.pdf", mimeType: "application/pdf", buffer: Buffer.from(await agreementPdf()) });
  await page.getByRole("dialog").getByRole("button", { name: "Create", exact: true }).click();
  await heading(page, "Rental agreement").waitFor();
  await drawn(page);
  await page
    .getByRole("group", { name: "Add a field" })
    .getByRole("button", { name: "Signature", exact: true })
    .click();
  await page
    .locator("[data-page='1']")
    .first()
    .click({ position: { x: 120, y: 300 } });
  await page.getByText("All changes saved").waitFor();
  await clean(owner);
  await button(page, "Publish").click();
  await page.getByText("Version 1 is published.").waitFor();
  template = page.url().split("/").at(-1)?.split("?")[0] ?? "";
  expect(template).toMatch(/^tpl_/);
});

const people = Array.from({ length: 20 }, (_, index) => `person${index + 1}@example.org`);
test("a file with twenty rows sends twenty envelopes", async () => {
  const { page } = owner;
  await page.goto(`${url}/bulk?template=${template}`);
  const rows = people.map((email, index) => `Person ${index + 1};${email};Flat ${index + 1}`);
  const csv = ["Signer name;Signer email;title", ...rows].join("\r\n");
  await page
    .locator("input[type=file]")
    .setInputFiles({ name: "flats.csv", mimeType: "text/csv", buffer: Buffer.from(csv) });
  await page.getByText("20 rows are ready.").waitFor();
  await clean(owner);
  await button(page, "Send 20 envelopes").click();
  await page.getByText("20 of 20 sent").waitFor({ timeout: 120_000 });
  await page.goto(`${url}/envelopes`);
  await page.getByText("Flat 20", { exact: true }).first().waitFor();
});

test("one of them is signed on a phone while the sender watches", async () => {
  const { page } = owner;
  await page.goto(`${url}/envelopes?q=${encodeURIComponent("person7@example.org")}`);
  await page.getByText("Flat 7", { exact: true }).first().click();
  await heading(page, "Flat 7").waitFor();
  await page.getByText("Out for signature").first().waitFor();
  const signer = await newVisit(phone);
  await signer.page.goto(await mailed("person7@example.org", linkTo("sign")));
  await button(signer.page, "Send the code").click();
  await signer.page.getByLabel("Your code").fill(await mailed("person7@example.org", /\b\d{6}\b/));
  await drawn(signer.page);
  await page
    .getByText(/Person 7.*opened|Person 7 (has )?read|viewed/i)
    .first()
    .waitFor();
  await button(signer.page, "Start").click();
  await signer.page.getByRole("button", { name: /^Sign here/ }).click();
  await signer.page.getByText("Type", { exact: true }).click();
  await button(signer.page, "Use this signature").click();
  await finish(signer.page);
  await heading(signer.page, /Thank you|Signed and sealed/).waitFor();
  // Without a reload.
  await page.getByText("Sealed").first().waitFor({ timeout: 120_000 });
  await page.getByText("The record is complete and unchanged").waitFor();
  await clean(owner);
  const downloading = page.waitForEvent("download");
  await page
    .getByRole("button", { name: /sealed/i })
    .or(page.getByRole("link", { name: /sealed/i }))
    .first()
    .click();
  const sealed = await readFile(await (await downloading).path());
  expect(sealed.subarray(0, 5).toString("latin1")).toBe("%PDF-");
});

test("a passkey signs in without a password", async () => {
  const { page, context } = owner;
  const devtools = await context.newCDPSession(page);
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
  await page.goto(`${url}/settings/account`);
  await button(page, "Add a passkey").click();
  await page.locator("form").filter({ hasText: "So that you know later" }).getByRole("button").first().click();
  await page.getByText("The passkey is added.").waitFor();
  await clean(owner);
  await context.clearCookies();
  // The address field offers the passkey, and this authenticator takes every offer.
  await page.goto(`${url}/envelopes`);
  await heading(page, "Envelopes").waitFor();
});

test("an account elsewhere signs in, once it says that the address is its owner's", async () => {
  const mia = await newVisit();
  idp.account = { sub: "mia-at-idp", email: "mia@lindenhof.example", email_verified: false, name: "Mia" };
  await mia.page.goto(`${url}/sign-in`);
  await mia.page
    .getByRole("link", { name: /Google/ })
    .or(button(mia.page, /Google/))
    .first()
    .click();
  await mia.page.getByText("That provider has not confirmed your e-mail address.").waitFor();
  idp.account = { ...idp.account, email_verified: true };
  await mia.page
    .getByRole("link", { name: /Google/ })
    .or(button(mia.page, /Google/))
    .first()
    .click();
  await heading(mia.page, /Welcome|Overview/).waitFor();
  await mia.page.getByText("mia@lindenhof.example").first().waitFor();
});

test("who belongs to two organizations says in which each sign-in starts", async () => {
  const { page } = owner;
  await page.goto(`${url}/settings/organization`);
  await button(page, "Create an organization").click();
  await page
    .getByRole("dialog")
    .getByLabel(/Name|Organization/)
    .first()
    .fill("Lindenhof Holidays");
  await page
    .getByRole("dialog")
    .getByRole("button", { name: /Create/ })
    .click();
  await button(page, /Lindenhof Holidays/)
    .first()
    .waitFor();
  const startIn = async (organization: string) => {
    await page.goto(`${url}/settings/account`);
    await page.getByLabel("Each sign-in starts in").selectOption({ label: organization });
    await page.getByText("Your next sign-in starts there.").first().waitFor();
    await owner.context.clearCookies();
    await page.goto(`${url}/envelopes`);
    await heading(page, "Envelopes").waitFor();
    await button(page, new RegExp(organization)).first().waitFor();
  };
  await startIn("Lindenhof Holidays");
  await startIn("Lindenhof Estates");
  await clean(owner);
});
