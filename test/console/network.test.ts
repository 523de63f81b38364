import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Browser, Page } from "playwright";
import { afterAll, beforeAll, expect, test } from "vitest";
import { endDrill, endRun, insertDrill, insertRun } from "../../server/features/backup/store.ts";
import { holdAnchors } from "../../server/features/evidence/anchors/hold.ts";
import { listOperatorAudit } from "../../server/features/operators/contract.ts";
import { getAcme } from "../../server/features/tls/acme/contract.ts";
import { toTs } from "../../server/kernel/clock.ts";
import { administrator } from "../harness/admin.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { movableClock } from "../harness/clock.ts";
import { startMain } from "../harness/console-process.ts";
import { launch } from "../harness/page.ts";
import { makePebble, type Pebble } from "../harness/pebble.ts";
import { axeFinds } from "./axe.ts";
import { openConsole } from "./window.ts";

/** ACME with Debian's Pebble, anchors after a restore, and what the overview says of backups: the real bundles in Chromium. */

const host = "sign.example.com";
const hourMs = 3_600_000;
// Pebble goes by the time of the machine.
const clock = movableClock(new Date(Date.now() + 60_000).toISOString());
const folder = mkdtempSync(path.join(tmpdir(), "signet-console-network-"));
let main: Awaited<ReturnType<typeof startMain>>;
let browser: Browser;
let pebble: Pebble;
let app: TestAppliance;
let admin: ReturnType<typeof administrator>;
beforeAll(async () => {
  pebble = await makePebble();
  const to = (address: string) => `acme=${address}:${pebble.port}`;
  const env = {
    SIGNET_HOST: "0.0.0.0",
    SIGNET_BASE_URL: `https://${host}`,
    SIGNET_OUTBOUND_ALLOW: `${to("127.0.0.1")},${to("[::1]")}`,
  };
  [main, browser, app] = await Promise.all([startMain(), launch(), startAppliance({ clock, env })]);
  admin = administrator(app);
  await pebble.start({ tlsPort: app.deps.config.port });
  const contents = main.recorded.windows[0]?.webContents;
  if (!contents) throw new Error("there is no window");
  const event = { sender: contents, senderFrame: contents.mainFrame };
  const chosen = { socket: app.config.adminSocket, remote: false };
  await main.recorded.handlers.get("connection.set")?.(event, { chosen });
});
afterAll(async () => {
  await browser?.close();
  await app?.stop();
  await pebble?.close();
  main?.stop();
  rmSync(folder, { recursive: true });
});

const section = (page: Page, name: string) => page.getByRole("region", { name, exact: true });
/** Everything that is due was done, and the page asked again. */
async function settled(page: Page) {
  app.jobs.wake();
  await app.jobs.idle();
  await page.keyboard.press("F5");
}
/** The certificate is there. Whatever an authority that needs its time is given, the clock of the appliance goes on meanwhile. */
async function issued() {
  await expect
    .poll(
      async () => {
        const { state, nextAt } = await admin.call(getAcme, {});
        if ((state === "waiting" || state === "failed") && nextAt !== null)
          clock.advance(Math.max(Date.parse(nextAt) - clock.now(), 0));
        app.jobs.wake();
        return state;
      },
      { timeout: 100_000 },
    )
    .toBe("valid");
}
const agree = (page: Page, verb: string) => page.getByRole("dialog").getByRole("button", { name: verb }).click();

test("ACME is set up, its trouble says what to do, is renewed, gets another account key and is turned off", async () => {
  const { page, problems } = await openConsole(browser, main, { page: "network" });
  const acme = section(page, "Automatic certificates (ACME)");
  await acme.getByLabel("Directory URL").fill(pebble.directory);
  expect(await acme.getByLabel("Names in the certificate").inputValue()).toBe(host);
  await acme.getByLabel("Contacts (optional)").fill("it@example.com");
  await acme.getByLabel("I agree").check();
  await acme.getByLabel("Proof").selectOption("http-01");
  await acme.getByText("There is no HTTP port yet").waitFor();
  await expect.poll(() => acme.getByRole("button", { name: "Set up and ask" }).isDisabled()).toBe(true);
  await acme.getByLabel("Proof").selectOption("tls-alpn-01");
  await acme.getByLabel("Key id of an existing account").fill("customer 7");
  await acme.getByLabel("Key of that account").fill("aHVzaC1odXNo");
  await axeFinds(page, "the form");
  await acme.getByRole("button", { name: "Set up and ask" }).click();
  // Without its root the directory is not trusted; the key of the other account is gone from the page.
  await acme.getByRole("alert").getByText("--root FILE").waitFor();
  await expect.poll(() => acme.getByLabel("Key of that account").inputValue()).toBe("");
  expect(await page.content()).not.toContain("aHVzaC1odXNo");
  await acme.getByLabel("Key id of an existing account").fill("");
  const root = path.join(folder, "root.pem");
  writeFileSync(root, pebble.rootPem);
  main.recorded.dialogAnswer = { canceled: false, filePaths: [root] };
  await acme.getByRole("button", { name: "Pick the authority's root" }).click();
  await acme.getByText("root.pem").waitFor();
  pebble.fault = async ({ path: at }) =>
    at.startsWith("/order-plz")
      ? {
          status: 429,
          headers: { "content-type": "application/problem+json" },
          body: JSON.stringify({ type: "urn:ietf:params:acme:error:rateLimited", detail: "too many certificates" }),
        }
      : undefined;
  await acme.getByRole("button", { name: "Set up and ask" }).click();
  await acme.getByText("checked against the root that you gave").waitFor();
  await settled(page);
  await acme.getByText("The authority says: too many certificates").waitFor();
  await acme.getByText("The authority wants fewer requests").waitFor();
  await acme.getByText("Failed, and is tried again").waitFor();
  await axeFinds(page, "trouble");
  const german = await openConsole(browser, main, { page: "network", locale: "de-DE" });
  await german.page.getByText("Die Zertifizierungsstelle sagt: too many certificates").waitFor();
  await german.page.getByText("Die Zertifizierungsstelle will weniger Anfragen").waitFor();
  expect(german.problems).toEqual([]);
  await german.page.context().close();

  pebble.fault = null;
  await acme.getByRole("button", { name: "Renew now" }).click();
  await agree(page, "Renew now");
  await page.getByText("A new certificate is being asked for").first().waitFor();
  await settled(page);
  await acme.getByText("Renewed by itself").waitFor();
  await section(page, "In use").getByText("By ACME").waitFor();
  await axeFinds(page, "a certificate by ACME");

  // Whoever has another certificate served pauses it: that one is not replaced unasked.
  await section(page, "In use").getByRole("button", { name: "Make a new one" }).click();
  await agree(page, "Make a new one");
  await acme.getByText("Another certificate was put into use").waitFor();
  await acme.getByText("Paused", { exact: true }).waitFor();
  await axeFinds(page, "paused");
  await acme.getByRole("button", { name: "Renew now" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await acme.getByText("Paused", { exact: true }).waitFor();
  // Asked for all the same: its end is seen in every part of the page, and nobody presses F5.
  await acme.getByRole("button", { name: "Renew now" }).click();
  await agree(page, "Renew now");
  await issued();
  await acme.getByText("Renewed by itself").waitFor();
  await section(page, "In use").getByText("By ACME").waitFor();
  await acme.getByRole("button", { name: "Replace the account's key" }).click();
  await agree(page, "Replace the account's key");
  await page.getByText("The account has a new key").waitFor();
  await acme.getByRole("button", { name: "Change this setup" }).click();
  await acme.getByText("Pick it again when you save").waitFor();
  await acme.getByRole("button", { name: "Leave it as it is" }).click();
  await acme.getByLabel("Close the account at the authority").check();
  await acme.getByRole("button", { name: "Turn ACME off" }).click();
  await page.getByRole("dialog").getByText("is closed for good").waitFor();
  await agree(page, "Turn ACME off");
  await page.getByText("ACME is off. The present certificate is served on.").waitFor();
  expect(await admin.call(getAcme, {})).toMatchObject({ state: "off" });
  const { data } = await admin.call(listOperatorAudit, {});
  expect(data.map(({ action }) => action)).toEqual([
    "tls.acme_turned_off",
    "tls.acme_rolled_over",
    "tls.acme_installed",
    "tls.acme_requested",
    "tls.self_signed",
    "tls.acme_installed",
    "tls.acme_requested",
    "tls.acme_set_up",
  ]);
  expect(problems).toEqual([]);
  await page.context().close();
}, 300_000);

test("anchors that a restore holds back: why, what to check, and on again by whoever answers for it", async () => {
  await app.deps.db.tx((tx) => holdAnchors(tx, app.deps, { reason: "restored", backup: "20300101-000000000-abcdef" }));
  const { page, problems } = await openConsole(browser, main, { page: "anchors" });
  const held = section(page, "No anchor is signed");
  await held.getByText("restored from backup 20300101-000000000-abcdef").waitFor();
  await held.getByText("switched off and stays off").waitFor();
  expect(await page.getByRole("button", { name: "Anchor now" }).isDisabled()).toBe(true);
  await axeFinds(page, "held anchors");
  await page.emulateMedia({ colorScheme: "dark" });
  await axeFinds(page, "held anchors, dark");
  await held.getByRole("button", { name: "Let anchors go on" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await held.getByRole("button", { name: "Let anchors go on" }).click();
  await agree(page, "Let anchors go on");
  await page.getByText("Anchors go on.").waitFor();
  await held.waitFor({ state: "detached" });
  const { data } = await admin.call(listOperatorAudit, {});
  expect(data[0]).toMatchObject({ action: "anchors.resumed" });
  expect(problems).toEqual([]);
  await page.context().close();
});

test("the overview says how old the last verified backup and the last drill are, and what was found, in German", async () => {
  const at = (hoursAgo: number) => toTs(clock.now() - hoursAgo * hourMs);
  await app.deps.db.tx(async (tx) => {
    const id = "20300101-000000000-abcdef";
    await insertRun(tx, { id, trigger: "schedule", folder: "", started_at: at(30) });
    await endRun(tx, id, { status: "verified", ended_at: at(30), cause: null, verified_at: at(30) });
    await insertDrill(tx, { id: "drill", backup: null, started_at: at(75 * 24) });
    await endDrill(tx, "drill", { status: "passed", ended_at: at(75 * 24), cause: null, checked: "{}" });
  });
  const { page, problems } = await openConsole(browser, main, { locale: "de-DE" });
  const backup = section(page, "Sicherung");
  await backup.getByText("vor 30 Stunden").waitFor();
  await backup.getByText("vor 75 Tagen").waitFor();
  await backup.getByText("Bestanden").waitFor();
  const found = section(page, "Was Aufmerksamkeit braucht");
  await found.getByText("Nur die eingebaute Stelle: eine interne Zeitquelle").waitFor();
  await found.getByText("Es wird nichts gesichert").waitFor();
  await axeFinds(page, "overview");
  // Each of them leads to where one does something about it.
  const rows = found.getByRole("listitem");
  const places: Record<string, string | null> = {};
  for (const id of await rows.locator(".finding-id").allTextContents()) {
    await rows
      .filter({ has: page.locator(".finding-id", { hasText: id }) })
      .getByRole("link")
      .first()
      .click();
    await page.getByRole("heading", { level: 1, name: "Übersicht" }).waitFor({ state: "detached" });
    places[id] = await page.getByRole("heading", { level: 1 }).textContent();
    await page.getByRole("navigation").getByRole("link", { name: "Übersicht" }).click();
    await rows.first().waitFor();
  }
  expect(places).toMatchObject({
    "master-key": "Schlüssel und HSM",
    mail: "E-Mail",
    "time-stamps": "Schlüssel und HSM",
    backup: "Sicherung und Probe",
  });
  expect(problems).toEqual([]);
  await page.context().close();
});
