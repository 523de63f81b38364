import type { Warning } from "../templates/contract.ts";
import type { CarbonCopy, Envelope, EnvelopeValues, Recipient, Viewer } from "./contract.ts";
import type { EnvelopeRecord } from "./store.ts";
import type { CarbonCopyRow, EnvelopeRow, RecipientRow, ViewerRow } from "./tables.ts";

/** Rows outward, every member named. JSON columns were checked before they were stored. */

type Listed = Pick<EnvelopeRecord, "envelope" | "recipients" | "cc">;

/** As in lists and events: without viewers, warnings and values. */
export function presentListed({ envelope, recipients, cc }: Listed): Envelope {
  return {
    id: envelope.id,
    status: envelope.status,
    seal: envelope.seal,
    recipients: recipients.map(presentRecipient),
    externalId: envelope.external_id,
    metadata: JSON.parse(envelope.metadata),
    testMode: envelope.test_mode === 1,
    expiresAt: envelope.expires_at,
    reminders: parsed(envelope.reminders),
    viewerDocumentAccess: envelope.viewer_document_access === 1,
    locale: envelope.locale,
    title: envelope.title,
    message: envelope.message,
    template: envelope.template,
    templateVersion: envelope.template_version,
    cc: cc.map(presentCopy),
    source: envelope.source,
    signingLink: envelope.signing_link,
    createdBy: JSON.parse(envelope.created_by),
    pageCount: envelope.page_count,
    documentSha256: envelope.document_sha256,
    sealedSha256: envelope.sealed_sha256,
    sealLevel: envelope.seal_level,
    anchorSequence: envelope.anchor_sequence,
    voidReason: envelope.void_reason,
    declinedBy: envelope.declined_by,
    declinedReason: envelope.declined_reason,
    failure: parsed(envelope.failure),
    createdAt: envelope.created_at,
    updatedAt: envelope.updated_at,
    sentAt: envelope.sent_at,
    completedAt: envelope.completed_at,
    declinedAt: envelope.declined_at,
    voidedAt: envelope.voided_at,
    expiredAt: envelope.expired_at,
    sealedAt: envelope.sealed_at,
  };
}

/** Warnings of the upload that concern whoever reads the envelope or its certificate; how a trial drawing looked is the author's business. */
const lasting = ["already-signed", "signatures-removed", "repaired", "decrypted"] as const;

export function lastingWarnings(warnings: readonly Warning[]): (Warning & { code: (typeof lasting)[number] })[] {
  return lasting.flatMap((code) => {
    const warning = warnings.find((one) => one.code === code);
    return warning ? [{ ...warning, code }] : [];
  });
}

/** As answered by create and void: with viewers and warnings. */
export function presentEnvelope(
  record: Listed & Pick<EnvelopeRecord, "viewers">,
  warnings: readonly Warning[],
): Envelope {
  return {
    ...presentListed(record),
    viewers: record.viewers.map((viewer) => presentViewer(viewer, record.envelope)),
    warnings: lastingWarnings(warnings),
  };
}

/** As answered by GET /v1/envelopes/{id}: with viewers, warnings and values. */
export function presentWithValues(
  record: Listed & Pick<EnvelopeRecord, "viewers">,
  warnings: readonly Warning[],
): Envelope {
  const envelope = presentEnvelope(record, warnings);
  envelope.values = valuesOf(record);
  return envelope;
}

/** The variables, and what the recipients that finished have filled in, by role. */
export function valuesOf({ envelope, recipients }: Pick<EnvelopeRecord, "envelope" | "recipients">): EnvelopeValues {
  const filled = new Map<string, EnvelopeValues["recipients"][string]>();
  for (const { role, values } of recipients) if (values !== null) filled.set(role, JSON.parse(values));
  return { variables: JSON.parse(envelope.variables), recipients: Object.fromEntries(filled) };
}

export function presentRecipient(row: RecipientRow): Recipient {
  return {
    id: row.id,
    role: row.role,
    kind: row.kind,
    status: row.status,
    locale: row.locale,
    name: row.name,
    email: row.email,
    phone: row.phone,
    order: row.turn,
    delivery: row.delivery,
    verification: row.verification,
    redirectUrl: row.redirect_url,
    sentAt: row.sent_at,
    lastSentAt: row.last_sent_at,
    viewedAt: row.viewed_at,
    verifiedAt: row.verified_at,
    completedAt: row.completed_at,
    declinedAt: row.declined_at,
    declineReason: row.decline_reason,
    deliveryError: parsed(row.delivery_error),
  };
}

function presentCopy(row: CarbonCopyRow): CarbonCopy {
  return { id: row.id, email: row.email, name: row.name, locale: row.locale, notifiedAt: row.notified_at };
}

export function presentViewer(row: ViewerRow, envelope: EnvelopeRow): Viewer {
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    locale: row.locale,
    documentAccess: envelope.viewer_document_access === 1,
    invitedAt: row.invited_at,
    firstViewedAt: row.first_viewed_at,
    lastViewedAt: row.last_viewed_at,
    createdAt: row.created_at,
  };
}

function parsed<T>(text: string | null): T | null {
  return text === null ? null : JSON.parse(text);
}
