import type { SignerCaller } from "../../kernel/caller.ts";
import { toTs } from "../../kernel/clock.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { UploadedFile } from "../../kernel/endpoint.ts";
import { AppError, invalid, notFound } from "../../kernel/errors.ts";
import { newId } from "../../kernel/ids.ts";
import { enqueue } from "../../kernel/jobs.ts";
import type { RequestInfo } from "../../kernel/request.ts";
import { appendAudit, fieldsOf, type OwnedEnvelope, requireDocuments, versionOf } from "../envelopes/service.ts";
import { type AttachmentType, attachmentTypes, type PlacedField } from "../templates/contract.ts";
import { type Attachment, maxAttachmentBytes, maxAttachmentsBytes } from "./contract.ts";
import { purgeAttachment } from "./jobs.ts";
import { checkPicture, sniff } from "./pictures.ts";
import { presentAttachment } from "./present.ts";
import { loadSigner, recipientActor, requireTurn, requireVerified } from "./signer.ts";
import * as store from "./store.ts";
import type { AttachmentRow } from "./tables.ts";

/** An upload that no submission refers to lives this long. */
const unsubmittedMs = 24 * 60 * 60 * 1000;
/** Pixels of a picture that will be drawn. PNG is decoded for it, JPEG is not. */
const pngLimit = { width: 3000, height: 3000 };
const jpegLimit = { width: 10_000, height: 10_000 };
/** What can be drawn into an image field. */
const drawable: readonly AttachmentType[] = ["image/png", "image/jpeg"];

/**
 * Keeps a file for an attachment or image field of this signer.
 * @throws AppError `otp-required`, `payload-too-large`, `unsupported-media-type`, `attachment-rejected`,
 * `validation-failed`, and what `requireTurn` throws
 */
export async function addAttachment(
  deps: Deps,
  caller: SignerCaller,
  body: { fields: { field: string }; files: readonly UploadedFile[] },
  request: RequestInfo,
): Promise<Attachment> {
  const signer = await loadSigner(deps.db.read, caller, deps.clock.ts());
  requireVerified(signer);
  requireTurn(signer, deps.clock.ts());
  const version = await versionOf(deps, deps.db.read, signer.record.envelope);
  const field = (await fieldsOf(deps.db.read, signer.record.envelope, version)).find(
    ({ id, role }) => id === body.fields.field && role === signer.recipient.role,
  );
  if (field?.type !== "attachment" && field?.type !== "image") {
    const detail = "This is not an attachment or image field of this signer.";
    throw invalid([{ pointer: "#/field", code: "reference", detail }]);
  }
  const file = onlyFile(body.files);
  const contentType = await checkFile(deps, file, field, request.signal);
  // Before anything is written: what is refused must not fill the disk.
  requireRoom(await store.listAttachments(deps.db.read, caller.recipient), file.bytes.length);
  const { sha256, size } = await deps.blobs.put(file.bytes);
  const row = await deps.db.tx(async (tx) => {
    const now = deps.clock.now();
    const fresh = await loadSigner(tx, caller, toTs(now));
    requireVerified(fresh);
    requireTurn(fresh, toTs(now));
    const added: AttachmentRow = {
      id: newId("att"),
      envelope: caller.envelope,
      recipient: caller.recipient,
      field: field.id,
      filename: file.filename,
      content_type: contentType,
      size,
      sha256,
      created_at: toTs(now),
      submitted_at: null,
    };
    requireRoom(await store.listAttachments(tx, caller.recipient), size);
    await store.insertAttachment(tx, added);
    await appendAudit(tx, deps, caller.envelope, [
      {
        type: "recipient.attachment_added",
        actor: recipientActor(fresh.recipient),
        ip: request.ip,
        userAgent: request.userAgent,
        data: { attachment: added.id, field: field.id, filename: added.filename, contentType, size, sha256 },
      },
    ]);
    await enqueue(tx, purgeAttachment, { attachment: added.id }, { runAt: now + unsubmittedMs });
    return added;
  });
  return presentAttachment(row);
}

/** @throws AppError `payload-too-large` */
function requireRoom(kept: readonly { size: number }[], size: number): void {
  if (kept.reduce((sum, one) => sum + one.size, size) > maxAttachmentsBytes) {
    throw new AppError("payload-too-large", { detail: "All files of one signer together may have 25 MB." });
  }
}

function onlyFile(files: readonly UploadedFile[]): UploadedFile {
  const [file, ...more] = files;
  if (file?.field === "file" && more.length === 0) return file;
  const detail = "Send one file, as the part `file`.";
  throw invalid([{ pointer: "#/file", code: file === undefined ? "required" : "unknown", detail }]);
}

/** The type that the file really has. What a field will draw must be a picture that can be read to its end. */
async function checkFile(
  deps: Pick<Deps, "pool">,
  { contentType, bytes }: UploadedFile,
  field: Extract<PlacedField, { type: "attachment" | "image" }>,
  whileWaiting: AbortSignal,
): Promise<AttachmentType> {
  const accepted = field.type === "image" ? drawable : (field.accept ?? attachmentTypes);
  const declared = accepted.find((type) => type === contentType);
  if (declared === undefined) {
    throw new AppError("unsupported-media-type", { detail: `This field accepts ${accepted.join(", ")}.` });
  }
  if (bytes.length > maxAttachmentBytes) throw new AppError("payload-too-large", { detail: "A file may have 10 MB." });
  if (sniff(bytes) !== declared) {
    throw new AppError("attachment-rejected", { detail: `The content of the file is not ${declared}.` });
  }
  if (field.type === "image") await requireDrawable(deps, declared, bytes, whileWaiting);
  return declared;
}

/** @throws AppError `attachment-rejected` */
async function requireDrawable(
  deps: Pick<Deps, "pool">,
  type: AttachmentType,
  bytes: Uint8Array,
  whileWaiting: AbortSignal,
): Promise<void> {
  const limit = type === "image/png" ? pngLimit : jpegLimit;
  const found = await checkPicture(deps, bytes, limit, whileWaiting);
  if (found === "damaged") throw new AppError("attachment-rejected", { detail: "The picture is damaged." });
  if (found === "too-large") {
    const detail = `The picture has more than ${limit.width} by ${limit.height} pixels.`;
    throw new AppError("attachment-rejected", { detail });
  }
}

/** A file that somebody attached and submitted, for the organization. @throws AppError `not-found`, `conflict` once deleted */
export async function submittedAttachment(
  deps: Deps,
  { envelope }: OwnedEnvelope,
  id: string,
): Promise<{ row: AttachmentRow; bytes: Uint8Array }> {
  requireDocuments(envelope);
  const row = await store.findSubmittedAttachment(deps.db.read, envelope.id, id);
  if (!row) throw notFound("The attachment");
  return { row, bytes: await deps.blobs.get(row.sha256) };
}
