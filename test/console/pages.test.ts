import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Browser, Page } from "playwright";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { makeUpdateFolder } from "../../server/features/update/installation.ts";
import { appendHistory, type Journal, writeJournal } from "../../server/features/update/journal.ts";
import { lockUpdates } from "../../server/features/update/lock.ts";
import { createLog, type Log } from "../../server/kernel/log.ts";
import { createLogTail } from "../../server/kernel/log-tail.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { startMain } from "../harness/console-process.ts";
import { dialogReady, launch } from "../harness/page.ts";
import { axeFinds } from "./axe.ts";
import { pageNames } from "./page-names.ts";
import { chooseAppliance, openConsole } from "./window.ts";

/** Pages whose state comes from outside of them: the log, an update that a command goes through, rows that go away. */

let main: Awaited<ReturnType<typeof startMain>>;
let browser: Browser;
let appliance: TestAppliance;
let root: string;
let log: Log;
beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), "signet-console-pages-"));
  const release = path.join(root, "releases/1.0.0");
  await mkdir(release, { recursive: true });
  const program = path.join(release, "main.ts");
  await writeFile(program, "");
  await makeUpdateFolder(root);
  const logTail = createLogTail();
  log = createLog("debug", logTail);
  [main, browser, appliance] = await Promise.all([startMain(), launch(), startAppliance({ log, logTail, program })]);
  await chooseAppliance(main, { socket: appliance.config.adminSocket, remote: false });
});
afterAll(async () => {
  await browser?.close();
  await appliance?.stop();
  main?.stop();
  await rm(root, { recursive: true, force: true });
});

const heading = (page: Page, name: string) => page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent);

test("the log: by level and by words, held while it is read, and whole again after a restart", async () => {
  const { page, problems } = await openConsole(browser, main, { page: "logs" });
  await heading(page, "Logs");
  const lines = page.getByRole("list", { name: "Logs" }).getByRole("listitem");
  const saying = (words: string) => lines.filter({ hasText: words });
  // Of this try alone: the appliance tells of earlier ones as well.
  const own = randomUUID();
  const line = (number: string) => `a ${number} line ${own}`;
  log.info({ part: 7 }, line("first"));
  await saying(line("first")).waitFor();
  await page.getByText("Following", { exact: true }).waitFor();

  await page.getByRole("button", { name: "Pause" }).click();
  log.warn({}, line("second"));
  log.info({}, line("third"));
  await page.getByText(/^Paused, \d+ new lines$/).waitFor();
  expect(await saying(line("second")).count()).toBe(0);
  await axeFinds(page, "paused");
  await page.getByRole("button", { name: "Go on" }).click();
  await saying(line("second")).waitFor();
  // Newest first.
  const texts = await lines.allTextContents();
  const at = (words: string) => texts.findIndex((text) => text.includes(words));
  expect(at(line("third"))).toBeLessThan(at(line("second")));

  await page.getByLabel("From level").selectOption("warn");
  await saying(line("second")).waitFor();
  await expect.poll(() => saying(line("first")).count()).toBe(0);
  log.info({}, line("fourth"));
  log.error({}, line("fifth"));
  await saying(line("fifth")).waitFor();
  expect(await saying(line("fourth")).count()).toBe(0);

  await page.getByLabel("From level").selectOption("info");
  await page.getByRole("searchbox", { name: "Search" }).fill(`FOURTH line ${own}`);
  await saying(line("fourth")).waitFor();
  await expect.poll(() => lines.count()).toBe(1);
  await page.getByRole("searchbox", { name: "Search" }).fill("");

  await saying(line("fifth")).waitFor();
  await appliance.restart();
  await page
    .getByText("Nothing new comes any more")
    .or(page.getByText("Following", { exact: true }))
    .first()
    .waitFor();
  await page.keyboard.press("F5");
  await expect
    .poll(async () => {
      const again = page.getByRole("button", { name: "Follow again" });
      if (await again.isVisible()) await again.click();
      log.info({}, line("last"));
      return await saying(line("last")).count();
    })
    .toBeGreaterThan(0);
  expect(problems).toEqual([]);
  await page.context().close();
});

const begun: Journal = {
  v: 1,
  id: "upd_0123456789abcdef",
  kind: "update",
  phase: "checking",
  startedAt: "2030-01-01T10:00:00.000Z",
  at: "2030-01-01T10:00:00.000Z",
  operator: "root",
  file: "/root/signet-1.1.0.signet",
  manifestSha256: "0".repeat(64),
  from: { version: "1.0.0", program: { node: "bin/node", main: "main.ts" } },
  to: { version: "1.1.0", program: { node: "bin/node", main: "main.ts" } },
  dataDir: "/var/lib/signet",
  backup: null,
  snapshot: null,
  restore: null,
  loss: null,
  outcome: null,
  cause: null,
};

test("an update: each step with its share, called off only while nothing is in force, then its backup and what it took", async () => {
  // Whoever updates holds it; without that the console says that it was cut off.
  const unlock = await lockUpdates(root, root);
  onTestFinished(async () => unlock?.());
  await writeJournal(root, begun);
  const { page, problems } = await openConsole(browser, main, { page: "update" });
  const running = page.getByRole("region", { name: "Update from 1.0.0 to 1.1.0" });
  await running.getByText("Step 1 of 8: Checking").waitFor();
  const bar = running.getByRole("progressbar");
  const value = async () => Number(await bar.getAttribute("aria-valuenow"));
  const before = await value();
  await writeFile(path.join(root, "update/progress.json"), JSON.stringify({ share: 0.5 }));
  await writeJournal(root, { ...begun, phase: "staging", at: "2030-01-01T10:01:00.000Z" });
  await running.getByText("Step 4 of 8: Unpacking (50 %)").waitFor();
  expect(await value()).toBeGreaterThan(before);
  expect(await running.getByLabel("Put everything back").inputValue()).toBe("sudo signet update resume");
  await axeFinds(page, "an update under way");

  await writeJournal(root, { ...begun, phase: "switching", at: "2030-01-01T10:02:00.000Z" });
  await running.getByText("It cannot be called off any more").waitFor();
  expect(await running.getByLabel("Put everything back").count()).toBe(0);

  const loss = { envelopes: 2, signatures: 1, leaves: 0, anchors: 0, deleted: 0, acts: 0 };
  const done = { ...begun, phase: "done", outcome: "applied", backup: "bkp_20300101", at: "2030-01-01T10:03:00.000Z" };
  const rollback = { ...begun, id: "upd_fedcba9876543210", kind: "rollback", phase: "done", outcome: "applied", loss };
  await appendHistory(root, { ...begun, ...done } as Journal);
  await appendHistory(root, rollback as Journal);
  await writeJournal(root, rollback as Journal);
  await running.waitFor({ state: "detached" });
  await page.keyboard.press("F5");
  const rows = page.getByRole("table").getByRole("row");
  await rows.filter({ hasText: "bkp_20300101" }).getByText("Applied").waitFor();
  await rows.filter({ hasText: "Way back" }).getByText("Taken away: 2 envelopes, one signature.").waitFor();
  await rows.filter({ hasText: "Way back" }).getByText("No backup was set up").waitFor();
  await axeFinds(page, "updates so far");
  expect(problems).toEqual([]);
  await page.context().close();
});

test("the keyboard goes on in the row that took the place of the one that went, and at the heading after the last", async () => {
  // A try that failed left some.
  await appliance.deps.db.tx((tx) => tx.deleteFrom("sessions").execute());
  await appliance.signIn();
  await appliance.signIn();
  const { page, problems } = await openConsole(browser, main, { page: "access" });
  const end = page.getByRole("button", { name: /^End o\*+@example\.com$/ });
  await expect.poll(() => end.count()).toBe(2);
  await end.first().press("Enter");
  await expect.poll(() => end.count()).toBe(1);
  await expect.poll(() => focused(page)).toMatch(/^End o\*+@/);
  await page.keyboard.press("Enter");
  await page.getByText("Nobody is signed in").waitFor();
  await expect.poll(() => focused(page)).toBe("Sessions");
  expect(problems).toEqual([]);
  await page.context().close();
});

test.each(["at once", "late"])("a question before the act leaves the keyboard its place, answered %s", async (when) => {
  await appliance.createKey("live");
  await appliance.createKey("live");
  const { page, problems } = await openConsole(browser, main, { page: "access" });
  const answered = Promise.withResolvers<void>();
  const channel = "local.revokeAnyKey";
  const act = main.recorded.handlers.get(channel);
  if (!act) throw new Error(`nobody handles ${channel}`);
  onTestFinished(() => void main.recorded.handlers.set(channel, act));
  main.recorded.handlers.set(channel, async (event, input) => {
    if (when === "late") await answered.promise;
    return act(event, input);
  });
  const revoke = page.getByRole("button", { name: /^Revoke (live|test) key/ });
  await revoke.first().waitFor();
  const before = await revoke.count();
  await revoke.first().press("Enter");
  await dialogReady(page);
  await page.getByRole("dialog").getByRole("button", { name: "Revoke", exact: true }).press("Enter");
  // The button that asked rests until then: the dialog gave the focus to it before, or gives it to the page's content.
  if (when === "late") {
    await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toMatch(/^(BODY|MAIN)$/);
    await page.getByRole("main").focus();
  }
  answered.resolve();
  await expect.poll(() => revoke.count()).toBe(before - 1);
  await expect.poll(() => focused(page)).toMatch(/^Revoke (live|test) key$/);
  expect(problems).toEqual([]);
  await page.context().close();
});

test.each(["en-GB", "de-DE"])("every page stands in the list and can be seen there, in %s", async (locale) => {
  const { page, problems } = await openConsole(browser, main, { locale });
  const nav = page.getByRole("navigation");
  const links = nav.getByRole("link");
  await expect.poll(() => links.count()).toBe(pageNames().length);
  const overflow = () => nav.evaluate((list) => list.scrollHeight - list.clientHeight);
  // As high as the pictures.
  expect(await overflow()).toBeLessThanOrEqual(0);
  for (const link of await links.all()) {
    const { height } = (await link.boundingBox()) ?? { height: 0 };
    expect(height).toBeGreaterThanOrEqual(24);
  }
  const icons = await links.evaluateAll((all) => all.map((link) => link.querySelector("svg")?.innerHTML));
  expect(new Set(icons).size).toBe(icons.length);
  // In a lower one it scrolls, and the page that is shown is in sight.
  await page.setViewportSize({ width: 1180, height: 480 });
  expect(await overflow()).toBeGreaterThan(0);
  for (const at of [-1, 0]) {
    main.app.emit("second-instance", {}, ["signet-console", `signet-console://page/${pageNames().at(at)}`]);
    const current = nav.locator('[aria-current="page"]');
    await expect
      .poll(async () => {
        const [link, list] = await Promise.all([current.boundingBox(), nav.boundingBox()]);
        return link && list && link.y >= list.y - 1 && link.y + link.height <= list.y + list.height + 1;
      })
      .toBe(true);
  }
  expect(problems).toEqual([]);
  await page.context().close();
});
