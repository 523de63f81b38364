import { createHash } from "node:crypto";
import type { Deps } from "../../../kernel/deps.ts";
import { derOf } from "../../../kernel/pem.ts";
import type { AuditEntry } from "../../envelopes/audit-contract.ts";
import { allViewersOf, auditTrail, type EnvelopeRecord, loadEnvelope, versionOf } from "../../envelopes/service.ts";
import { authorities } from "../../keys/service.ts";
import { listMail } from "../../mail/service.ts";
import { submissionsOf } from "../../signing/service.ts";
import { bytesOf, type Findings, guarded, isThere, lookTwice } from "../findings.ts";
import { presentLeaf } from "../present.ts";
import { ownSignatures } from "../seal-steps.ts";
import * as store from "../store.ts";
import type { Walk } from "./fsck.ts";
import { checkTrail } from "./trail.ts";
import { checkSubmissions, checkWaiting } from "./work.ts";

/** DER of the authorities behind seals, and of those behind time stamps. */
type Trust = { trusted: Uint8Array[]; trustedTimestamp: Uint8Array[] };

const pageSize = 100;
/** Looked at side by side: while one waits for the disk or a worker, the next is read. */
const atOnce = 4;

/** Each envelope: its audit chain, revisions, files, sealed document, leaf, anchor, mails, and that nothing is left lying. */
export async function checkEnvelopes(deps: Deps, walk: Walk, from: string): Promise<void> {
  const { findings } = walk;
  const trust: Trust = { trusted: [], trustedTimestamp: [] };
  await guarded(findings, "signing_keys", async () => {
    Object.assign(trust, await readTrust(deps));
  });
  findings.count("envelopes", 0);
  let behind = 0;
  let total = 0;
  let after = from;
  await guarded(findings, "envelopes", async () => {
    total = await store.countEnvelopes(deps.db.read, "");
    behind = total - (await store.countEnvelopes(deps.db.read, from));
  });
  for (;;) {
    let ids: string[] = [];
    await guarded(findings, "envelopes", async () => {
      ids = await store.listEnvelopeIds(deps.db.read, after, pageSize);
    });
    for (let at = 0; at < ids.length; at += atOnce) {
      const group = ids.slice(at, at + atOnce);
      const looks = group.map((id) => lookTwice(id, (own) => checkEnvelope(deps, own, id, trust)));
      for (const report of await Promise.all(looks)) report(findings);
      findings.count("envelopes", group.length);
      behind += group.length;
      walk.progress(Math.min(1, behind / Math.max(1, total)));
      await walk.reached(({ records }) => {
        records.after = group.at(-1) ?? records.after;
      });
    }
    const last = ids.at(-1);
    if (last === undefined) return;
    after = last;
  }
}

/** Whom the seals of this installation are trusted to. */
export async function readTrust(deps: Deps): Promise<Trust> {
  const { seals, timestamps } = await authorities(deps.db.read);
  return { trusted: seals.map(derOf), trustedTimestamp: timestamps.map(derOf) };
}

/** One envelope with everything that belongs to it, in a single look. */
export async function checkEnvelope(deps: Deps, findings: Findings, id: string, trust: Trust): Promise<void> {
  const part = (check: () => Promise<void>) => guarded(findings, id, check);
  let entries: readonly AuditEntry[] = [];
  await part(async () => {
    const trail = await auditTrail(deps.db.read, id, deps.clock.ts());
    const { valid, length, brokenAtSeq } = trail.verification;
    entries = trail.entries;
    findings.count("audit entries", length);
    if (!valid) findings.found("audit-broken", id, `entry ${brokenAtSeq} does not follow the one before`);
  });
  const record = await loadEnvelope(deps.db.read, id);
  if (!record) return;
  const deleted = record.envelope.documents_deleted_at !== null;
  if (deleted !== entries.some(({ type }) => type === "envelope.documents_deleted"))
    findings.found("audit-deletion", id, "whether its documents were deleted is not what the trail says");
  // What was deleted leaves its numbers and hashes behind, and those must still fit.
  await part(() => checkRevisions(deps, findings, record));
  if (!deleted) await part(() => checkFiles(deps, findings, record));
  await part(async () => {
    if (record.envelope.seal !== "sealed") return;
    if (!deleted) await checkSealed(deps, findings, { record, trust });
    await checkLeafOf(deps, findings, record, entries);
  });
  await part(async () => {
    const submissions = await submissionsOf(deps.db.read, id);
    checkTrail(findings, { ...record, viewers: await allViewersOf(deps.db.read, id) }, entries, submissions);
  });
  await part(() => checkSubmissions(deps, findings, record, entries));
  await part(() => checkWaiting(deps, findings, record));
  await part(() => checkMails(deps, findings, record));
}

/**
 * The revisions in their numbers and, while the documents are there, that each file begins with those before it. Only the
 * longest is read: cut at a revision's size it must have that revision's hash.
 */
async function checkRevisions(deps: Deps, findings: Findings, { envelope, revisions }: EnvelopeRecord): Promise<void> {
  if (envelope.document_sha256 !== (revisions[0]?.sha256 ?? null))
    findings.found("revision-original", envelope.id, "documentSha256 is not the hash of revision 0");
  const deleted = envelope.documents_deleted_at !== null;
  for (const [index, revision] of revisions.entries()) {
    const where = `${envelope.id} revision ${revision.number}`;
    findings.count("revisions");
    if (revision.number !== index) findings.found("revision-number", where, `revision ${index} is missing`);
    if (deleted || !(await isThere(deps, findings, { sha256: revision.sha256, where }))) continue;
    if ((await deps.blobs.size(revision.sha256)) !== revision.size)
      findings.found("revision-size", where, "it has another size");
  }
  const newest = revisions.at(-1);
  if (deleted || newest === undefined || !(await deps.blobs.has(newest.sha256))) return;
  const bytes = await bytesOf(deps, findings, newest.sha256, envelope.id);
  if (bytes === null) return;
  const hashes = prefixHashes(
    bytes,
    revisions.map(({ size }) => size),
  );
  for (const [index, revision] of revisions.entries()) {
    if (hashes[index] === revision.sha256) continue;
    const after = revisions[index + 1] ?? revision;
    const where = `${envelope.id} revision ${after.number}`;
    findings.found("revision-prefix", where, "it does not begin with the bytes of the one before");
  }
}

/** SHA-256 of the bytes up to each length, hashed once; null where there are not as many, or the lengths go back. */
function prefixHashes(bytes: Uint8Array, lengths: readonly number[]): (string | null)[] {
  const hash = createHash("sha256");
  let at = 0;
  return lengths.map((length) => {
    if (length < at || length > bytes.length) return null;
    hash.update(bytes.subarray(at, length));
    at = length;
    return hash.copy().digest("hex");
  });
}

/** What else an envelope is made from. */
async function checkFiles(deps: Deps, findings: Findings, { envelope }: EnvelopeRecord): Promise<void> {
  const version = await versionOf(deps, deps.db.read, envelope);
  for (const sha256 of version.blobs) await isThere(deps, findings, { sha256, where: envelope.id });
  for (const { attachments, signature, initials } of await submissionsOf(deps.db.read, envelope.id)) {
    for (const { sha256, size } of attachments) await isThere(deps, findings, { sha256, size, where: envelope.id });
    for (const picture of [signature, initials])
      if (picture && "imageSha256" in picture)
        await isThere(deps, findings, { sha256: picture.imageSha256, where: envelope.id });
  }
}

async function checkSealed(
  deps: Deps,
  findings: Findings,
  about: { record: EnvelopeRecord; trust: Trust },
): Promise<void> {
  const { envelope } = about.record;
  const { id, sealed_sha256: sealedSha256, certificate_sha256: certificateSha256 } = envelope;
  if (sealedSha256 === null || certificateSha256 === null)
    return findings.found("sealed-unnamed", id, "it is sealed and names no file");
  findings.count("sealed documents");
  const pdf = await bytesOf(deps, findings, sealedSha256, id);
  const certificate = await bytesOf(deps, findings, certificateSha256, id);
  const signed = about.record.revisions.at(-1);
  if (pdf && signed && prefixHashes(pdf, [signed.size])[0] !== signed.sha256)
    findings.found("sealed-prefix", id, "it does not begin with what was signed");
  for (const [code, file] of [
    ["seal-invalid", pdf],
    ["certificate-invalid", certificate],
  ] as const) {
    if (!file) continue;
    const verdict = await deps.pool.run("verifyPdf", { pdf: file, ...about.trust, at: deps.clock.ts() });
    if (!verdict.ok) findings.found(code, id, `its seal cannot be read: ${verdict.error.message}`);
    else if (!verdict.value.valid) {
      const problems = [...verdict.value.problems, ...ownSignatures(verdict.value).flatMap((one) => one.problems)];
      findings.found(code, id, `a seal does not hold: ${problems.join(", ")}`);
    }
  }
}

/** One leaf for each sealed entry of the trail, and the first anchor over it. */
async function checkLeafOf(
  deps: Deps,
  findings: Findings,
  { envelope }: EnvelopeRecord,
  entries: readonly AuditEntry[],
): Promise<void> {
  const { id } = envelope;
  const seals = entries.filter(({ type }) => type === "envelope.sealed" || type === "envelope.seal_extended");
  const rows = await store.leavesOfEnvelope(deps.db.read, envelope.id);
  if (rows.length !== seals.length)
    findings.found("leaf-count", id, `${seals.length} seals have ${rows.length} leaves`);
  for (const [index, row] of rows.entries()) {
    const leaf = presentLeaf(row);
    const entry = seals[index];
    // The leaf says it under the anchors' signatures; a seal that was raised keeps the time of the first.
    if (leaf.sealedAt !== envelope.sealed_at) findings.found("record-time", id, "it was sealed at another time");
    if (leaf.testMode !== (envelope.test_mode === 1))
      findings.found("record-facts", id, "its leaf is of the other mode");
    // What was sealed before it was raised stays, too.
    if (envelope.documents_deleted_at === null)
      await isThere(deps, findings, { sha256: leaf.documentSha256, where: `${id} leaf ${row.leaf_index}` });
    if (leaf.auditHash !== entry?.hash || leaf.documentSha256 !== entry.data.sealedSha256)
      findings.found("leaf-entry", id, `leaf ${row.leaf_index} does not name its audit entry`);
  }
  const certificate = seals.at(-1)?.data.certificateSha256;
  // Entries of the first versions name no certificate: for those its seal is all that speaks for it.
  if (certificate !== undefined && certificate !== envelope.certificate_sha256)
    findings.found("certificate-other", id, "the newest seal names another certificate of completion");
  const last = rows.at(-1);
  if (last && last.document_sha256 !== envelope.sealed_sha256)
    findings.found("leaf-document", id, "the newest leaf names another file");
  const anchor = rows[0] && (await store.findCoveringAnchor(deps.db.read, rows[0].leaf_index));
  const named = (await loadEnvelope(deps.db.read, envelope.id))?.envelope.anchor_sequence ?? null;
  if (named !== null && named !== anchor?.sequence)
    findings.found("anchor-envelope", id, "it names another anchor than the first that covers it");
  if (named === null && anchor) findings.found("anchor-envelope", id, "an anchor covers it that it does not name");
}

/** A settled seal was told to everybody once, and every mail has a Message-ID of its own. */
async function checkMails(deps: Deps, findings: Findings, record: EnvelopeRecord): Promise<void> {
  const { envelope, recipients, cc } = record;
  const mails = await listMail(deps.db.read, deps, { envelope: envelope.id });
  findings.count("mails", mails.length);
  const ids = mails.map(({ messageId }) => messageId);
  if (new Set(ids).size !== ids.length || ids.some((id) => !/^<[^<>@\s]+@[^<>\s]+>$/.test(id)))
    findings.found("mail-ids", envelope.id, "two mails have one Message-ID, or one has none");
  if (envelope.seal !== "sealed" && envelope.seal !== "failed") return;
  const told = mails.filter(({ kind }) => kind === "completed").map(({ to }) => to.email.toLowerCase());
  if (new Set(told).size !== told.length)
    findings.found("mail-twice", envelope.id, "somebody was told twice of the completion");
  for (const { email } of [...recipients, ...cc])
    if (!told.includes(email.toLowerCase()))
      findings.found("mail-untold", envelope.id, `${email} was not told of the completion`);
}
