import { execFileSync } from "node:child_process";
import { createHash, X509Certificate } from "node:crypto";
import { mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { judgeSealedPdf } from "../../../server/commands/demo/judges.ts";
import { runChecks } from "../../../server/features/appliance/checks.ts";
import { listStuckWork } from "../../../server/features/appliance/work.ts";
import type { Envelope } from "../../../server/features/envelopes/contract.ts";
import { sealEnvelope } from "../../../server/features/envelopes/jobs.ts";
import { loadEnvelope } from "../../../server/features/envelopes/progress.ts";
import { anchorNow } from "../../../server/features/evidence/anchors/signing.ts";
import { entryHash } from "../../../server/features/evidence/certificate-check.ts";
import { Anchor, AnchorList, VerifyResult } from "../../../server/features/evidence/contract.ts";
import { fsck } from "../../../server/features/evidence/fsck/fsck.ts";
import { sealCompleted } from "../../../server/features/evidence/sealing.ts";
import { verifyEvidence } from "../../../server/features/evidence/verify.ts";
import { ownEvidence, remoteEvidence, verifyFile } from "../../../server/features/evidence/verify-file.ts";
import { AnchorKeys } from "../../../server/features/keys/contract.ts";
import { sealSigner } from "../../../server/features/keys/service.ts";
import { openOutbound } from "../../../server/kernel/outbound.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { movableClock } from "../../harness/clock.ts";
import { CLAUSE, contract } from "../../harness/hostile-pdfs.ts";
import { textOf } from "../../harness/rendering.ts";
import {
  auditOf,
  enter,
  envelopeOf,
  items,
  ok,
  publishTemplate,
  refusal,
  send,
  submission,
} from "../../harness/scenario.ts";

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** One person signs; a minute later than anything before, so that the newest mail is theirs. */
async function sign(app: TestAppliance, email: string): Promise<void> {
  clock.advance(60_000);
  const bearer = await enter(app, email);
  await ok(app, 200, "/v1/signing/submit", { key: { bearer }, json: await submission(app, bearer) });
}

async function sent(app: TestAppliance, template: string, envelope: Record<string, unknown> = {}): Promise<string> {
  clock.advance(60_000);
  return (await send(app, template, { envelope })).id;
}

/** Both people sign; the seal and the anchor follow by themselves. */
async function signed(app: TestAppliance, template: string, envelope: Record<string, unknown> = {}): Promise<Envelope> {
  const id = await sent(app, template, envelope);
  for (const email of ["ada@example.com", "ben@example.com"]) {
    await sign(app, email);
    await app.jobs.idle();
  }
  return await envelopeOf(app, id);
}

async function documentOf(app: TestAppliance, id: string, version: string): Promise<Buffer> {
  const response = await app.call(`/v1/envelopes/${id}/document?version=${version}`);
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

async function lookUp(app: TestAppliance, hash: string): Promise<VerifyResult> {
  return VerifyResult.parse((await ok(app, 200, "/v1/public/verify", { key: null, json: { sha256: hash } })).body);
}

let app: TestAppliance;
let template: string;
let folder: string;
const clock = movableClock();

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "signet-evidence-"));
  app = await startAppliance({ clock });
  template = await publishTemplate(app);
});
afterAll(async () => {
  await app?.stop();
  await rm(folder, { recursive: true, force: true });
});

describe("a completed envelope", () => {
  let envelope: Envelope;
  let sealed: Buffer;
  beforeAll(async () => {
    envelope = await signed(app, template, { title: "Flat 12: lease / 2027", cc: [{ email: "cc@example.com" }] });
    sealed = await documentOf(app, envelope.id, "sealed");
  });

  test("is sealed, and independent judges find nothing wrong", async () => {
    expect(envelope).toMatchObject({ status: "completed", seal: "sealed", sealLevel: "B-LTA" });
    const ca = path.join(folder, "ca.pem");
    const file = path.join(folder, "sealed.pdf");
    const pem = await app.call("/.well-known/svc/certificates.pem", { key: null });
    expect(pem.headers.get("access-control-allow-origin")).toBe("*");
    await writeFile(ca, await pem.text());
    await writeFile(file, sealed);
    expect((await judgeSealedPdf(file, ca)).filter((verdict) => !verdict.ok)).toEqual([]);
    await writeFile(file, await documentOf(app, envelope.id, "certificate"));
    expect((await judgeSealedPdf(file, ca)).filter((verdict) => !verdict.ok)).toEqual([]);
  });

  test("begins byte for byte with what each person was shown", async () => {
    const record = await loadEnvelope(app.deps.db.read, envelope.id);
    expect(record?.revisions.map(({ number }) => number)).toEqual([0, 1, 2]);
    for (const revision of record?.revisions ?? []) {
      expect(sha256(sealed.subarray(0, revision.size))).toBe(revision.sha256);
    }
  });

  test("has certificate pages that name people, times and hashes", async () => {
    const file = path.join(folder, "pages.pdf");
    await writeFile(file, sealed);
    const text = execFileSync("pdftotext", ["-layout", file, "-"]).toString();
    const trail = await auditOf(app, envelope.id);
    for (const expected of [
      envelope.id,
      "Ada Muster",
      "ben@example.com",
      "e-mail code",
      "cc@example.com",
      "internal time source",
    ])
      expect(text).toContain(expected);
    const completed = trail.data.find(({ type }) => type === "envelope.completed");
    expect(text.replaceAll(/\s/g, "")).toContain(completed?.hash);
  });

  test("has a standalone certificate that also says what became of the seal", async () => {
    const text = textOf(await documentOf(app, envelope.id, "certificate")).replace(/\s+/g, " ");
    expect(text).toContain(sha256(sealed));
    expect(text).toMatch(/Time stamp of the seal .*2026-11-21 \d\d:\d\d:\d\d UTC/);
    expect(text).toContain("Document time stamp");
    for (const { hash } of (await auditOf(app, envelope.id)).data.filter(({ type }) => type === "envelope.completed"))
      expect(text).toContain(hash);
    const { certificates } = await sealSigner(app.deps);
    const key = new X509Certificate(certificates[0] ?? "").publicKey.export({ type: "spki", format: "der" });
    expect(text).toContain(sha256(key));
    const pages = textOf(sealed).replace(/\s+/g, " ");
    expect(pages).toContain(sha256(key));
    expect(pages).toContain("stands in the seal, which was made after these pages");
  });

  test("is found by its hash, and its proof holds without the server", async () => {
    const found = await lookUp(app, sha256(sealed).toUpperCase());
    if (found.status !== "anchored") throw new Error(found.status);
    const trail = await auditOf(app, envelope.id);
    expect(found.leaf.auditHash).toBe(trail.data.find(({ type }) => type === "envelope.sealed")?.hash);
    expect(found.envelope).toMatchObject({ id: envelope.id, organization: "Example Ltd", pageCount: 2 });
    expect(JSON.stringify(found.envelope)).not.toMatch(/\bada\b|ben@|muster/i);
    const { keys } = AnchorKeys.parse((await ok(app, 200, "/.well-known/svc/keys.json", { key: null })).body);
    expect(verifyEvidence({ ...found, sha256: sha256(sealed), keys }).steps.filter((step) => !step.ok)).toEqual([]);
    const latest = Anchor.parse((await ok(app, 200, "/v1/public/anchors/latest", { key: null })).body);
    expect(latest).toEqual(found.anchor);
    expect((await envelopeOf(app, envelope.id)).anchorSequence).toBe(found.anchor.sequence);
  });

  test("is unknown with any other byte", async () => {
    expect(await lookUp(app, "0".repeat(64))).toMatchObject({ status: "unknown", envelope: null, leaf: null });
    expect(await refusal(app, "/v1/public/verify", { key: null, json: { sha256: "abc" } })).toMatchObject({
      status: 422,
      at: ["#/sha256"],
    });
  });

  test("is told to signers, copies and the sender, each with a link of their own", async () => {
    const mails = (await app.mail()).filter(({ kind, envelope: id }) => kind === "completed" && id === envelope.id);
    expect(mails.map(({ to }) => to.email).sort()).toEqual([
      "ada@example.com",
      "ben@example.com",
      "cc@example.com",
      "owner@example.com",
    ]);
    const links = mails.map(({ link }) => link ?? "");
    expect(new Set(links).size).toBe(4);
    const response = await fetch(links[0] ?? "");
    expect(response.status).toBe(200);
    expect(response.headers.get("content-disposition")).toContain("Flat 12 lease 2027.pdf");
    expect(sha256(Buffer.from(await response.arrayBuffer()))).toBe(sha256(sealed));
    const [token = ""] = links.map((link) => new URL(link).pathname.split("/").at(-1));
    expect(await refusal(app, "/v1/public/documents/svcd_nothing", { key: null })).toMatchObject({ status: 404 });
    expect((await app.call(`/v1/public/documents/${token}`, { key: null })).status).toBe(200);
  });

  test("verifies as a file, on the data folder and over HTTP, and tampering is seen", async () => {
    const { source, pins } = await ownEvidence(app.deps);
    expect(await verifyFile(app.deps, sealed, source, pins)).toMatchObject({
      verdict: "valid",
      exitCode: 0,
      problems: [],
    });
    const port = new URL(app.url).port;
    const remote = await remoteEvidence(openOutbound({ allow: [`verify=127.0.0.1:${port}`] }), app.url);
    const unpinned = { kids: [], certificates: [] };
    expect(await verifyFile(app.deps, sealed, remote, unpinned)).toMatchObject({ verdict: "unpinned", exitCode: 2 });
    expect(await verifyFile(app.deps, sealed, remote, pins)).toMatchObject({ verdict: "valid", exitCode: 0 });
    // The letter case of the signature's hexadecimal: every other judge calls this one valid.
    const text = sealed.toString("latin1");
    const at = text.lastIndexOf("/Contents <") + "/Contents <".length;
    const letter = at + text.slice(at).search(/[a-f]/i);
    const other = Buffer.from(sealed);
    other[letter] = (other[letter] ?? 0) ^ 0x20;
    expect(await verifyFile(app.deps, other, source, pins)).toMatchObject({ verdict: "unknown", exitCode: 1 });
    const longer = Buffer.concat([sealed, Buffer.from("% more\n")]);
    expect((await verifyFile(app.deps, longer, source, pins)).seals.problems).toEqual(["bytes-after-seal"]);
  });

  test("has a standalone certificate that verifies as that, bound to the document by the record", async () => {
    const certificate = await documentOf(app, envelope.id, "certificate");
    const found = await lookUp(app, sha256(certificate));
    // Whoever asks only for documents hears what they heard before.
    expect(found).toMatchObject({ status: "unknown", envelope: null, leaf: null, proof: null, anchor: null });
    const match = found.status === "unknown" ? found.certificate : undefined;
    expect(match).toMatchObject({
      status: "anchored",
      envelope: { id: envelope.id, title: "Flat 12: lease / 2027" },
      entry: { type: "envelope.sealed", data: { certificateSha256: sha256(certificate) } },
      leaf: { envelope: envelope.id, documentSha256: sha256(sealed) },
    });
    expect(JSON.stringify(match)).not.toMatch(/\bada\b|ben@|muster/i);
    const { source, pins } = await ownEvidence(app.deps);
    const certificateOf = { envelope: envelope.id, documentSha256: sha256(sealed) };
    const port = new URL(app.url).port;
    const remote = await remoteEvidence(openOutbound({ allow: [`verify=127.0.0.1:${port}`] }), app.url);
    for (const from of [source, remote])
      expect(await verifyFile(app.deps, certificate, from, pins)).toMatchObject({
        verdict: "valid",
        exitCode: 0,
        problems: [],
        certificateOf,
        testMode: false,
      });
    const unpinned = { kids: [], certificates: [] };
    expect(await verifyFile(app.deps, certificate, remote, unpinned)).toMatchObject({ verdict: "unpinned" });
    expect((await verifyFile(app.deps, sealed, source, pins)).certificateOf).toBeNull();
    for (const place of [400, certificate.length - 1]) {
      const changed = Buffer.from(certificate);
      changed[place] = (changed[place] ?? 0) ^ 1;
      expect(await verifyFile(app.deps, changed, source, pins)).toMatchObject({ exitCode: 1, certificateOf: null });
    }
    // Entries of the first versions name no certificate: nothing but the server's word ties the file to an envelope.
    if (match === undefined) throw new Error("the certificate is not known");
    const { certificateSha256: _, ...unnamed } = match.entry.data;
    const data = { ...match.entry, data: unnamed };
    const entry = { ...data, hash: entryHash(data) };
    const early: VerifyResult = {
      ...found,
      status: "unknown",
      envelope: null,
      leaf: null,
      proof: null,
      anchor: null,
      certificate: { ...match, entry },
    };
    const unproven = await verifyFile(app.deps, certificate, { ...source, lookUp: async () => early }, pins);
    expect(unproven.steps).toContainEqual(expect.objectContaining({ code: "certificate-unnamed", ok: null }));
    expect(unproven.certificateOf).toBeNull();
    // A server that vouches for another file of the same installation is contradicted by its own record.
    const lying = { ...source, lookUp: async (sha256: string) => ({ ...found, sha256 }) };
    expect(await verifyFile(app.deps, sealed, lying, pins)).toMatchObject({
      verdict: "invalid",
      causes: ["certificate-other"],
      certificateOf: null,
    });
  });

  test("a second seal of the same envelope changes nothing", async () => {
    expect(await sealCompleted(app.deps, envelope.id, AbortSignal.timeout(60_000))).toBeUndefined();
  });
});

test("a German envelope in test mode has German certificates under the watermark", async () => {
  clock.advance(60_000);
  const tenant = { role: "Tenant", name: "\u064a\u0648\u0633\u0641 \u0628\u0646", email: "ada@example.com" };
  const people = [tenant, { role: "Landlord", name: "Ben Beispiel", email: "ben@example.com" }];
  const { id } = await send(app, template, { key: "test", envelope: { locale: "de-AT", recipients: people } });
  for (const email of ["ada@example.com", "ben@example.com"]) {
    await sign(app, email);
    await app.jobs.idle();
  }
  for (const version of ["sealed", "certificate"]) {
    const response = await app.call(`/v1/envelopes/${id}/document?version=${version}`, { key: "test" });
    const text = textOf(Buffer.from(await response.arrayBuffer())).replace(/\s+/g, " ");
    for (const words of ["Abschlusszertifikat", "Im Testmodus erstellt", "Code per E-Mail", "Zugestimmt", " UTC"])
      expect(text).toContain(words);
    // The letters of the watermark climb across the page, so that they are read as two words.
    expect(text).toMatch(/\bTE\b/);
    expect(text).toMatch(/\bST\b/);
    expect(text).not.toMatch(/Certificate of completion|Identity|Signature level|not recorded/);
  }
});

test("two seals at once end in one, and one leaf", async () => {
  const id = await sent(app, template);
  await sign(app, "ada@example.com");
  await app.jobs.idle();
  await sign(app, "ben@example.com");
  // The queue makes its own at the same time.
  const commits = await Promise.all([1, 2].map(() => sealCompleted(app.deps, id, AbortSignal.timeout(60_000))));
  for (const commit of commits) if (commit) await app.deps.db.tx(commit).catch(() => undefined);
  clock.advance(60_000);
  app.jobs.wake();
  await app.jobs.idle();
  const trail = await auditOf(app, id);
  expect(trail.data.filter(({ type }) => type === "envelope.sealed")).toHaveLength(1);
  expect((await fsck(app.deps)).problems).toEqual([]);
});

test("anchors follow one another, in pages, newest first", async () => {
  for (let round = 0; round < 2; round += 1) {
    await signed(app, template);
    clock.advance(5000);
    app.jobs.wake();
    await app.jobs.idle();
    await anchorNow(app.deps);
  }
  const first = AnchorList.parse((await ok(app, 200, "/v1/public/anchors?limit=2", { key: null })).body);
  expect(first).toMatchObject({ hasMore: true });
  const next = AnchorList.parse(
    (await ok(app, 200, `/v1/public/anchors?limit=100&cursor=${first.nextCursor}`, { key: null })).body,
  );
  const all = [...first.data, ...next.data];
  expect(all.map(({ sequence }) => sequence)).toEqual(all.map((_, index) => all.length - index));
  for (const [index, anchor] of all.entries()) {
    expect(anchor.previousAnchorHash).toBe(all[index + 1]?.anchorHash ?? null);
    expect(await ok(app, 200, `/v1/public/anchors/${anchor.sequence}`, { key: null })).toMatchObject({ body: anchor });
  }
  expect(await refusal(app, "/v1/public/anchors/999", { key: null })).toMatchObject({ status: 404 });
  expect(await refusal(app, "/v1/public/anchors/x", { key: null })).toMatchObject({ status: 404 });
  expect(await refusal(app, "/v1/public/anchors?cursor=AAAA", { key: null })).toMatchObject({ status: 422 });
});

test("a link from a completion mail ends after 30 days", async () => {
  const mail = (await app.mail()).find(({ kind }) => kind === "completed");
  const target = new URL(mail?.link ?? "").pathname;
  clock.advance(30 * 24 * 3_600_000);
  expect(await refusal(app, target, { key: null })).toMatchObject({ status: 410, code: "link-expired" });
});

test("a seal that is given up is told to everybody, without a file", async () => {
  const id = await sent(app, template);
  await sign(app, "ada@example.com");
  await app.jobs.idle();
  // What is signed cannot be read any more, until somebody brings it back.
  const revision = (await loadEnvelope(app.deps.db.read, id))?.revisions[1]?.sha256 ?? "";
  const file = path.join(app.folder, "blobs", revision.slice(0, 2), revision.slice(2, 4), revision);
  clock.advance(60_000);
  const bearer = await enter(app, "ben@example.com");
  const json = await submission(app, bearer);
  await rename(file, `${file}.away`);
  await ok(app, 200, "/v1/signing/submit", { key: { bearer }, json });
  await app.jobs.idle();
  expect(await envelopeOf(app, id)).toMatchObject({
    status: "completed",
    seal: "pending",
    failure: { stage: "seal", code: "seal-delayed", message: expect.stringContaining(revision.slice(0, 8)) },
  });
  for (let attempt = 1; attempt < sealEnvelope.maxAttempts; attempt += 1) {
    clock.advance(sealEnvelope.backoffMs(attempt));
    app.jobs.wake();
    await app.jobs.idle();
  }
  await rename(`${file}.away`, file);
  expect(await envelopeOf(app, id)).toMatchObject({ seal: "failed" });
  const told = (await app.mail()).filter(({ kind, envelope }) => kind === "completed" && envelope === id);
  expect(told).toHaveLength(3);
  expect(told.every(({ link }) => link === null)).toBe(true);
  expect((await fsck(app.deps)).problems).toEqual([]);
});

describe("a file that an earlier version accepted", () => {
  let older: TestAppliance;
  beforeAll(async () => {
    older = await startAppliance({ clock });
  });
  afterAll(async () => older?.stop());

  /** Everybody signs on a template whose file was taken in without a look at it. */
  async function signedOn(pdf: Uint8Array): Promise<Envelope> {
    const known = await publishTemplate(older, { items: items.map((item) => ({ ...item, page: 1 })) });
    const { sha256: stored } = await older.deps.blobs.put(pdf);
    await older.deps.db.tx(async (tx) => {
      await tx.updateTable("template_versions").set({ file_sha256: stored }).where("template", "=", known).execute();
    });
    return await signed(older, known);
  }

  test("whose page tree is itself a page is sealed all the same", async () => {
    const root = "<</Type/Page/Contents 6 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 7 0 R>>>>>>";
    const envelope = await signedOn(contract({ 2: root }));
    expect(envelope).toMatchObject({ status: "completed", seal: "sealed", failure: null });
    const file = path.join(folder, "root.pdf");
    await writeFile(
      file,
      Buffer.from(await (await older.call(`/v1/envelopes/${envelope.id}/document?version=sealed`)).arrayBuffer()),
    );
    const pages = execFileSync("pdftotext", ["-layout", file, "-"]).toString().split("\f");
    expect(pages[0]).toContain(CLAUSE);
    expect(pages.slice(1).join()).toContain(envelope.id);
  });

  test("and that cannot be sealed is given up at once: everybody is told, the operator too", async () => {
    const store = `/DSS<</Certs[${"6 0 R ".repeat(1001)}]>>`;
    const envelope = await signedOn(contract({ 1: `<</Type/Catalog/Pages 2 0 R${store}>>` }));
    const message = "seal: damaged: too much in the document security store";
    expect(envelope).toMatchObject({ status: "completed", seal: "failed" });
    expect(envelope.failure).toMatchObject({ stage: "seal", code: "seal-failed", message });
    const told = (await older.mail()).filter((mail) => mail.kind === "completed" && mail.envelope === envelope.id);
    expect(told.map(({ link }) => link)).toEqual([null, null, null]);
    const { data } = await runChecks(older.deps, { thorough: false, tls: null });
    const stuck = data.find(({ id }) => id === "stuck-work");
    expect(stuck).toMatchObject({ state: "warning" });
    expect(JSON.stringify(stuck)).toContain(message);
    // It failed before it was shown as delayed.
    const trail = await auditOf(older, envelope.id);
    expect(trail.data.map(({ type }) => type).filter((type) => type.includes("seal"))).toEqual([
      "envelope.seal_failed",
    ]);
    // After an update it can be tried again.
    const [job] = (await listStuckWork(older.deps.db.read, 10)).data;
    expect(job).toMatchObject({ name: "evidence.seal", state: "failed" });
  });
});

test("fsck finds a blob that was damaged on the disk", async () => {
  expect(await fsck(app.deps)).toMatchObject({ ok: true, problems: [] });
  const sealed = (await envelopeOf(app, (await signed(app, template)).id)).sealedSha256 ?? "";
  const file = path.join(app.folder, "blobs", sealed.slice(0, 2), sealed.slice(2, 4), sealed);
  const bytes = await readFile(file);
  bytes[bytes.length - 100] = (bytes[bytes.length - 100] ?? 0) ^ 1;
  await writeFile(file, bytes);
  const report = await fsck(app.deps);
  expect(report.ok).toBe(false);
  expect(new Set(report.problems.map(({ kind }) => kind))).toEqual(new Set(["blob"]));
});
