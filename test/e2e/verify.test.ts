import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Browser, CDPSession, Page } from "playwright";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { buildApps } from "../../scripts/build-apps.ts";
import { anchorNow } from "../../server/features/evidence/anchors/signing.ts";
import { entryHash } from "../../server/features/evidence/certificate-check.ts";
import { type CertificateMatch, VerifyResult } from "../../server/features/evidence/contract.ts";
import { seal } from "../../workers/seal/seal.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { makeAuthority } from "../harness/authority.ts";
import { sealedEnvelope } from "../harness/bundles.ts";
import { movableClock } from "../harness/clock.ts";
import { earlierFolders, takeOver } from "../harness/earlier-folder.ts";
import { desktop, intercepted, launch, overflow, phone, seriousFindings, visit } from "../harness/page.ts";
import { samplePdf } from "../harness/pdfs.ts";
import { publishTemplate } from "../harness/scenario.ts";

/** The public verification page: what it says of each kind of file, and that the file never leaves the browser. */

const clock = movableClock();
let browser: Browser;
let app: TestAppliance;
let folder: string;
let sealed: Buffer;
let certificate: Buffer;
let envelope: string;
let plain: Buffer;

beforeAll(async () => {
  await buildApps();
  browser = await launch();
  folder = await mkdtemp(path.join(tmpdir(), "signet-witness-"));
  app = await startAppliance({ clock, env: { SIGNET_WITNESS_DIR: folder } });
  const id = await sealedEnvelope(app, clock, await publishTemplate(app));
  const response = await app.call(`/v1/envelopes/${id}/document?version=sealed`);
  sealed = Buffer.from(await response.arrayBuffer());
  const standalone = await app.call(`/v1/envelopes/${id}/document?version=certificate`);
  certificate = Buffer.from(await standalone.arrayBuffer());
  envelope = id;
  await app.jobs.idle();
  plain = Buffer.from(await samplePdf({ pages: 1 }));
});
afterAll(async () => {
  await browser?.close();
  await app?.stop();
  await rm(folder, { recursive: true, force: true });
});

const file = (name: string, buffer: Buffer) => ({ name, mimeType: "application/pdf", buffer });
const choose = (page: Page, ...files: ReturnType<typeof file>[]) => page.setInputFiles("input[type=file]", files);
const verdicts = (page: Page) =>
  page.locator(".report").evaluateAll((reports) => reports.map((one) => one.getAttribute("data-verdict")));

test("a sealed document is genuine, step by step, record and PDF, and only its hash was sent", async () => {
  const { page, context, troubles } = await visit(browser, { ...desktop, timezoneId: "Asia/Tokyo" });
  const sent: number[] = [];
  page.on("request", (request) => sent.push(request.postData()?.length ?? 0));
  await page.addInitScript("navigator.clipboard.writeText = async (text) => { globalThis.copied = text }");
  await page.goto(`${app.url}/verify`);
  // By keyboard: the button opens the file dialogue of the system.
  await page.getByRole("button", { name: "Choose files" }).focus();
  // Chromium forgets within seconds that a key was pressed, and opens nothing then: a loaded machine needs another press.
  for (let chosen = false; !chosen; ) {
    const chooser = page.waitForEvent("filechooser", { timeout: 10_000 }).catch(() => undefined);
    await page.keyboard.press("Enter");
    const dialogue = await chooser;
    await dialogue?.setFiles([file("sealed.pdf", sealed)]);
    chosen = dialogue !== undefined;
  }
  await page.getByRole("heading", { name: "This document is genuine" }).waitFor();
  const steps = await page
    .locator(".steps li")
    .evaluateAll((items) =>
      items.map((item) => `${item.getAttribute("data-step")} ${item.getAttribute("data-state")}`),
    );
  expect(steps.slice(0, 9)).toEqual([
    "document holds",
    "leaf holds",
    "path holds",
    "anchor holds",
    "signature holds",
    "key holds",
    expect.stringMatching(/^token (holds|note)$/),
    "checkpoint holds",
    "witnesses note",
  ]);
  expect(steps.slice(9)).toEqual([
    "pdf holds",
    "seal holds",
    "chain holds",
    "seal-timestamp holds",
    "revisions holds",
    "document-timestamp holds",
    "validation holds",
  ]);
  // Whoever prints it for others says whose time it is.
  await page.locator(".report dt:text-is('Sealed') + dd", { hasText: /GMT\+9$/ }).waitFor();
  for (const summary of await page.locator(".steps summary").all()) await summary.click();
  await page.getByText("SHA-256(0x00 ‖ leaf)").waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await page.getByRole("button", { name: "Copy the report as JSON" }).click();
  await page.getByText("Copied.").waitFor();
  const copied = z
    .object({ verdict: z.string(), steps: z.array(z.object({ name: z.string(), code: z.string() })) })
    .parse(JSON.parse(z.string().parse(await page.evaluate("copied"))));
  expect(copied.verdict).toBe("anchored");
  expect(copied.steps).toHaveLength(steps.length);
  expect(Math.max(...sent)).toBeLessThan(200);
  expect(troubles).toEqual([]);
  await context.close();
});

test.each(earlierFolders)("what was sealed by %s is genuine, and red once it is changed", async (commit) => {
  const earlier = await takeOver(commit, true);
  try {
    await anchorNow(earlier.app.deps);
    const { page, context, troubles } = await visit(browser, desktop);
    await page.goto(`${earlier.app.url}/verify`);
    for (const name of ["sealed", "sealedOwnConsent", "closing"]) {
      const target = `/v1/envelopes/${earlier.about.envelopes[name]}/document?version=sealed`;
      const bytes = Buffer.from(await (await earlier.app.call(target)).arrayBuffer());
      const changed = Buffer.from(bytes);
      const place = changed.indexOf("endstream") - 20;
      changed[place] = (changed[place] ?? 0) ^ 1;
      await choose(page, file(`${name}.pdf`, bytes), file("changed.pdf", changed));
      await page.getByText("The covered bytes are not those that were signed.").first().waitFor();
      expect([name, ...(await verdicts(page))]).toEqual([name, "anchored", "altered"]);
      await page.getByRole("button", { name: "Check another document" }).click();
    }
    expect(troubles).toEqual([]);
    await context.close();
  } finally {
    await earlier.close();
  }
});

test("several files in turn, each with the words of its own state", async () => {
  const { page, context, troubles } = await visit(browser, { ...phone, colorScheme: "dark" });
  await page.goto(`${app.url}/verify`);
  const changed = Buffer.from(sealed);
  const place = changed.indexOf("endstream") - 20;
  changed[place] = (changed[place] ?? 0) ^ 1;
  await choose(
    page,
    file("changed.pdf", changed),
    file("plain.pdf", plain),
    file("text.pdf", Buffer.from("no PDF at all")),
    file("cut.pdf", Buffer.from("%PDF-1.7\nnothing more")),
    file("sealed.pdf", sealed),
  );
  await page.getByRole("heading", { name: "This document is genuine" }).waitFor();
  expect(await verdicts(page)).toEqual(["altered", "unsealed", "not-pdf", "unreadable", "anchored"]);
  await page.getByText("The covered bytes are not those that were signed.").first().waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  expect(await overflow(page)).toBe(0);
  await page.getByRole("button", { name: "Check another document" }).click();
  await page.getByRole("button", { name: "Choose files" }).waitFor();
  expect(troubles).toEqual([]);
  await context.close();
});

test("a certificate of completion is genuine as what it is, and red once it is changed", async () => {
  for (const [locale, words] of [
    ["en-GB", ["This is a genuine certificate of completion", "SHA-256 of the document"]],
    ["de-DE", ["Dieses Abschlusszertifikat ist echt", "SHA-256 des Dokuments"]],
  ] as const) {
    const { page, context, troubles } = await visit(browser, { ...desktop, locale });
    await page.goto(`${app.url}/verify`);
    const changed = Buffer.from(certificate);
    changed[400] = (changed[400] ?? 0) ^ 1;
    await choose(page, file("certificate.pdf", certificate), file("changed.pdf", changed));
    await page.getByRole("heading", { name: words[0] }).waitFor();
    await page.locator(".report").nth(1).waitFor();
    expect(await verdicts(page)).toEqual(["certificate", "altered"]);
    const genuine = page.locator(".report").first();
    await genuine.getByText(envelope, { exact: true }).waitFor();
    const documentSha256 = createHash("sha256").update(sealed).digest("hex");
    const fact = genuine.locator(`dt:text-is("${words[1]}") + dd`).first();
    expect(await fact.textContent()).toBe(documentSha256);
    expect(await genuine.locator('.steps li[data-state="fails"]').count()).toBe(0);
    const steps = genuine.locator(".steps li");
    expect(await steps.evaluateAll((items) => items.map((item) => item.getAttribute("data-step")))).toEqual(
      expect.arrayContaining(["certificate", "entry", "leaf", "path", "anchor", "signature", "key", "seal"]),
    );
    expect(await seriousFindings(page)).toEqual([]);
    expect(troubles).toEqual([]);
    await context.close();
  }
});

test("of a certificate that no entry names, or that does not fit, nothing is said but what it is called here", async () => {
  const { page, context, troubles } = await visit(browser, intercepted);
  await page.goto(`${app.url}/verify`);
  const documentSha256 = createHash("sha256").update(sealed).digest("hex");
  let answer = (certificate: CertificateMatch): CertificateMatch => certificate;
  await page.route("**/v1/public/verify", async (route) => {
    const response = await route.fetch();
    const found = VerifyResult.parse(await response.json());
    if (found.status !== "unknown" || !found.certificate) throw new Error("the certificate is not known");
    await route.fulfill({ response, json: { ...found, certificate: answer(found.certificate) } });
  });
  const reportOn = async (name: string) => {
    await choose(page, file(name, certificate));
    const report = page.locator(".report", { hasText: name });
    await report.waitFor();
    const facts = (await report.locator("dl").first().textContent()) ?? "";
    const verdict = await report.getAttribute("data-verdict");
    await page.getByRole("button", { name: "Check another document" }).click();
    return { verdict, facts };
  };
  const genuine = await reportOn("genuine.pdf");
  expect(genuine.verdict).toBe("certificate");
  for (const told of [envelope, documentSha256, "Organization"]) expect(genuine.facts).toContain(told);
  // As an entry of the first versions.
  answer = ({ entry, leaf, envelope: summary }) => {
    const { certificateSha256: _, ...data } = entry.data;
    const early = { ...entry, data };
    const hash = entryHash(early);
    const own = { entry: { ...early, hash }, leaf: { ...leaf, auditHash: hash } };
    return { ...own, envelope: summary, status: "pending", proof: null, anchor: null };
  };
  const unnamed = await reportOn("unnamed.pdf");
  expect(unnamed.verdict).toBe("certificate-unnamed");
  answer = (match) => ({ ...match, leaf: { ...match.leaf, auditHash: "ab".repeat(32) } });
  const wrong = await reportOn("wrong.pdf");
  expect(wrong.verdict).toBe("wrong");
  for (const { facts } of [unnamed, wrong])
    for (const claim of [envelope, documentSha256, "Organization"]) expect(facts).not.toContain(claim);
  expect(troubles).toEqual([]);
  await context.close();
});

test("a protected file, and one that another system signed, are told apart; a page that is not there is", async () => {
  const { page, context, troubles } = await visit(browser, desktop);
  await page.goto(`${app.url}/verify`);
  const source = path.join(folder, "plain.pdf");
  const target = path.join(folder, "protected.pdf");
  await writeFile(source, plain);
  execFileSync("qpdf", ["--encrypt", "user", "owner", "256", "--", source, target]);
  await choose(page, file("protected.pdf", await readFile(target)), file("elsewhere.pdf", await sealedElsewhere()));
  await page.getByRole("heading", { name: "Signed by another system" }).waitFor();
  expect(await verdicts(page)).toEqual(["encrypted", "elsewhere"]);
  expect(await seriousFindings(page)).toEqual([]);
  expect(troubles).toEqual([]);
  const missing = await page.goto(`${app.url}/verify/nothing`);
  expect(missing?.status()).toBe(404);
  await context.close();
});

async function sealedElsewhere(): Promise<Buffer> {
  const authority = makeAuthority({ ca: "ec-p256", seal: "ec-p256", timestamp: "ec-p256" });
  try {
    const input = {
      pdf: plain,
      pages: null,
      certificates: authority.seal.certificates,
      key: "ec-p256",
      // Its certificates were made a moment ago, by the machine's clock.
      at: new Date(Date.now() + 60_000).toISOString(),
      name: "Elsewhere",
      reason: "Completed",
      location: null,
      level: "B-T",
      fieldName: "Seal",
    } as const;
    const result = await seal(input, authority.ports());
    if (!result.ok) throw new Error(result.error.message);
    return Buffer.concat([plain, result.value.tail]);
  } finally {
    authority.close();
  }
}

test("on paper every step is open, and nothing that only a screen can use is there", async () => {
  const { page, context } = await visit(browser, desktop);
  await page.goto(`${app.url}/verify`);
  await choose(page, file("sealed.pdf", sealed));
  await page.getByRole("heading", { name: "This document is genuine" }).waitFor();
  await page.emulateMedia({ media: "print" });
  // The page is drawn a moment before it hears of printing.
  const printed = async () => {
    await page.evaluate("window.dispatchEvent(new Event('beforeprint'))");
    return await page.locator(".steps details:not([open])").count();
  };
  await expect.poll(printed).toBe(0);
  expect(await page.getByRole("button").filter({ visible: true }).count()).toBe(0);
  await page.getByText("SHA-256(0x00 ‖ leaf)").waitFor();
  await context.close();
});

test("a file of 210 MB is hashed piece by piece: it is never held whole", async () => {
  const { page, context } = await visit(browser, desktop);
  const devtools = await context.newCDPSession(page);
  const heap = heapOfWorker(devtools);
  await page.goto(`${app.url}/verify`);
  await page.getByRole("button", { name: "Choose files" }).waitFor();
  await page.evaluate(`(() => {
    const part = new Blob([new Uint8Array(1 << 20).fill(37)]);
    const transfer = new DataTransfer();
    transfer.items.add(new File(Array(210).fill(part), "huge.pdf", { type: "application/pdf" }));
    window.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
  })()`);
  const bar = page.getByRole("progressbar");
  const held: number[] = [];
  await bar.waitFor();
  while (held.length < 4 && (await page.locator(".report").count()) === 0) held.push(await heap());
  await page.locator(".report").waitFor();
  expect(await verdicts(page)).toEqual(["too-large"]);
  expect(held.length).toBeGreaterThan(0);
  expect(Math.max(...held)).toBeLessThan(150e6);
  await context.close();
});

const Usage = z.object({ id: z.int(), result: z.object({ usedSize: z.number(), backingStorageSize: z.number() }) });

/** Bytes that the worker of the page holds once its garbage is collected: objects and buffers. */
function heapOfWorker(devtools: CDPSession): () => Promise<number> {
  let worker: string | null = null;
  let next = 1;
  const waiting = new Map<number, (bytes: number) => void>();
  devtools.on("Target.attachedToTarget", ({ sessionId, targetInfo }) => {
    if (targetInfo.type === "worker") worker ??= sessionId;
  });
  devtools.on("Target.receivedMessageFromTarget", ({ message }) => {
    const usage = Usage.safeParse(JSON.parse(message));
    if (usage.success) waiting.get(usage.data.id)?.(usage.data.result.usedSize + usage.data.result.backingStorageSize);
  });
  devtools.on("Target.detachedFromTarget", () => {
    for (const answer of waiting.values()) answer(0);
  });
  const attached = devtools.send("Target.setAutoAttach", {
    autoAttach: true,
    waitForDebuggerOnStart: false,
    flatten: false,
  });
  const tell = (method: string) => {
    const id = next++;
    const message = JSON.stringify({ id, method });
    return [id, devtools.send("Target.sendMessageToTarget", { message, sessionId: worker ?? "" })] as const;
  };
  return async () => {
    await attached;
    // Chromium tells of a worker a moment after the page has started it.
    await expect.poll(() => worker, { timeout: 60_000 }).not.toBeNull();
    // The worker ends with its file.
    await tell("HeapProfiler.collectGarbage")[1].catch(() => undefined);
    return await new Promise<number>((resolve) => {
      const [id, sent] = tell("Runtime.getHeapUsage");
      waiting.set(id, resolve);
      sent.catch(() => resolve(0));
    });
  };
}

test("in German too", async () => {
  const { page, context } = await visit(browser, { ...desktop, locale: "de-DE" });
  const asked: string[] = [];
  page.on("request", (request) => {
    const words = /\/locales\/(\w+\/\w+)\.json/.exec(request.url())?.[1];
    if (words !== undefined) asked.push(words);
  });
  await page.addInitScript("navigator.clipboard.writeText = async (text) => { globalThis.copied = text }");
  await page.goto(`${app.url}/verify`);
  await page.locator("input[type=file]").waitFor({ state: "attached" });
  expect(asked.sort()).toEqual(["de/common", "de/evidence", "de/verify"]);
  // A report is for whoever is asked for help: English, whose words are fetched when there is one.
  const english = page.waitForResponse("**/locales/en/evidence.json*");
  await choose(page, file("sealed.pdf", sealed));
  await page.getByRole("heading", { name: "Dieses Dokument ist echt" }).waitFor();
  await page.getByText("Das Siegel im PDF").waitFor();
  await (await english).finished();
  // A browser lets a page write to the clipboard only within the click: nothing may be awaited before.
  await page.getByRole("button", { name: "Bericht als JSON kopieren" }).focus();
  const within = await page.evaluate("document.activeElement.click(), typeof globalThis.copied");
  expect(within).toBe("string");
  await page.getByText("Kopiert.").waitFor();
  const { steps } = z
    .object({ steps: z.array(z.object({ detail: z.string() })) })
    .parse(JSON.parse(z.string().parse(await page.evaluate("copied"))));
  expect(steps.map(({ detail }) => detail)).toContain("The file is the one that the leaf names.");
  expect(await seriousFindings(page)).toEqual([]);
  await context.close();
});
