import type { Deps } from "../../kernel/deps.ts";
import { auditTrail } from "../envelopes/audit.ts";
import type { AuditEntry } from "../envelopes/audit-contract.ts";
import { type EnvelopeRecord, loadEnvelope } from "../envelopes/progress.ts";
import { versionOf } from "../envelopes/service.ts";
import { caCertificates } from "../keys/service.ts";
import { listMail } from "../mail/service.ts";
import { submissionsOf } from "../signing/service.ts";
import { bytesOf, confirmed, type Findings, guarded } from "./findings.ts";
import { checkSubmissions, checkWaiting } from "./fsck-work.ts";
import { derOf } from "./pem.ts";
import { presentLeaf } from "./present.ts";
import * as store from "./store.ts";
import { ownSignatures } from "./verify-file.ts";

const pageSize = 100;

/** Each envelope: its audit chain, revisions, files, sealed document, leaf, anchor, mails, and that nothing is left lying. */
export async function checkEnvelopes(deps: Deps, findings: Findings): Promise<void> {
  const trusted: Uint8Array[] = [];
  await guarded(findings, "signing_keys", async () => {
    trusted.push(...(await caCertificates(deps.db.read)).map(derOf));
  });
  findings.count("envelopes", 0);
  let after = "";
  for (;;) {
    const ids = await store.listEnvelopeIds(deps.db.read, after, pageSize);
    for (const id of ids) {
      findings.progress(`envelope ${id}`);
      findings.count("envelopes");
      await confirmed(findings, id, (own) => checkEnvelope(deps, own, id, trusted));
    }
    const last = ids.at(-1);
    if (last === undefined) return;
    after = last;
  }
}

async function checkEnvelope(deps: Deps, findings: Findings, id: string, trusted: Uint8Array[]): Promise<void> {
  const part = (check: () => Promise<void>) => guarded(findings, id, check);
  let entries: readonly AuditEntry[] = [];
  let newest: Uint8Array | null = null;
  await part(async () => {
    const trail = await auditTrail(deps.db.read, id, deps.clock.ts());
    const { valid, length, brokenAtSeq } = trail.verification;
    entries = trail.entries;
    findings.count("audit entries", length);
    if (!valid) findings.problem("audit-chain", id, `entry ${brokenAtSeq} does not follow the one before`);
  });
  const record = await loadEnvelope(deps.db.read, id);
  if (!record) return;
  await part(async () => {
    newest = await checkRevisions(deps, findings, record);
  });
  await part(() => checkFiles(deps, findings, record));
  await part(async () => {
    if (record.envelope.seal === "sealed") await checkSealed(deps, findings, { record, entries, newest, trusted });
  });
  await part(() => checkSubmissions(deps, findings, record, entries));
  await part(() => checkWaiting(deps, findings, record));
  await part(() => checkMails(deps, findings, record));
}

/** @returns the bytes of the newest revision */
async function checkRevisions(
  deps: Deps,
  findings: Findings,
  { envelope, revisions }: EnvelopeRecord,
): Promise<Uint8Array | null> {
  let previous: Uint8Array | null = null;
  for (const [index, revision] of revisions.entries()) {
    const where = `${envelope.id} revision ${revision.number}`;
    findings.count("revisions");
    if (revision.number !== index) findings.problem("revision", where, `revision ${index} is missing`);
    const bytes = await bytesOf(deps, findings, revision.sha256, where);
    if (bytes && bytes.length !== revision.size) findings.problem("revision", where, "it has another size");
    if (bytes && previous && !beginsWith(bytes, previous))
      findings.problem("revision", where, "it does not begin with the bytes of the one before");
    previous = bytes;
  }
  if (envelope.document_sha256 !== (revisions[0]?.sha256 ?? null))
    findings.problem("revision", envelope.id, "documentSha256 is not the hash of revision 0");
  return previous;
}

function beginsWith(bytes: Uint8Array, start: Uint8Array): boolean {
  return bytes.length >= start.length && Buffer.compare(bytes.subarray(0, start.length), start) === 0;
}

/** What else an envelope is made from. */
async function checkFiles(deps: Deps, findings: Findings, { envelope }: EnvelopeRecord): Promise<void> {
  const version = await versionOf(deps, deps.db.read, envelope);
  const hashes = [version.fileSha256];
  for (const { attachments, signature } of await submissionsOf(deps.db.read, envelope.id)) {
    hashes.push(...attachments.map(({ sha256 }) => sha256));
    if (signature && "imageSha256" in signature) hashes.push(signature.imageSha256);
  }
  // That what is there is whole is seen when all blobs are walked.
  for (const sha256 of hashes) {
    if (!(await deps.blobs.has(sha256))) findings.problem("blob", `${envelope.id} ${sha256}`, "it is missing");
  }
}

async function checkSealed(
  deps: Deps,
  findings: Findings,
  about: { record: EnvelopeRecord; entries: readonly AuditEntry[]; newest: Uint8Array | null; trusted: Uint8Array[] },
): Promise<void> {
  const { envelope } = about.record;
  const wrong = (message: string) => findings.problem("sealed-document", envelope.id, message);
  const { sealed_sha256: sealedSha256, certificate_sha256: certificateSha256 } = envelope;
  if (sealedSha256 === null || certificateSha256 === null) return wrong("it is sealed and names no file");
  findings.count("sealed documents");
  const pdf = await bytesOf(deps, findings, sealedSha256, envelope.id);
  const certificate = await bytesOf(deps, findings, certificateSha256, envelope.id);
  if (pdf && about.newest && !beginsWith(pdf, about.newest)) wrong("it does not begin with what was signed");
  for (const file of [pdf, certificate]) {
    if (!file) continue;
    const verdict = await deps.pool.run("verifyPdf", { pdf: file, trusted: about.trusted, at: deps.clock.ts() });
    if (verdict.ok && !verdict.value.valid) {
      const problems = [...verdict.value.problems, ...ownSignatures(verdict.value).flatMap((one) => one.problems)];
      wrong(`a seal does not hold: ${problems.join(", ")}`);
    }
  }
  await checkLeafOf(deps, findings, about.record, about.entries);
}

/** One leaf for each sealed entry of the trail, and the first anchor over it. */
async function checkLeafOf(
  deps: Deps,
  findings: Findings,
  { envelope }: EnvelopeRecord,
  entries: readonly AuditEntry[],
): Promise<void> {
  const wrong = (message: string) => findings.problem("leaf", envelope.id, message);
  const seals = entries.filter(({ type }) => type === "envelope.sealed" || type === "envelope.seal_extended");
  const rows = await store.leavesOfEnvelope(deps.db.read, envelope.id);
  if (rows.length !== seals.length) wrong(`${seals.length} seals have ${rows.length} leaves`);
  for (const [index, row] of rows.entries()) {
    const leaf = presentLeaf(row);
    const entry = seals[index];
    if (leaf.auditHash !== entry?.hash || leaf.documentSha256 !== entry.data.sealedSha256)
      wrong(`leaf ${row.leaf_index} does not name its audit entry`);
  }
  const last = rows.at(-1);
  if (last && last.document_sha256 !== envelope.sealed_sha256) wrong("the newest leaf names another file");
  const anchor = rows[0] && (await store.findCoveringAnchor(deps.db.read, rows[0].leaf_index));
  const named = (await loadEnvelope(deps.db.read, envelope.id))?.envelope.anchor_sequence ?? null;
  if (named !== null && named !== anchor?.sequence)
    findings.problem("anchor", envelope.id, "it names another anchor than the first that covers it");
  if (named === null && anchor) findings.problem("anchor", envelope.id, "an anchor covers it that it does not name");
}

/** A settled seal was told to everybody once, and every mail has a Message-ID of its own. */
async function checkMails(deps: Deps, findings: Findings, record: EnvelopeRecord): Promise<void> {
  const { envelope, recipients, cc } = record;
  const mails = await listMail(deps.db.read, deps, { envelope: envelope.id });
  findings.count("mails", mails.length);
  const wrong = (message: string) => findings.problem("mail", envelope.id, message);
  const ids = mails.map(({ messageId }) => messageId);
  if (new Set(ids).size !== ids.length || ids.some((id) => !/^<[^<>@\s]+@[^<>\s]+>$/.test(id)))
    wrong("two mails have one Message-ID, or one has none");
  if (envelope.seal !== "sealed" && envelope.seal !== "failed") return;
  const told = mails.filter(({ kind }) => kind === "completed").map(({ to }) => to.email.toLowerCase());
  if (new Set(told).size !== told.length) wrong("somebody was told twice of the completion");
  for (const { email } of [...recipients, ...cc])
    if (!told.includes(email.toLowerCase())) wrong(`${email} was not told of the completion`);
}
