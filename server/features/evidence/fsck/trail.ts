import { isDeepStrictEqual } from "node:util";
import type { AuditEntry, AuditType } from "../../envelopes/audit-contract.ts";
import type { EnvelopeRecord, EnvelopeRow, RecipientRow } from "../../envelopes/service.ts";
import type { SubmissionRecord } from "../../signing/service.ts";
import type { Findings } from "../findings.ts";

/** What rows say of an envelope against what its trail says: the rows may be changed by anybody, the trail is chained. */

type Entries = readonly AuditEntry[];

const statusAfter: Partial<Record<AuditType, EnvelopeRow["status"]>> = {
  "envelope.created": "rendering",
  "envelope.ready": "sent",
  "envelope.completed": "completed",
  "envelope.declined": "declined",
  "envelope.voided": "voided",
  "envelope.expired": "expired",
};

/** @param record with all its viewers, the revoked ones too */
export function checkTrail(
  findings: Findings,
  record: EnvelopeRecord,
  entries: Entries,
  submissions: readonly SubmissionRecord[],
): void {
  checkState(findings, record.envelope, entries);
  checkBeginning(findings, record, entries);
  for (const recipient of record.recipients) checkRecipient(findings, recipient, entries);
  checkViewers(findings, record, entries);
  checkWhatWasAgreed(findings, record.envelope.id, entries, submissions);
}

const last = (entries: Entries, ...types: AuditType[]) => entries.findLast(({ type }) => types.includes(type));
const timeOf = (entries: Entries, type: AuditType) => last(entries, type)?.at ?? null;

function checkState(findings: Findings, envelope: EnvelopeRow, entries: Entries): void {
  const { id, seal } = envelope;
  const status = entries.flatMap(({ type }) => statusAfter[type] ?? []).at(-1);
  if (envelope.status !== status)
    findings.found("record-status", id, `it is ${envelope.status}, and the trail says ${status ?? "nothing"}`);
  const settled = last(entries, "envelope.sealed", "envelope.seal_failed")?.type;
  const sealed = settled === "envelope.sealed" ? ["sealed"] : status === "completed" ? ["pending"] : ["not_started"];
  // An operator's retry brings a failed seal back to waiting, without an entry.
  const possible: readonly string[] = settled === "envelope.seal_failed" ? ["failed", "pending"] : sealed;
  if (!possible.includes(seal))
    findings.found("record-status", id, `its seal is ${seal}, and the trail says ${possible.join(" or ")}`);
  const level = last(entries, "envelope.sealed", "envelope.seal_extended")?.data.level ?? envelope.seal_level;
  if (envelope.seal_level !== level)
    findings.found("record-status", id, `its level is ${envelope.seal_level}, and the trail says ${level}`);
  for (const [column, type] of [
    ["created_at", "envelope.created"],
    ["sent_at", "envelope.ready"],
    ["completed_at", "envelope.completed"],
    ["declined_at", "envelope.declined"],
    ["voided_at", "envelope.voided"],
    ["expired_at", "envelope.expired"],
  ] as const) {
    const at = timeOf(entries, type);
    if (envelope[column] !== at)
      findings.found("record-time", id, `${column} is ${envelope[column]}, and the trail says ${at}`);
  }
}

/** What the first entry fixed, and the reasons of an end. */
function checkBeginning(findings: Findings, { envelope, recipients }: EnvelopeRecord, entries: Entries): void {
  const created = last(entries, "envelope.created");
  const { title, template, template_version: templateVersion, source } = envelope;
  const facts = { title, template, templateVersion, source };
  for (const [name, value] of Object.entries(facts))
    if (created?.data[name] !== value)
      findings.found("record-facts", envelope.id, `its ${name} is another than when it was created`);
  if (!isDeepStrictEqual(JSON.parse(envelope.created_by), created?.actor))
    findings.found("record-facts", envelope.id, "somebody else created it");
  const reason = last(entries, "envelope.voided")?.data.reason ?? null;
  if (envelope.void_reason !== reason) findings.found("record-facts", envelope.id, "it was voided for another reason");
  const declined = last(entries, "recipient.declined")?.data;
  if (envelope.declined_by !== (declined?.recipient ?? null) || envelope.declined_reason !== (declined?.reason ?? null))
    findings.found("record-facts", envelope.id, "it was declined by somebody else or for another reason");
  const asked = created?.data.recipients;
  checkPeople(findings, { envelope, recipients }, Array.isArray(asked) ? asked : [], entries);
}

/** Everybody who was asked, or who took over from them. */
function checkPeople(
  findings: Findings,
  { envelope, recipients }: Pick<EnvelopeRecord, "envelope" | "recipients">,
  asked: readonly unknown[],
  entries: Entries,
): void {
  if (asked.length !== recipients.length)
    findings.found("record-person", envelope.id, `${asked.length} recipients have ${recipients.length} rows`);
  for (const { id: recipient, role, turn: order, ...row } of recipients) {
    const moved = entries.findLast(({ type, data }) => type === "recipient.reassigned" && data.recipient === recipient);
    const own = asked.find((one) => isRecord(one) && one.recipient === recipient);
    const to = moved?.data.to;
    const { name, email } = isRecord(to) ? to : isRecord(own) ? own : {};
    const same = isRecord(own) && own.role === role && own.order === order && name === row.name && email === row.email;
    if (!same) findings.found("record-person", `${envelope.id} ${recipient}`, "it is somebody else than in the trail");
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

function checkRecipient(findings: Findings, row: RecipientRow, all: Entries): void {
  const own = all.filter(({ data }) => data.recipient === row.id);
  // Who takes over begins anew.
  const moved = own.findLastIndex(({ type }) => type === "recipient.reassigned");
  const entries = own.slice(moved + 1);
  const where = `${row.envelope} ${row.id}`;
  const ended = last(all, "envelope.declined", "envelope.voided", "envelope.expired") !== undefined;
  const signed = timeOf(entries, "recipient.signed");
  const declined = timeOf(entries, "recipient.declined");
  const viewed = timeOf(entries, "recipient.viewed");
  const sent = timeOf(entries, "recipient.sent");
  const open = viewed ? "viewed" : sent || moved >= 0 ? "sent" : "pending";
  const status = signed ? "completed" : declined ? "declined" : ended ? "canceled" : open;
  if (row.status !== status)
    findings.found("record-status", where, `it is ${row.status}, and the trail says ${status}`);
  for (const [column, at] of [
    // Who took over was asked in the moment of the passing on.
    ["sent_at", moved >= 0 ? row.sent_at : sent],
    ["viewed_at", viewed],
    ["completed_at", signed],
    ["declined_at", declined],
  ] as const)
    if (row[column] !== at)
      findings.found("record-time", where, `${column} is ${row[column]}, and the trail says ${at}`);
  if (row.decline_reason !== (last(entries, "recipient.declined")?.data.reason ?? null))
    findings.found("record-facts", where, "it was declined for another reason");
}

/** Whoever was added keeps their row for ever; a revocation is noted in it. */
function checkViewers(findings: Findings, { envelope, viewers }: EnvelopeRecord, entries: Entries): void {
  const added = entries.filter(({ type }) => type === "viewer.added");
  const revoked = new Map(
    entries.flatMap(({ type, at, data }) => (type === "viewer.revoked" ? [[data.viewer, at] as const] : [])),
  );
  if (added.length !== viewers.length)
    findings.found("record-person", envelope.id, `${added.length} viewers have ${viewers.length} rows`);
  for (const { id, email, revoked_at: revokedAt } of viewers) {
    const entry = added.find(({ data }) => data.viewer === id);
    const until = revoked.get(id);
    // Earlier releases read the clock for the row first and for the entry then.
    const ended = until === undefined ? revokedAt === null : revokedAt !== null && revokedAt <= until;
    if (entry?.data.email !== email || !ended)
      findings.found("record-person", `${envelope.id} ${id}`, "the trail says something else of this viewer");
  }
}

/** Consent, from where it came, and the files that were added. */
function checkWhatWasAgreed(
  findings: Findings,
  envelope: string,
  entries: Entries,
  submissions: readonly SubmissionRecord[],
): void {
  for (const { recipient, consent, ip, userAgent, attachments } of submissions) {
    const where = `${envelope} ${recipient}`;
    const agreed = entries.findLast(({ type, data }) => type === "recipient.consented" && data.recipient === recipient);
    const { recipient: _, documentSha256: __, ...text } = agreed?.data ?? {};
    const same = agreed
      ? isDeepStrictEqual(text, consent) && agreed.ip === ip && agreed.userAgent === userAgent
      : consent === null && ip === null && userAgent === null;
    if (!same) findings.found("submission-consent", where, "the trail says another consent, address or browser");
    for (const { id, field, filename, contentType, size, sha256 } of attachments) {
      const file = { recipient, attachment: id, field, filename, contentType, size, sha256 };
      const entry = entries.find(({ type, data }) => type === "recipient.attachment_added" && data.attachment === id);
      if (!entry || !isDeepStrictEqual({ recipient, ...entry.data }, file))
        findings.found("submission-attachment", `${where} ${id}`, "the trail knows another file");
    }
  }
  const submitted = new Set(submissions.flatMap(({ attachments }) => attachments.map(({ id }) => id)));
  const named = last(entries, "envelope.sealed")?.data.attachments;
  for (const id of Array.isArray(named) ? named : [])
    if (typeof id !== "string" || !submitted.has(id))
      findings.found("submission-attachment", `${envelope} ${id}`, "it was sealed, and its row is missing");
}
