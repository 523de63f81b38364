import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Browser, Page } from "playwright";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { locales } from "../../locales/read.ts";
import { endDrill, endRun, insertDrill, insertRun } from "../../server/features/backup/store.ts";
import { holdAnchors } from "../../server/features/evidence/anchors/hold.ts";
import { installCertificate } from "../../server/features/tls/contract.ts";
import { makeUpdateFolder } from "../../server/features/update/installation.ts";
import { appendHistory, type Journal } from "../../server/features/update/journal.ts";
import { createLog } from "../../server/kernel/log.ts";
import { createLogTail } from "../../server/kernel/log-tail.ts";
import { problemKinds } from "../../server/kernel/problem.ts";
import { administrator } from "../harness/admin.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { startMain } from "../harness/console-process.ts";
import { launch, overflow } from "../harness/page.ts";
import { pseudoWords } from "../harness/pseudo.ts";
import { german as germanTimes, untranslated } from "../harness/pseudo-page.ts";
import { pageNames } from "./page-names.ts";
import { chooseAppliance, openConsole } from "./window.ts";

/** A German page speaks German: what is English there was said by somebody else, and is marked so. With as much trouble as can be had at once. */

const host = "sign.example.com";
const folder = mkdtempSync(path.join(tmpdir(), "signet-console-german-"));
const openssl = (line: string) => execFileSync("openssl", line.split(" "), { cwd: folder, stdio: "ignore" });
const read = (name: string) => readFileSync(path.join(folder, name), "utf8");
let main: Awaited<ReturnType<typeof startMain>>;
let browser: Browser;
let app: TestAppliance;
beforeAll(async () => {
  const release = path.join(folder, "signet/releases/1.0.0");
  mkdirSync(release, { recursive: true });
  writeFileSync(path.join(release, "main.ts"), "");
  await makeUpdateFolder(path.join(folder, "signet"));
  writeFileSync(path.join(folder, "passphrase"), "a passphrase that nobody guesses\n");
  mkdirSync(path.join(folder, "backups"));
  const logTail = createLogTail();
  const log = createLog("debug", logTail);
  const env = {
    SIGNET_HOST: "0.0.0.0",
    SIGNET_BASE_URL: `https://${host}`,
    SIGNET_BACKUP_DIR: path.join(folder, "backups"),
    SIGNET_BACKUP_PASSPHRASE_FILE: path.join(folder, "passphrase"),
    SIGNET_SMTP_URL: "smtp://127.0.0.1:1",
    SIGNET_PKCS11_MODULE: path.join(folder, "no-such-library.so"),
    SIGNET_PKCS11_TOKEN: "signet",
    SIGNET_PKCS11_PIN_FILE: path.join(folder, "pin"),
  };
  const program = path.join(release, "main.ts");
  [main, browser, app] = await Promise.all([startMain(), launch(), startAppliance({ env, log, logTail, program })]);
  await trouble();
});
beforeEach(() => chooseAppliance(main, { socket: app.config.adminSocket, remote: false }));
afterAll(async () => {
  await browser?.close();
  await app?.stop();
  main?.stop();
  rmSync(folder, { recursive: true });
});

/** Whatever can be wrong at once. */
async function trouble(): Promise<void> {
  const at = app.deps.clock.ts();
  await app.signIn();
  await app.deps.db.tx(async (tx) => {
    await holdAnchors(tx, app.deps, { reason: "restored", backup: null });
    const id = "20300101-000000000-abcdef";
    await insertRun(tx, { id, trigger: "schedule", folder: "", started_at: at });
    await endRun(tx, id, { status: "failed", ended_at: at, cause: "the folder of the backups is not there" });
    await insertDrill(tx, { id: "drill", backup: null, started_at: at });
    await endDrill(tx, "drill", { status: "failed", ended_at: at, cause: "a chain does not hold", checked: "{}" });
    const job = { run_at: 0, lease_until: null, lease_by: null, dedupe_key: null, created_at: 1000, attempts: 25 };
    const dead = { ...job, queue: "nobody-takes-this", payload: "{}", status: "dead" as const };
    const causes = ["the disk of the machine is full", "The process ended while this was under way."];
    await tx
      .insertInto("jobs")
      .values(causes.map((last_error, n) => ({ ...dead, id: `job_${n}`, name: "viewers.invite", last_error })))
      .execute();
  });
  // Of another name, soon over, without the one that issued it.
  openssl("req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -subj /CN=Between -days 30");
  openssl("req -newkey rsa:2048 -nodes -keyout leaf.key -out leaf.csr -subj /CN=other.example.com");
  openssl("x509 -req -in leaf.csr -CA ca.pem -CAkey ca.key -out leaf.pem -days 5");
  const body = { certificatePem: read("leaf.pem"), keyPem: read("leaf.key") };
  const { current } = await administrator(app).call(installCertificate, { body });
  expect(current?.warnings.map(({ code }) => code)).toEqual(["other-name", "chain-incomplete", "ends-soon"]);
  const version = (of: string) => ({ version: of, program: { node: "bin/node", main: "main.ts" } });
  await appendHistory(path.join(folder, "signet"), {
    ...{ v: 1, id: "upd_0123456789abcdef", kind: "update", phase: "done", startedAt: at, at, operator: "root" },
    ...{ file: "/root/signet.signet", manifestSha256: "0".repeat(64), from: version("1.0.0"), to: version("1.1.0") },
    ...{ dataDir: "/var/lib/signet", backup: null, snapshot: null, restore: null, loss: null, outcome: "returned" },
    cause: "the new version did not answer in time",
  } as Journal);
}

/** Every sentence of ours in English: what stands between the placeholders, of three words and more. */
function sentences(words: unknown): string[] {
  if (typeof words === "string")
    return words
      .split(/\{\w+\}|\{\w+, \w+,|\b(?:one|other) \{|[{}#`]/)
      .map((part) => part.trim())
      .filter((part) => part.split(/\s+/).filter((word) => /[a-z]{2}/i.test(word)).length >= 3);
  return typeof words === "object" && words !== null ? Object.values(words).flatMap(sentences) : [];
}
const catalogue = (language: string) =>
  ["common", "console", "findings"].map((name): unknown =>
    JSON.parse(readFileSync(path.resolve(import.meta.dirname, `../../locales/${language}/${name}.json`), "utf8")),
  );
const german = new Set(sentences(catalogue("de")));
const english = [...new Set([...sentences(catalogue("en")), ...sentences(problemKinds)])].filter(
  (one) => !german.has(one),
);
/** Words that no German sentence holds; two of them are English that stands in no catalogue. */
const telling = /(?<![\w./-])(the|and|of|is|are|not|which|with|this|cannot|does|has|that|nobody)(?![\w/-])/gi;

/** What stands on the page, also for those who do not see it, outside of what is marked as English. */
const unmarked = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const foreign = (at: Element | null) => at?.closest("[lang]")?.getAttribute("lang") !== "de";
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found: string[] = [];
    while (walker.nextNode()) {
      const { parentElement: at, textContent: text } = walker.currentNode;
      if (!foreign(at) && !at?.closest("script, style") && text?.trim()) found.push(text);
    }
    for (const at of document.querySelectorAll("[aria-label], [placeholder], [title], [alt]"))
      for (const name of ["aria-label", "placeholder", "title", "alt"])
        if (at.hasAttribute(name) && !foreign(at)) found.push(at.getAttribute(name) ?? "");
    return found;
  });

async function speaksGerman(page: Page, where: string): Promise<void> {
  await page.waitForFunction(() => document.querySelector("main .loading, main [aria-busy=true]") === null);
  const texts = await unmarked(page);
  expect(texts.length, where).toBeGreaterThan(10);
  const ours = texts.flatMap((text) => english.filter((sentence) => text.includes(sentence)));
  const others = texts.filter((text) => (text.match(telling) ?? []).length >= 2);
  expect.soft({ ours, others }, where).toEqual({ ours: [], others: [] });
}

test("every page, with as much trouble as can be had at once", async () => {
  expect(english.length).toBeGreaterThan(300);
  const { page, problems } = await openConsole(browser, main, { locale: "de-DE" });
  const links = page.getByRole("navigation").getByRole("link");
  const seen = {
    overview: "Was Aufmerksamkeit braucht",
    network: "Es läuft in 4 Tagen ab.",
    keys: "setzen Sie SIGNET_PKCS11_MODULE auf die Bibliothek",
    settings: "Adresse, auf der gelauscht wird; alles außer Loopback",
    setup: "Ein Zertifikat ist eingespielt",
    work: "the disk of the machine is full",
    backup: "a chain does not hold",
    update: "the new version did not answer in time",
    anchors: "Dokumente werden wie immer unterschrieben",
  } as Readonly<Record<string, string>>;
  for (const [index, name] of pageNames().entries()) {
    await links.nth(index).click();
    const words = seen[name];
    if (words !== undefined) await page.getByRole("main").getByText(words).first().waitFor();
    await speaksGerman(page, name);
  }
  expect(problems).toEqual([]);
  await page.context().close();
});

test("what is refused: its kind in German, the appliance's own words as a quotation", async () => {
  const { page } = await openConsole(browser, main, { locale: "de-DE", page: "network" });
  const file = path.join(folder, "wrong.pem");
  writeFileSync(file, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
  main.recorded.dialogAnswer = { canceled: false, filePaths: [file] };
  await page
    .getByRole("region", { name: "Zertifikat einspielen", exact: true })
    .getByRole("button", { name: "Zertifikat wählen" })
    .click();
  await page.getByText("wrong.pem").waitFor();
  await page.getByRole("button", { name: "Einspielen", exact: true }).click();
  const refusal = page.getByRole("alert").filter({ hasText: "Angaben ungültig" });
  await expect.poll(() => refusal.locator("q[lang=en]").count()).toBe(1);
  await speaksGerman(page, "a certificate that is none");

  await page.getByRole("navigation").getByRole("link", { name: "E-Mail", exact: true }).click();
  await page.getByLabel("Test-E-Mail senden an").fill("it@example.com");
  await page.getByRole("button", { name: "Test-E-Mail senden", exact: true }).click();
  await page.getByText("Prüfen Sie Host und Port").first().waitFor();
  await speaksGerman(page, "a mail that was not taken");
  await page.context().close();
});

test("while no appliance answers: stopped, starting, broken, and not one that was restored", async () => {
  const sockets = ["none", "silent", "stranger"].map((name) => path.join(folder, `${name}.sock`));
  const [none = "", silent = "", stranger = ""] = sockets;
  const mute = createServer().listen(silent);
  const other = createHttpServer((_request, response) => response.writeHead(500).end("It works")).listen(stranger);
  try {
    for (const [socket, state] of [
      [none, "Angehalten"],
      [silent, "Startet"],
      [stranger, "Gestört"],
    ] as const) {
      for (const remote of [false, true]) {
        await chooseAppliance(main, { socket, remote });
        const { page } = await openConsole(browser, main, { locale: "de-DE", page: "network" });
        await page.getByRole("heading", { level: 1, name: state, exact: true }).waitFor();
        await speaksGerman(page, `${state}, ${remote ? "remote" : "here"}`);
        await page.context().close();
      }
    }
  } finally {
    for (const server of [mute, other]) {
      server.close();
      if ("closeAllConnections" in server) server.closeAllConnections();
    }
  }
});

/** The words of a longer language, where the page has its German ones. */
function longer(pathname: string, body: Buffer): Buffer {
  const [, name] = /\/(common|console|findings)-[\w-]+\.js$/.exec(pathname) ?? [];
  if (name === undefined || !sentences(locales().words("de", name)).some((one) => body.includes(one))) return body;
  return Buffer.from(`export default ${JSON.stringify(pseudoWords(locales().words("en", name)))}`);
}
/** What the appliance and its machine call things. */
const names = [
  germanTimes,
  /O=Signet, CN=Signet [A-Za-z ]+ [0-9a-f]{8}|Signet on \w+ \(TLS\)|\b(Between|RSA 2048|live key|test key|Example Ltd)\b/g,
  /\bSIGNET_\w+/g,
  /(https:\/\/)?\b[a-z]+\.example\.com(, \w+, localhost[\d.:, ]*)?|[\w*]+@example\.com/g,
  /^(root|system|test|password|signet|ada|en|rsa-3072|ec-p256|ed25519|linux-x64|module-missing:|viewers\.invite|(mail|tls|backup)\.\w+|last=[\w,=]+|[0-9a-f]{12})$/g,
];
/** A setting's name, and what it is set to. */
const setting = /^[a-z][A-Za-z\d]*$/g;

test("in a longer language every word is of a catalogue, and nothing is too wide", async () => {
  for (const width of [1180, 960, 800]) {
    const { page } = await openConsole(browser, main, { locale: "de-DE", width, instead: longer });
    for (const [index, name] of pageNames().entries()) {
      const link = page.getByRole("navigation").getByRole("link").nth(index);
      await link.click();
      await link.and(page.locator("[aria-current=page]")).waitFor();
      await page.waitForFunction(() => document.querySelector("main .loading, main [aria-busy=true]") === null);
      const given = name === "settings" ? [...names, setting] : names;
      expect.soft(await untranslated(page, "de", given), name).toEqual([]);
      expect.soft(await overflow(page), `${name} at ${width}: too wide by`).toBe(0);
    }
    await page.context().close();
  }
});
