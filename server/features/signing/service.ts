import { createHash } from "node:crypto";
import { z } from "zod";
import { canonicalize } from "../../kernel/canonical.ts";
import type { Ts } from "../../kernel/clock.ts";
import type { Reader } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { ownMember, recordOf } from "../../kernel/record.ts";
import { FieldValue } from "../envelopes/contract.ts";
import { fieldsOf, loadEnvelope, storeRevision, versionOf } from "../envelopes/service.ts";
import type { AttachmentType, PlacedField } from "../templates/contract.ts";
import { type DrawnValue, fieldDrawings } from "../templates/service.ts";
import { type AcceptedConsent, builtInConsent, consentHash } from "./consent.ts";
import { StoredSignature } from "./signatures.ts";
import { newestRevision } from "./signer.ts";
import * as store from "./store.ts";
import type { AttachmentRow, SubmissionRow } from "./tables.ts";

export { signatureHash } from "./signatures.ts";

/** What other features need of signing: the revisions it draws, and the record of who signed how. */

const Values = recordOf(z.string(), FieldValue);
const Consent = z.object({ version: z.string(), locale: z.string(), textSha256: z.string() });

/** How somebody signed, for the certificate and the evidence bundle. */
export type SubmissionRecord = {
  recipient: string;
  /** k of the k-th submission. */
  number: number;
  at: Ts;
  ip: string | null;
  userAgent: string | null;
  /** The document that this person was shown. */
  documentSha256: string;
  /** null for a countersigner, who signs automatically. */
  consent: AcceptedConsent | null;
  /** Bytes of a picture are the blob of `imageSha256`. null when no signature was asked for. */
  signature: StoredSignature | null;
  initials: StoredSignature | null;
  /** Of the values as they are stored; the audit trail holds the one of the moment of signing. */
  fieldsSha256: string;
  attachments: {
    id: string;
    field: string;
    filename: string;
    contentType: AttachmentType;
    size: number;
    sha256: string;
  }[];
};

/** Every submission of an envelope, in the order in which people signed. */
export async function submissionsOf(reader: Reader, envelope: string): Promise<SubmissionRecord[]> {
  const rows = await store.listSubmissions(reader, envelope);
  const attachments = await store.listSubmittedAttachments(reader, envelope);
  return rows.map((row) => ({
    recipient: row.recipient,
    number: row.number,
    at: row.at,
    ip: row.ip,
    userAgent: row.user_agent,
    documentSha256: row.document_sha256,
    consent: row.consent === null ? null : Consent.parse(JSON.parse(row.consent)),
    signature: signatureOf(row.signature),
    initials: signatureOf(row.initials),
    fieldsSha256: createHash("sha256")
      .update(canonicalize(JSON.parse(row.values)))
      .digest("hex"),
    attachments: attachments.filter(({ recipient }) => recipient === row.recipient).map(attachmentOf),
  }));
}

/**
 * The statement that was accepted under this hash: a built-in one, or a sender's as it is stored.
 * @returns `whole`: it has the hash
 */
export async function consentTextOf(
  reader: Reader,
  textSha256: string,
): Promise<{ text: string; whole: boolean } | undefined> {
  const text = builtInConsent(textSha256) ?? (await store.findConsentText(reader, textSha256))?.text;
  return text === undefined ? undefined : { text, whole: consentHash(text) === textSha256 };
}

function attachmentOf({ id, field, filename, content_type: contentType, size, sha256 }: AttachmentRow) {
  return { id, field, filename, contentType, size, sha256 };
}

function signatureOf(text: string | null): StoredSignature | null {
  return text === null ? null : StoredSignature.parse(JSON.parse(text));
}

/** Who passed the signing on to whom, oldest first; the certificate names both. */
export async function reassignmentsOf(
  reader: Reader,
  envelope: string,
): Promise<{ recipient: string; from: Person; to: Person; reason: string; at: Ts }[]> {
  return (await store.listReassignments(reader, envelope)).map((row) => ({
    recipient: row.recipient,
    from: { name: row.from_name, email: row.from_email },
    to: { name: row.to_name, email: row.to_email },
    reason: row.reason,
    at: row.at,
  }));
}
type Person = { name: string; email: string };

/** Origin that may frame the page of this session; null when none may, or when there is no such session. */
export async function embedOriginOf(deps: Pick<Deps, "db">, session: string): Promise<string | null> {
  return (await store.findSession(deps.db.read, session))?.embed_origin ?? null;
}

/** A submission that the worker refuses to draw: trying again cannot help. */
export class RevisionFailed extends Error {
  override name = "RevisionFailed";
}

/**
 * Draws every submission that has no revision yet onto the newest one, in order, each in a transaction of its own.
 * The bytes depend on the stored data alone, so a second run at the same time comes to the same revisions.
 * @throws RevisionFailed, PoolBusy, TaskTimeout, TaskCrashed
 */
export async function ensureRevisions(deps: Deps, envelope: string): Promise<void> {
  const record = await loadEnvelope(deps.db.read, envelope);
  const submissions = await store.listSubmissions(deps.db.read, envelope);
  let newest = record && newestRevision(record.revisions);
  if (!record || !newest) return;
  const version = await versionOf(deps, deps.db.read, record.envelope);
  const allFields = await fieldsOf(deps.db.read, record.envelope, version);
  for (const row of submissions) {
    if (row.number <= newest.number) continue;
    const role = record.recipients.find(({ id }) => id === row.recipient)?.role;
    const fields = allFields.filter((field) => field.role === role);
    const drawings = fieldDrawings(fields, await drawnValues(deps, row, fields), { locale: record.envelope.locale });
    const pdf = await deps.blobs.get(newest.sha256);
    const drawn = await deps.pool.run("stamp", { pdf, drawings, watermark: null, at: row.at });
    if (!drawn.ok) {
      throw new RevisionFailed(`submission ${row.number} cannot be drawn: ${drawn.error.code}: ${drawn.error.message}`);
    }
    const { sha256, size } = await deps.blobs.put([pdf, drawn.value.tail]);
    const { number, recipient } = row;
    await deps.db.tx((tx) => storeRevision(tx, deps, { envelope, number, sha256, size, recipient }));
    newest = { ...newest, number, sha256, size, recipient };
  }
}

/** What stands in the boxes of one person. */
async function drawnValues(
  deps: Deps,
  row: SubmissionRow,
  fields: readonly PlacedField[],
): Promise<Record<string, DrawnValue>> {
  const values = Values.parse(JSON.parse(row.values));
  const hands = {
    signature: await handOf(deps, signatureOf(row.signature)),
    initials: await handOf(deps, signatureOf(row.initials)),
  };
  const drawn: Record<string, DrawnValue> = {};
  for (const field of fields) {
    const value = ownMember(values, field.id);
    if (value === undefined || value === null) continue;
    if (field.type === "signature" || field.type === "initials") drawn[field.id] = hands[field.type];
    else if (field.type === "date_signed") drawn[field.id] = { kind: "moment", at: row.at, timeZone: row.time_zone };
    else if (Array.isArray(value)) {
      const [first] = value;
      if (field.type !== "image") drawn[field.id] = value.map(({ filename }) => filename).join(", ");
      else if (first) drawn[field.id] = { kind: "image", image: await deps.blobs.get(first.sha256) };
    } else if (typeof value !== "object") drawn[field.id] = value;
  }
  return drawn;
}

async function handOf(deps: Deps, signature: StoredSignature | null): Promise<DrawnValue> {
  if (signature === null) return null;
  if ("imageSha256" in signature) return { kind: "image", image: await deps.blobs.get(signature.imageSha256) };
  return { kind: "typed", text: signature.text, font: signature.font };
}
