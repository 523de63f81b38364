import { createHash } from "node:crypto";
import { canonicalize } from "../../../kernel/canonical.ts";
import type { Deps } from "../../../kernel/deps.ts";
import { findLive } from "../../../kernel/job-store.ts";
import type { JobType } from "../../../kernel/jobs.ts";
import type { AuditEntry } from "../../envelopes/audit-contract.ts";
import { countersign, expireEnvelope, renderEnvelope, sealEnvelope, storeRevision } from "../../envelopes/jobs.ts";
import type { EnvelopeRecord } from "../../envelopes/service.ts";
import { sendMail } from "../../mail/jobs.ts";
import { consentTextOf, signatureHash, submissionsOf } from "../../signing/service.ts";
import { findHold } from "../anchors/hold.ts";
import type { Findings } from "../findings.ts";
import { anchorLeaves, extendSeal, renewSeals } from "../jobs.ts";
import * as store from "../store.ts";

/** Work that nobody will do: an envelope, a mail or a leaf waits, and no job stands behind it. */

/** Jobs whose end is told elsewhere: a failed seal or rendering by the envelope, a failed mail by the mail. */
const toldElsewhere = [sealEnvelope.name, renderEnvelope.name, sendMail.name];

/** What waits outside of envelopes. */
export async function checkQueue(deps: Deps, findings: Findings): Promise<void> {
  const { read } = deps.db;
  for (const { id, name, last_error: cause } of await store.listDeadJobs(read, toldElsewhere))
    findings.found("job-dead", `${name} ${id}`, `it was given up: ${cause ?? "no reason is known"}`);
  for (const mail of await store.listMailsWithoutJob(read, sendMail))
    findings.found("job-missing", mail, "the mail is queued, and no job will send it");
  if ((await store.listSealTerms(read, 1)).length > 0 && (await findLive(read, renewSeals)).length === 0)
    findings.found("job-missing", "seals", "their time stamps end some day, and no job will renew them");
  const [size, latest] = [await store.readTreeSize(read), await store.findLatestAnchor(read)];
  const held = await findHold(read);
  if (size > (latest?.tree_size ?? 0) && !held && (await findLive(read, anchorLeaves)).length === 0)
    findings.found("job-missing", `leaf ${size - 1}`, "no anchor covers it, and no job will sign one");
}

/** What one envelope waits for. */
export async function checkWaiting(deps: Deps, findings: Findings, record: EnvelopeRecord): Promise<void> {
  const { envelope, recipients, revisions } = record;
  const { id, status, seal } = envelope;
  const lacks = async <P>(job: JobType<P>) => (await findLive(deps.db.read, job, id)).length === 0;
  const stuck = (message: string) => findings.found("job-missing", id, `${message}, and no job will go on`);
  if (seal === "pending" && (await lacks(sealEnvelope))) stuck("it waits for its seal");
  if (await belowLevel(deps, record))
    findings.found(
      "seal-level",
      id,
      `it is sealed ${envelope.seal_level} below ${deps.config.sealLevel}, and no job will raise it`,
    );
  if (status !== "rendering" && status !== "sent") return;
  if (envelope.expires_at !== null && (await lacks(expireEnvelope)))
    findings.found("job-missing", id, "it has an end, and no job will end it");
  if (status === "rendering") {
    if (await lacks(renderEnvelope)) stuck("it waits to be drawn");
    return;
  }
  const submissions = recipients.filter(({ submission }) => submission !== null).length;
  const drawing = !(await lacks(storeRevision));
  if (submissions > revisions.length - 1 && !drawing) stuck("a signature waits to be drawn");
  const turn = recipients.filter((one) => one.status === "sent" || one.status === "viewed");
  if (turn.length === 0 && !drawing) stuck("it is nobody's turn");
  const jobs = await findLive(deps.db.read, countersign, id);
  const countersigning = jobs.map(({ payload }) => countersign.payload.parse(JSON.parse(payload)).recipient);
  for (const { kind, id: recipient } of turn) {
    if (kind === "countersigner" && !countersigning.includes(recipient)) stuck("a countersigner's turn has come");
  }
}

const levels = ["B-T", "B-LT", "B-LTA"] as const;

async function belowLevel(deps: Deps, { envelope }: EnvelopeRecord): Promise<boolean> {
  const { id, seal, seal_level: level, documents_deleted_at: deleted } = envelope;
  if (seal !== "sealed" || level === null || deleted !== null) return false;
  if (levels.indexOf(level) >= levels.indexOf(deps.config.sealLevel)) return false;
  return (await findLive(deps.db.read, extendSeal, id)).length === 0;
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** What is stored of each signature is what the trail says was signed. */
export async function checkSubmissions(
  deps: Deps,
  findings: Findings,
  { envelope, recipients }: EnvelopeRecord,
  entries: readonly AuditEntry[],
): Promise<void> {
  const submissions = await submissionsOf(deps.db.read, envelope.id);
  // Of values that were deleted with the documents only the hash in the trail is left.
  const deleted = envelope.documents_deleted_at !== null;
  for (const { type, data } of entries) {
    if (type !== "recipient.signed") continue;
    const where = `${envelope.id} ${data.recipient}`;
    const submission = submissions.find(({ recipient }) => recipient === data.recipient);
    if (!submission) findings.found("submission-missing", where, "what was signed is missing");
    else if (!deleted && submission.fieldsSha256 !== data.fieldsSha256)
      findings.found("submission-values", where, "other values are stored than were signed");
    else if (signatureHash(submission.signature) !== data.signatureSha256)
      findings.found("submission-signature", where, "another signature is stored");
    else if (submission.documentSha256 !== data.documentSha256)
      findings.found("submission-document", where, "it names another document than was signed");
    const values = recipients.find(({ id }) => id === data.recipient)?.values;
    if (values && sha256(canonicalize(JSON.parse(values))) !== data.fieldsSha256)
      findings.found("recipient-values", where, "the recipient shows other values than were signed");
  }
  for (const { recipient, consent } of submissions) {
    if (consent === null) continue;
    const kept = await consentTextOf(deps.db.read, consent.textSha256);
    if (kept?.whole) continue;
    const what = `the statement ${consent.textSha256}, which was accepted, ${kept ? "was changed" : "is missing"}`;
    findings.found("submission-consent-text", `${envelope.id} ${recipient}`, what);
  }
  const signed = entries.filter(({ type }) => type === "recipient.signed").length;
  if (submissions.length !== signed)
    findings.found("submission-count", envelope.id, `${signed} signatures have ${submissions.length} submissions`);
}
