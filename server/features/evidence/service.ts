import { toTs } from "../../kernel/clock.ts";
import { decodeCursor, pageOf } from "../../kernel/cursor.ts";
import type { Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError, notFound } from "../../kernel/errors.ts";
import { checksumOk, hashSecret } from "../../kernel/ids.ts";
import { certificateEntry, loadEnvelope, type StoredDocument } from "../envelopes/service.ts";
import { organizationById } from "../identity/service.ts";
import { inclusionProof } from "./anchors/tree.ts";
import { findNote, listReceipts } from "./anchors/witness-store.ts";
import { filenameOf } from "./completion.ts";
import {
  type Anchor,
  AnchorWitnesses,
  type CertificateMatch,
  type EnvelopeSummary,
  type InclusionProof,
  type Leaf,
  type VerifyResult,
} from "./contract.ts";
import { presentAnchor, presentLeaf } from "./present.ts";
import * as store from "./store.ts";

export { holdAnchors } from "./anchors/hold.ts";
export { anchorHold, anchorResumption } from "./anchors/standing.ts";
export { zipPieces } from "./bundle/zip.ts";
export { fsck } from "./fsck/fsck.ts";

/** Everything that is known of a document with this SHA-256 (lower-case hex). */
export async function lookUpDocument(deps: Deps, sha256: string): Promise<VerifyResult> {
  const { read } = deps.db;
  const row = await store.findLeaf(read, sha256);
  const envelope = row && (await summaryOf(deps, row));
  if (row && envelope) return { sha256, envelope, ...(await standingOf(deps, row)) };
  const certificate = await certificateMatch(deps, sha256);
  const unknown = { status: "unknown" as const, sha256, envelope: null, leaf: null, proof: null, anchor: null };
  return certificate ? { ...unknown, certificate } : unknown;
}

type Standing =
  | { status: "pending"; leaf: Leaf; proof: null; anchor: null }
  | { status: "anchored"; leaf: Leaf; proof: InclusionProof; anchor: Anchor };

/** The leaf in the earliest anchor that covers it. */
async function standingOf(deps: Deps, row: store.LeafRow): Promise<Standing> {
  const { read } = deps.db;
  const leaf = presentLeaf(row);
  const anchor = await store.findCoveringAnchor(read, row.leaf_index);
  if (!anchor) return { status: "pending", leaf, proof: null, anchor: null };
  const proof = await inclusionProof(read, row, anchor.tree_size);
  return { status: "anchored", leaf, proof, anchor: presentAnchor(anchor) };
}

/** What binds a standalone certificate of completion to its envelope: the audit entry that the leaf names. */
async function certificateMatch(deps: Deps, sha256: string): Promise<CertificateMatch | undefined> {
  const { read } = deps.db;
  const entry = await certificateEntry(read, sha256);
  if (!entry) return undefined;
  const leaves = await store.leavesOfEnvelope(read, entry.envelope);
  const row = leaves.find((one) => presentLeaf(one).auditHash === entry.hash);
  const envelope = row && (await summaryOf(deps, row));
  return row && envelope && { envelope, entry: { ...entry }, ...(await standingOf(deps, row)) };
}

/** Without names and addresses of people: whoever holds the file may ask. */
async function summaryOf(deps: Deps, leaf: store.LeafRow): Promise<EnvelopeSummary | undefined> {
  const record = await loadEnvelope(deps.db.read, leaf.envelope);
  if (!record?.envelope.completed_at) return undefined;
  const { envelope, recipients } = record;
  const organization = await organizationById(deps.db.read, envelope.organization);
  return {
    id: envelope.id,
    title: envelope.title,
    status: envelope.status,
    testMode: envelope.test_mode === 1,
    organization: organization.name,
    createdAt: envelope.created_at,
    completedAt: record.envelope.completed_at,
    sealedAt: leaf.sealed_at,
    pageCount: envelope.page_count ?? 0,
    signers: recipients.flatMap(({ role, completed_at: completedAt }) =>
      completedAt === null ? [] : [{ role, completedAt }],
    ),
  };
}

/** @throws AppError `not-found` before the first anchor */
export async function latestAnchor(deps: Deps): Promise<Anchor> {
  const row = await store.findLatestAnchor(deps.db.read);
  if (!row) throw new AppError("not-found", { detail: "There is no anchor yet." });
  return presentAnchor(row);
}

/** @throws AppError `not-found` */
export async function anchorBySequence(deps: Deps, text: string): Promise<Anchor> {
  const sequence = /^[1-9]\d{0,14}$/.test(text) ? Number(text) : 0;
  const row = await store.findAnchor(deps.db.read, sequence);
  if (!row) throw notFound("The anchor");
  return presentAnchor(row);
}

/** The anchor as a signed note. @throws AppError `not-found` */
export async function checkpointBySequence(deps: Deps, text: string): Promise<string> {
  const { sequence } = await anchorBySequence(deps, text);
  const note = await findNote(deps.db.read, sequence);
  if (note === undefined) throw notFound("The checkpoint of this anchor");
  return note;
}

/** Who took the anchor; what they answered stays with the operator. @throws AppError `not-found` */
export async function witnessesOfAnchor(deps: Deps, text: string): Promise<AnchorWitnesses> {
  const { sequence } = await anchorBySequence(deps, text);
  const receipts = await listReceipts(deps.db.read, sequence);
  return AnchorWitnesses.parse({ data: receipts.map(({ witness, at }) => ({ witness, at })) });
}

/** Newest first. @throws AppError `validation-failed` for a foreign cursor */
export async function listAnchors(deps: Deps, query: { limit: number; cursor?: string | undefined }) {
  const below = query.cursor === undefined ? undefined : Number(decodeCursor(deps.secrets, "anchors", query.cursor).id);
  const rows = await store.listAnchors(deps.db.read, query.limit + 1, below);
  const placeOf = (row: store.AnchorRow) => ({ t: row.created_at, id: String(row.sequence) });
  return pageOf(deps.secrets, "anchors", rows, query.limit, placeOf, presentAnchor);
}

const yearMs = 365 * 24 * 3_600_000;

/** Forgets the links of completion mails a year after they ended: until then they answer that they have. */
export async function purgeDownloads(tx: Tx, { clock }: Pick<Deps, "clock">): Promise<void> {
  await store.deleteDownloadTokens(tx, toTs(clock.now() - yearMs));
}

/**
 * The sealed PDF behind the link of a completion mail.
 * @throws AppError `not-found`; `link-expired` after 30 days
 */
export async function downloadByToken(deps: Deps, token: string): Promise<StoredDocument> {
  const row = checksumOk(token) ? await store.findDownloadToken(deps.db.read, hashSecret(token)) : undefined;
  if (!row) throw notFound("The document");
  if (row.expires_at <= deps.clock.ts()) throw new AppError("link-expired");
  const record = await loadEnvelope(deps.db.read, row.envelope);
  const sha256 = record?.envelope.sealed_sha256;
  if (!record || !sha256) throw notFound("The document");
  if (record.envelope.documents_deleted_at !== null) {
    throw new AppError("link-expired", { detail: "The document was deleted, as its sender's retention asks." });
  }
  return { bytes: await deps.blobs.open(sha256), sha256, filename: filenameOf(record.envelope.title) };
}
