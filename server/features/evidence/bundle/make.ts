import { readFile } from "node:fs/promises";
import path from "node:path";
import { crc32 } from "node:zlib";
import { canonicalize, type Json } from "../../../kernel/canonical.ts";
import type { Deps } from "../../../kernel/deps.ts";
import { AppError } from "../../../kernel/errors.ts";
import { derOf } from "../../../kernel/pem.ts";
import { auditTrail, filenameOf, type OwnedEnvelope } from "../../envelopes/service.ts";
import { organizationById } from "../../identity/service.ts";
import { authorities, publicAnchorKeys } from "../../keys/service.ts";
import { submissionsOf } from "../../signing/service.ts";
import { toHex } from "../anchors/anchor.ts";
import { originOf, readCheckpoint, verifierKey } from "../anchors/checkpoint.ts";
import { inclusionProof, sha256 } from "../anchors/tree.ts";
import { findNote } from "../anchors/witness-store.ts";
import { presentAnchor, presentLeaf } from "../present.ts";
import * as store from "../store.ts";
import { attachmentNames, bundleFiles, fixedEntry } from "./contents.ts";
import { bundleReadme } from "./readme.ts";
import { type ZipSource, zipPieces } from "./zip.ts";

/** The page that checks a bundle from a USB stick, as `scripts/build-apps.ts` makes it: one file. */
const verifierPage = path.resolve(import.meta.dirname, "../../../../dist/apps/evidence/verify.html");
const utf8 = new TextEncoder();

/**
 * Everything that proves a sealed envelope, in one archive that is made while it is read; the same state always gives
 * the same bytes. When the documents were deleted, what proves a copy that somebody kept.
 * @throws AppError document-not-ready until an anchor covers the newest seal, and for what is never sealed
 */
export async function evidenceBundle(
  deps: Deps,
  { envelope }: OwnedEnvelope,
): Promise<{ pieces: AsyncIterable<Uint8Array>; filename: string }> {
  const { read } = deps.db;
  const { sealed_sha256: sealedSha256, certificate_sha256: certificateSha256 } = envelope;
  if (!["rendering", "sent", "completed"].includes(envelope.status))
    throw new AppError("document-not-ready", { detail: `The envelope is ${envelope.status}: it is never sealed.` });
  if (sealedSha256 === null || certificateSha256 === null || envelope.seal !== "sealed")
    throw new AppError("document-not-ready", { retryAfter: 5 });
  const deletedAt = envelope.documents_deleted_at;
  const row = await store.findLeaf(read, sealedSha256);
  const anchor = row && (await store.findCoveringAnchor(read, row.leaf_index));
  if (!row || !anchor) {
    const detail = "The seal waits for the next anchor.";
    throw new AppError("document-not-ready", { detail, retryAfter: Math.min(60, deps.config.anchorIntervalSeconds) });
  }
  const [proof, { entries }, keys, { seals, timestamps }, note, organization, attachments] = await Promise.all([
    inclusionProof(read, row, anchor.tree_size),
    auditTrail(read, envelope.id, deps.clock.ts()),
    publicAnchorKeys(read),
    authorities(read),
    findNote(read, anchor.sequence),
    organizationById(read, envelope.organization),
    deletedAt === null ? attachmentsOf(deps, envelope.id) : [],
  ]);
  const origin = note === undefined ? originOf(deps.config.baseUrl) : readCheckpoint(note).origin;
  const key = keys.find(({ kid }) => kid === anchor.kid);
  const readme = bundleReadme({
    title: envelope.title,
    envelope: envelope.id,
    organization: organization.name,
    baseUrl: deps.config.baseUrl,
    kid: anchor.kid,
    deletedAt,
    verifierKey: key && note !== undefined ? verifierKey(sha256, origin, key.x) : null,
  });
  const small = (name: string, bytes: Uint8Array): ZipSource => ({ name, content: async () => bytes });
  const text = (name: string, content: string) => small(name, utf8.encode(content));
  const json = (name: string, value: Json) => text(name, canonicalize(value));
  const stored = (name: string, sha256: string): ZipSource => ({ name, open: (look) => deps.blobs.open(sha256, look) });
  const leaf = presentLeaf(row);
  const outside = timestamps.filter((pem) => !seals.includes(pem));
  const page = await builtPage();
  const files: ZipSource[] = [
    text(bundleFiles.readme, readme),
    ...(page ? [small(bundleFiles.verifier, page)] : []),
    ...(deletedAt === null
      ? [stored(bundleFiles.document, sealedSha256), stored(bundleFiles.certificate, certificateSha256)]
      : []),
    // What came after the seal is fixed by nothing yet.
    json(
      bundleFiles.audit,
      entries.filter(({ seq }) => seq <= (fixedEntry({ audit: entries, leaf })?.seq ?? 0)),
    ),
    json(bundleFiles.leaf, leaf),
    json(bundleFiles.proof, proof),
    json(bundleFiles.anchor, presentAnchor(anchor)),
    json(bundleFiles.keys, { keys }),
    text(bundleFiles.authorities, inOrder(seals)),
    ...(outside.length > 0 ? [text(bundleFiles.timestampAuthorities, inOrder(outside))] : []),
    ...(note === undefined ? [] : [text(bundleFiles.checkpoint, note)]),
    ...attachments.map(({ name, sha256 }) => stored(name, sha256)),
  ];
  const filename = filenameOf(envelope.title, " (evidence)").replace(/\.pdf$/, ".zip");
  return { pieces: zipPieces(files, anchor.created_at, crc32), filename };
}

/** By their SHA-256: an order that whoever checks can tell from the certificates alone. */
function inOrder(pems: readonly string[]): string {
  const print = (pem: string) => toHex(sha256(derOf(pem)));
  return pems.toSorted((a, b) => (print(a) < print(b) ? -1 : 1)).join("");
}

async function attachmentsOf(deps: Deps, envelope: string): Promise<{ name: string; sha256: string }[]> {
  const files = (await submissionsOf(deps.db.read, envelope)).flatMap(({ attachments }) => attachments);
  const names = attachmentNames(files);
  return files.map(({ sha256: content }, index) => ({ name: names[index] ?? "", sha256: content }));
}

/** Null in a checkout whose pages were never built. */
async function builtPage(): Promise<Uint8Array | null> {
  try {
    return await readFile(verifierPage);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
