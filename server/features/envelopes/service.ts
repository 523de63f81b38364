import { decodeCursor, encodeCursor, pageOf } from "../../kernel/cursor.ts";
import type { Reader } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { StoredContent } from "../../kernel/endpoint.ts";
import { AppError } from "../../kernel/errors.ts";
import type { PlacedField } from "../templates/contract.ts";
import { type PublishedVersion, placeFields, publishedVersion, readBoxes } from "../templates/service.ts";
import { auditTrail } from "./audit.ts";
import type { DocumentVersion, Envelope, ListEnvelopesQuery } from "./contract.ts";
import { presentListed } from "./present.ts";
import { type OwnedEnvelope, type Owner, readEnvelopes, readFieldBoxes } from "./store.ts";
import type { EnvelopeRow } from "./tables.ts";

export { type By, markResent } from "./actions.ts";
export { announceEnvelope, appendAudit, auditTrail, certificateEntry, envelopeTopic, walkChains } from "./audit.ts";
export { showingDelay } from "./delay.ts";
export type { AuditObserver } from "./observers.ts";
export { ownedEnvelope } from "./owned.ts";
export { type Plan, plans } from "./plan.ts";
export { lastingWarnings, presentListed, presentRecipient, valuesOf } from "./present.ts";
export {
  completeRecipient,
  declineRecipient,
  type EnvelopeRecord,
  type EnvelopeRow,
  loadEnvelope,
  markCopiesNotified,
  markReminded,
  markSealExtended,
  markSealed,
  markSealFailed,
  markVerified,
  markViewed,
  type RecipientRow,
  setAnchor,
  storeRevision,
} from "./progress.ts";
export { reassignRecipient } from "./reassign.ts";
export { nextReminderAt, remindersOf, startReminders } from "./reminders.ts";
export { finalBecause, finalTexts, hurryJob, retryJob } from "./retry.ts";
export { isOfIndex, isOutOfStep } from "./search-index.ts";
export { actorOf, mailHead, senderName } from "./sender.ts";
export { clearStall, markStalled, type StallStep } from "./stalled.ts";
export type { OwnedEnvelope } from "./store.ts";
export { lastSeen } from "./stream.ts";
export { allViewersOf, markInvited, markSeen, type ViewerRow, viewerOf, type Watched } from "./watching.ts";

/** The template version that the envelope was made from. */
export function versionOf(deps: Deps, reader: Reader, envelope: EnvelopeRow): Promise<PublishedVersion> {
  return publishedVersion(deps, reader, envelope.organization, envelope.template, envelope.template_version);
}

/**
 * The fields that the envelope's document has, each where it lies. Envelopes rendered before boxes were stored are overlays,
 * whose version knows them.
 */
export async function fieldsOf(
  reader: Reader,
  envelope: EnvelopeRow,
  version: PublishedVersion,
): Promise<PlacedField[]> {
  const stored = await readFieldBoxes(reader, envelope.id);
  const boxes = stored === null ? version.fixedBoxes : readBoxes(stored);
  if (boxes === null) throw new Error(`it is not known where the fields of ${envelope.id} lie`);
  return placeFields(version.fields, boxes);
}

/** One page, newest first. @throws AppError validation-failed for a cursor that is not ours */
export async function listEnvelopes(
  deps: Deps,
  owner: Owner,
  query: ListEnvelopesQuery,
): Promise<{ data: Envelope[]; hasMore: boolean; nextCursor: string | null }> {
  const { testMode: asked, cursor, ...filter } = query;
  const after = cursor === undefined ? undefined : decodeCursor(deps.secrets, "envelopes", cursor);
  // A key asking for the other mode gets an empty list, never that mode's envelopes (contract §0.7).
  if (owner.testMode !== null && asked !== undefined && asked !== owner.testMode) {
    return { data: [], hasMore: false, nextCursor: null };
  }
  const testMode = owner.testMode ?? asked ?? false;
  const rows = await readEnvelopes(deps.db.read, { ...filter, organization: owner.organization, testMode, after });
  return pageOf(
    deps.secrets,
    "envelopes",
    rows,
    query.limit,
    ({ envelope }) => ({ t: envelope.created_at, id: envelope.id }),
    presentListed,
  );
}

/** @throws AppError conflict when the documents of this envelope were deleted */
export function requireDocuments({ documents_deleted_at: at }: Pick<EnvelopeRow, "documents_deleted_at">): void {
  if (at === null) return;
  const detail = `The documents of this envelope were deleted on ${at.slice(0, 10)}, as the organization's retention asks. Its hashes, audit trail and anchors remain.`;
  throw new AppError("conflict", { detail });
}

/** Name of a downloaded file, `.pdf` included; the kernel encodes it for the header. */
export function filenameOf(title: string, suffix = ""): string {
  const name = title
    .replaceAll(/[\p{Cc}\p{Cf}/\\:*?"<>|]+/gu, " ")
    .replaceAll(/\s+/g, " ")
    .trim()
    .slice(0, 120)
    .trim();
  return `${name === "" ? "document" : name}${suffix}.pdf`;
}

/** A PDF that is read while it is sent. */
export type StoredDocument = { bytes: StoredContent; sha256: string; filename: string };

/**
 * The bytes of one version of the document.
 * @throws AppError document-not-ready until that version exists
 */
export async function documentOf(
  deps: Deps,
  { envelope }: OwnedEnvelope,
  version: DocumentVersion,
): Promise<StoredDocument> {
  requireDocuments(envelope);
  const { sha256, suffix } = {
    original: { sha256: envelope.document_sha256, suffix: "" },
    sealed: { sha256: envelope.seal === "sealed" ? envelope.sealed_sha256 : null, suffix: " (signed)" },
    certificate: { sha256: envelope.certificate_sha256, suffix: " (certificate)" },
  }[version];
  if (sha256 === null) {
    // Only what will still come is worth asking for again.
    if (version === "original" || ["rendering", "sent", "completed"].includes(envelope.status)) {
      throw new AppError("document-not-ready", { retryAfter: 5 });
    }
    throw new AppError("document-not-ready", { detail: `The envelope is ${envelope.status}: it is never sealed.` });
  }
  return { bytes: await deps.blobs.open(sha256), sha256, filename: filenameOf(envelope.title, suffix) };
}

/** One page of the audit trail, oldest first; the check covers the whole chain. */
export async function auditPage(deps: Deps, envelope: string, query: { limit: number; cursor?: string | undefined }) {
  const list = `events:${envelope}`;
  const after = query.cursor === undefined ? 0 : Number(decodeCursor(deps.secrets, list, query.cursor).id);
  const { entries, verification } = await auditTrail(deps.db.read, envelope, deps.clock.ts());
  const data = entries.slice(after, after + query.limit);
  const last = data.at(-1);
  const hasMore = entries.length > after + data.length;
  const nextCursor = hasMore && last ? encodeCursor(deps.secrets, list, { t: last.at, id: String(last.seq) }) : null;
  return { data, hasMore, nextCursor, envelope, verification };
}
