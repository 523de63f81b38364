import { readFile } from "node:fs/promises";
import { inflateRawSync } from "node:zlib";
import type { Browser, Page } from "playwright";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { buildApps } from "../../scripts/build-apps.ts";
import { bundleFiles } from "../../server/features/evidence/bundle/contents.ts";
import { readZip } from "../../server/features/evidence/bundle/zip.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { sealedEnvelope } from "../harness/bundles.ts";
import { movableClock } from "../harness/clock.ts";
import {
  addSession,
  desktop,
  intercepted,
  launch,
  overflow,
  phone,
  seriousFindings,
  settled,
  type Visit,
  type VisitOptions,
  visit,
} from "../harness/page.ts";
import { dayMs, runNow } from "../harness/retention.ts";
import { publishTemplate } from "../harness/scenario.ts";

/** How long documents are kept, what keeps them, and what is left of them, as an administrator meets it in two languages. */

const german = { ...desktop, locale: "de-DE" };

let app: TestAppliance;
let browser: Browser;
let envelope: string;
let visits: Visit[] = [];
const clock = movableClock(new Date().toISOString());

beforeAll(async () => {
  await buildApps();
  // Before anything is typeset: that points fontconfig of this process, and of its children, to one folder.
  browser = await launch();
  app = await startAppliance({ clock });
  envelope = await sealedEnvelope(app, clock, await publishTemplate(app));
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

async function open(path: string, options: VisitOptions = desktop): Promise<Page> {
  const seen = await visit(browser, options);
  visits.push(seen);
  await addSession(seen.context, app, await app.signIn());
  await seen.page.goto(`${app.url}${path}`);
  await seen.page.getByRole("heading", { level: 1 }).waitFor();
  return seen.page;
}

async function clean(page: Page, picture: string): Promise<void> {
  await settled(page);
  expect(await seriousFindings(page)).toEqual([]);
  expect(await overflow(page)).toBe(0);
  const folder = process.env.SIGNET_TEST_PICTURES;
  if (folder) await page.screenshot({ path: `${folder}/retention-${picture}.png`, fullPage: true });
}

async function downloadedFrom(page: Page, button: string): Promise<{ name: string; bytes: Buffer }> {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: button, exact: true }).click(),
  ]);
  return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) };
}

const keeping = (page: Page, title: string) =>
  page.locator("section", { has: page.getByRole("heading", { name: title, exact: true }) });

test("the time is set after a question, and a wrong one is refused where it was typed", async () => {
  const page = await open("/settings/organization");
  const section = keeping(page, "How long documents are kept");
  expect(await section.getByRole("radio", { name: "For ever" }).isChecked()).toBe(true);
  await section.getByRole("radio", { name: /number of days/ }).check();
  await section.getByRole("textbox", { name: "Days" }).fill("0");
  await section.getByRole("button", { name: "Save" }).click();
  await section.getByText("Enter a whole number from 1 to 36500.").waitFor();
  await clean(page, "wrong");
  await section.getByRole("textbox", { name: "Days" }).fill("30");
  await section.getByRole("button", { name: "Save" }).click();
  const question = page.getByRole("dialog");
  await question.getByText("Deleted documents cannot be brought back.", { exact: false }).waitFor();
  await clean(page, "question");
  await question.getByRole("button", { name: "Keep for 30 days" }).click();
  await page.locator(".toast", { hasText: "Saved." }).waitFor();
  const again = await open("/settings/organization", { ...phone, locale: "de-DE" });
  const abschnitt = keeping(again, "Aufbewahrung der Dokumente");
  expect(await abschnitt.getByRole("textbox", { name: "Tage" }).inputValue()).toBe("30");
  await clean(again, "phone-de");
});

test("what a colleague set meanwhile is told, and overwritten only by who has read it", async () => {
  const page = await open("/settings/organization", { ...phone, locale: "de-DE", colorScheme: "dark" });
  const section = keeping(page, "Aufbewahrung der Dokumente");
  const days = section.getByRole("textbox", { name: "Tage" });
  const save = section.getByRole("button", { name: "Speichern" });
  await days.fill("300");
  const colleague = await open("/settings/organization");
  const theirs = keeping(colleague, "How long documents are kept");
  await theirs.getByRole("textbox", { name: "Days" }).fill("60");
  await theirs.getByRole("button", { name: "Save" }).click();
  await colleague.locator(".toast", { hasText: "Saved." }).waitFor();
  await save.click();
  await section.getByRole("alert").getByText("Dokumente werden jetzt 60 Tage aufbewahrt.").waitFor();
  expect(await days.inputValue()).toBe("300");
  await clean(page, "overtaken-dark-de");
  await save.click();
  await page.locator(".toast", { hasText: "Gespeichert." }).waitFor();
  expect(await section.getByRole("alert").count()).toBe(0);
  // As it was for what follows.
  await days.fill("30");
  await save.click();
  await page.getByRole("dialog").getByRole("button", { name: "30 Tage aufbewahren" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await expect
    .poll(async () => {
      await colleague.reload();
      return await theirs.getByRole("textbox", { name: "Days" }).inputValue();
    })
    .toBe("30");
});

test("what is typed while another choice is saved, or found to be overtaken, stays", async () => {
  const page = await open("/settings/organization", intercepted);
  const section = keeping(page, "How long documents are kept");
  const days = section.getByRole("textbox", { name: "Days" });
  const save = section.getByRole("button", { name: "Save" });
  let held = Promise.resolve();
  await page.route("**/auth/organization/retention", async (route) => {
    if (route.request().method() === "PATCH") await held;
    await route.continue();
  });
  const typedMeanwhile = async (saved: string, typed: string) => {
    let go: () => void = () => {};
    held = new Promise((resolve) => {
      go = resolve;
    });
    const asked = page.waitForRequest((one) => one.method() === "PATCH");
    // What the form puts there at the end of the act before would come between marking the old and typing the new.
    await expect.poll(() => days.fill(saved).then(() => days.inputValue())).toBe(saved);
    await save.click();
    await asked;
    await days.fill(typed);
    return go;
  };
  const answered = () => page.waitForResponse((one) => one.request().method() === "PATCH");
  (await typedMeanwhile("40", "41"))();
  await page.locator(".toast", { hasText: "Saved." }).waitFor();
  expect(await days.inputValue()).toBe("41");
  const [second] = await Promise.all([answered(), save.click()]);
  expect(second.status()).toBe(200);
  await expect.poll(() => save.isEnabled()).toBe(true);
  const go = await typedMeanwhile("300", "301");
  const colleague = await open("/settings/organization");
  const theirs = keeping(colleague, "How long documents are kept");
  await theirs.getByRole("textbox", { name: "Days" }).fill("60");
  await theirs.getByRole("button", { name: "Save" }).click();
  await colleague.locator(".toast", { hasText: "Saved." }).waitFor();
  go();
  await section.getByRole("alert").getByText("Documents are now kept for 60 days.").waitFor();
  expect(await days.inputValue()).toBe("301");
  // As it was for what follows.
  await days.fill("30");
  await save.click();
  const [last] = await Promise.all([
    answered(),
    page.getByRole("dialog").getByRole("button", { name: "Keep for 30 days" }).click(),
  ]);
  expect(last.status()).toBe(200);
});

test("what is saved while the browser is offline fails at once, and is not done by itself later", async () => {
  const page = await open("/settings/organization");
  const section = keeping(page, "How long documents are kept");
  const days = section.getByRole("textbox", { name: "Days" });
  await days.fill("31");
  await page.context().setOffline(true);
  await section.getByRole("button", { name: "Save" }).click();
  await section.getByRole("alert").waitFor();
  await page.context().setOffline(false);
  await page.reload();
  await expect.poll(() => days.inputValue()).toBe("30");
});

test("an envelope is put on hold and released; its evidence is downloaded", async () => {
  const page = await open(`/envelopes/${envelope}`);
  const section = keeping(page, "Keeping");
  await section.getByText("Documents are deleted after").waitFor();
  await section.getByRole("button", { name: "Put on hold" }).click();
  const dialog = page.getByRole("dialog");
  const confirm = dialog.getByRole("button", { name: "Put on hold" });
  expect(await confirm.isDisabled()).toBe(true);
  await dialog.getByLabel("Reason").fill("Court case 12/26");
  await clean(page, "hold-dialog");
  await confirm.click();
  await section.getByText("by Olive Owner: Court case 12/26").waitFor();
  expect(await section.getByText("Documents are deleted after").count()).toBe(0);
  await clean(page, "held");

  const deutsch = await open(`/envelopes/${envelope}`, german);
  const abschnitt = keeping(deutsch, "Aufbewahrung");
  await abschnitt.getByText("Vor dem Löschen geschützt").waitFor();
  await clean(deutsch, "held-de");
  await abschnitt.getByRole("button", { name: "Schutz aufheben" }).click();
  await deutsch.getByRole("dialog").getByRole("button", { name: "Schutz aufheben" }).click();
  await abschnitt.getByRole("button", { name: "Vor dem Löschen schützen" }).waitFor();
  await abschnitt.getByText("Dokumente werden gelöscht nach").waitFor();

  const { name, bytes } = await downloadedFrom(page, "Download the evidence");
  expect(name).toMatch(/\.zip$/);
  const files = await readZip(new Uint8Array(bytes), async (part) => inflateRawSync(part));
  expect([...files.keys()]).toContain(bundleFiles.verifier);
});

test("the whole record is downloaded in both forms", async () => {
  const page = await open("/settings/audit", german);
  await page.getByRole("heading", { name: "Gesamtes Protokoll" }).waitFor();
  await clean(page, "audit-de");
  const lines = await downloadedFrom(page, "Als JSON Lines herunterladen");
  expect(lines.name).toMatch(/^audit-live-.*\.jsonl$/);
  const heads = lines.bytes
    .toString("utf8")
    .trimEnd()
    .split("\n")
    .filter((line) => line.includes('"svc.audit-head"'));
  expect(heads.join()).toContain(envelope);
  const rows = await downloadedFrom(page, "Als CSV herunterladen");
  expect(rows.name).toMatch(/^audit-live-.*\.csv$/);
  expect(rows.bytes.toString("utf8")).toContain(`"head","${envelope}"`);
});

test("after its time nothing offers the files any more, and the trail says why", async () => {
  clock.advance(31 * dayMs);
  await runNow(app);
  for (const [options, text, trail, picture] of [
    [desktop, "Documents deleted", "Documents deleted, as the organization's retention asks", "deleted"],
    [german, "Dokumente gelöscht", "Dokumente gelöscht", "deleted-de"],
  ] as const) {
    const page = await open(`/envelopes/${envelope}`, options);
    const files = page.locator("section", { has: page.locator("#files") });
    await files.getByText(text).waitFor();
    expect(await files.locator(".envelope-files").getByRole("button").count()).toBe(0);
    await page.locator(".envelope-entry", { hasText: trail }).waitFor();
    expect(await page.getByRole("button", { name: /on hold|schützen/ }).count()).toBe(0);
    await clean(page, picture);
  }
});
