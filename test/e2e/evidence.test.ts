import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { inflateRawSync } from "node:zlib";
import type { Browser } from "playwright";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { locales } from "../../locales/read.ts";
import { buildApps } from "../../scripts/build-apps.ts";
import { buildVerifier } from "../../scripts/build-verifier.ts";
import type { Pins } from "../../server/features/evidence/bundle/check.ts";
import { bundleFiles } from "../../server/features/evidence/bundle/contents.ts";
import { readZip, zipParts } from "../../server/features/evidence/bundle/zip.ts";
import { startAppliance } from "../harness/appliance.ts";
import { pinsFrom, sealedEnvelope } from "../harness/bundles.ts";
import { movableClock } from "../harness/clock.ts";
import { bundleCommits, earlierBundles } from "../harness/earlier-bundles.ts";
import { desktop, launch, overflow, phone, seriousFindings, type Visit, visit } from "../harness/page.ts";
import { pseudoWords } from "../harness/pseudo.ts";
import { german, untranslated } from "../harness/pseudo-page.ts";
import { publishTemplate } from "../harness/scenario.ts";

/** The page of an evidence bundle, opened from a folder as from a USB stick, without any network. */

/** What is a name in every language. */
const names = [german, /O=Signet, CN=Signet [A-Za-z ]+ [0-9a-f]{8}|“Seal env_\w+”|“timestampToken”|B-LTA/g];
let browser: Browser;
let folder: string;
let page: string;
let files: Map<string, Uint8Array>;
let pins: Pins;
let foreignPins: Pins;

beforeAll(async () => {
  await buildApps();
  folder = await mkdtemp(path.join(tmpdir(), "signet-stick-"));
  // Before anything is typeset: that points fontconfig of this process, and of its children, to one folder.
  browser = await launch();
  const clock = movableClock();
  const app = await startAppliance({ clock });
  const other = await startAppliance({ clock });
  try {
    const id = await sealedEnvelope(app, clock, await publishTemplate(app));
    const zip = new Uint8Array(await (await app.call(`/v1/envelopes/${id}/evidence`)).arrayBuffer());
    files = await readZip(zip, async (bytes) => inflateRawSync(bytes));
    pins = await pinsFrom(app);
    foreignPins = await pinsFrom(other);
  } finally {
    // What follows needs no server.
    await Promise.all([app.stop(), other.stop()]);
  }
  page = path.join(folder, bundleFiles.verifier);
  await writeFile(page, files.get(bundleFiles.verifier) ?? "");
});
afterAll(async () => {
  await browser?.close();
  await rm(folder, { recursive: true, force: true });
});

async function stick(options: Parameters<typeof visit>[1] = desktop): Promise<Visit & { requests: string[] }> {
  const seen = await visit(browser, options);
  await seen.context.setOffline(true);
  const requests: string[] = [];
  seen.page.on("request", (request) => requests.push(request.url()));
  await seen.page.goto(pathToFileURL(page).href);
  return { ...seen, requests };
}

const zipOf = (content: Iterable<readonly [string, Uint8Array]>) => ({
  name: "evidence.zip",
  mimeType: "application/zip",
  buffer: Buffer.concat(
    zipParts(
      [...content].map(([name, bytes]) => ({ name, bytes })),
      "2026-11-21T12:00:00.000Z",
    ),
  ),
});
type Upload = ReturnType<typeof zipOf>;

async function verdictOf({ page }: Visit, uploads: Upload | Upload[]): Promise<string | null> {
  await page.locator("#result").evaluate("(result) => { result.dataset.verdict = 'none' }");
  await page.setInputFiles("#files", uploads);
  await page.locator('#result:not([data-verdict="none"], [data-verdict="busy"])').waitFor();
  return await page.locator("#result").getAttribute("data-verdict");
}

async function pin({ page }: Visit, { kids, certificates }: Pins): Promise<void> {
  await page.getByLabel("Thumbprint of the anchor key").fill(kids.join(" "));
  const withColons = certificates.map((text) => text.toUpperCase().replaceAll(/(..)(?!$)/g, "$1:"));
  await page.getByLabel("SHA-256 fingerprint of the authority").fill(withColons.join(" "));
}

test("a good bundle is amber until its key and authority are named, then green", async () => {
  const seen = await stick();
  expect(await verdictOf(seen, zipOf(files))).toBe("unpinned");
  await seen.page.getByRole("heading", { name: "Consistent, not yet proven" }).waitFor();
  await pin(seen, foreignPins);
  expect(await verdictOf(seen, zipOf(files))).toBe("unpinned");
  await pin(seen, pins);
  await seen.page.getByRole("heading", { name: "Proven", exact: true }).waitFor();
  const others = seen.page.locator('li:not([data-ok="true"])');
  const noted = await others.evaluateAll((items) => items.map((item) => item.dataset.step));
  // Two that explain, the time stamp that the anchor lacks, and the validity of a key that was only named.
  expect(noted).toEqual(["token", "files", "files", "files", "files"]);
  await seen.page.getByText("verify.html only explains: nothing proves what it says.").waitFor();
  // The loose files, as they lie on the stick; and the file that somebody holds beside the bundle.
  const loose = [...files].map(([name, bytes]) => ({
    name: path.basename(name),
    mimeType: "application/octet-stream",
    buffer: Buffer.from(bytes),
  }));
  expect(await verdictOf(seen, loose)).toBe("valid");
  const held = (bytes: Uint8Array) => ({ name: "held.pdf", mimeType: "application/pdf", buffer: Buffer.from(bytes) });
  const sealed = files.get(bundleFiles.document) ?? new Uint8Array(0);
  expect(await verdictOf(seen, [zipOf(files), held(sealed)])).toBe("valid");
  expect(await verdictOf(seen, [zipOf(files), held(Uint8Array.of(...sealed, 10))])).toBe("invalid");
  const certificate = files.get(bundleFiles.certificate) ?? new Uint8Array(0);
  expect(await verdictOf(seen, [zipOf(files), held(certificate)])).toBe("valid");
  await seen.page.getByText(/The file that you added is the certificate of completion of envelope env_\w+;/).waitFor();
  expect(await verdictOf(seen, [zipOf(files), held(Uint8Array.of(...certificate, 10))])).toBe("invalid");
  expect(seen.requests).toEqual([pathToFileURL(page).href]);
  expect(seen.troubles).toEqual([]);
  expect(await seriousFindings(seen.page)).toEqual([]);
  await seen.context.close();
});

test.each(bundleCommits)(
  "bundles of %s are proven, and bits flipped in them are seen as they were then",
  async (commit) => {
    const { names, files: filesOf, pins: own, flipped } = earlierBundles(commit);
    const seen = await stick();
    await pin(seen, own);
    for (const name of names)
      expect([name, await verdictOf(seen, zipOf(await filesOf(name)))]).toEqual([name, "valid"]);
    for await (const one of flipped(process.env.SIGNET_TEST_FULL === "1" ? 1 : 20))
      expect([one.about, await verdictOf(seen, zipOf(one.files))]).toEqual([one.about, one.verdict]);
    await seen.context.close();
  },
);

test("it speaks German to a German browser, and takes keys and authorities as files", async () => {
  const seen = await stick({ ...desktop, locale: "de-DE" });
  expect(await verdictOf(seen, zipOf(files))).toBe("unpinned");
  await seen.page.getByRole("heading", { name: "In sich stimmig, noch nicht bewiesen" }).waitFor();
  expect(await seen.page.getByText("nicht von Ihnen genannt").count()).toBeGreaterThanOrEqual(2);
  const own = (name: string) => ({ name, mimeType: "text/plain", buffer: Buffer.from(files.get(name) ?? "") });
  // What is named for time stamps vouches for no seal, whatever its file is called.
  await seen.page.setInputFiles("#stampfiles", own(bundleFiles.authorities));
  await seen.page.setInputFiles("#keyfiles", own(bundleFiles.keys));
  await seen.page.getByText("Aus diesen Dateien übernommen: 1 Schlüssel, 1 Stellen.").waitFor();
  await seen.page.getByRole("heading", { name: "In sich stimmig, noch nicht bewiesen" }).waitFor();
  await seen.page.setInputFiles("#keyfiles", [own(bundleFiles.keys), own(bundleFiles.authorities)]);
  await seen.page.getByRole("heading", { name: "Bewiesen", exact: true }).waitFor();
  expect(await seriousFindings(seen.page)).toEqual([]);
  await seen.page.getByRole("button", { name: "English" }).click();
  await seen.page.getByRole("heading", { name: "Proven", exact: true }).waitFor();
  // The reader's own clock, and UTC.
  await seen.page
    .getByText(/stamped it at .*\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/)
    .first()
    .waitFor();
  expect(seen.troubles).toEqual([]);
  await seen.context.close();
});

test("whatever file is changed, it is red", async () => {
  const seen = await stick(phone);
  await pin(seen, pins);
  const evidence = [...files.keys()].filter((name) => name !== bundleFiles.readme && name !== bundleFiles.verifier);
  expect(evidence.length).toBeGreaterThanOrEqual(10);
  for (const name of evidence) {
    const changed = Uint8Array.from(files.get(name) ?? []);
    const at = Math.floor(changed.length / (name === bundleFiles.authorities ? 3 : 2));
    changed[at] = changed[at] === 0x41 ? 0x42 : 0x41;
    expect(await verdictOf(seen, zipOf(new Map([...files, [name, changed]]))), name).toBe("invalid");
  }
  const damaged = zipOf(files);
  damaged.buffer = damaged.buffer.subarray(0, damaged.buffer.length - 30);
  expect(await verdictOf(seen, damaged)).toBe("invalid");
  expect(await overflow(seen.page)).toBe(0);
  expect(seen.troubles).toEqual([]);
  await seen.context.close();
});

test("in a longer language every word is of its catalogue, and nothing is too wide", async () => {
  const longer = await mkdtemp(path.join(tmpdir(), "signet-longer-"));
  onTestFinished(() => rm(longer, { recursive: true }));
  await buildVerifier(longer, [
    {
      name: "longer words",
      enforce: "pre",
      load(file) {
        const [, catalogue] = /\/locales\/de\/(\w+)\.json/.exec(file) ?? [];
        return catalogue === undefined ? null : JSON.stringify(pseudoWords(locales().words("en", catalogue)));
      },
    },
  ]);
  const altered = new Map(files).set(
    bundleFiles.document,
    Uint8Array.of(...(files.get(bundleFiles.document) ?? []), 10),
  );
  for (const device of [desktop, phone]) {
    const opened = await visit(browser, { ...device, locale: "de-DE" });
    const { page, context } = opened;
    await page.goto(pathToFileURL(path.join(longer, bundleFiles.verifier)).href);
    const seen: (string | null)[] = [];
    for (const upload of [null, files, altered, new Map([["notes.txt", Buffer.from("x")]])]) {
      const where = upload ? await verdictOf(opened, zipOf(upload)) : "at first";
      seen.push(where);
      expect.soft(await untranslated(page, "de", names), `${where}`).toEqual([]);
      expect.soft(await overflow(page), `${where}: too wide by`).toBe(0);
    }
    expect(seen).toEqual(["at first", "unpinned", "invalid", "invalid"]);
    await context.close();
  }
});
