import { createPublicKey, verify } from "node:crypto";
import type { Deps } from "../../../kernel/deps.ts";
import type { AnchorKey } from "../../keys/contract.ts";
import { publicAnchorKeys } from "../../keys/service.ts";
import { fromHex } from "../anchors/anchor.ts";
import { anchorHolds } from "../anchors/check.ts";
import { keyId, readCheckpoint } from "../anchors/checkpoint.ts";
import { verifyConsistency } from "../anchors/merkle.ts";
import { sha256 } from "../anchors/tree.ts";
import { findNote, listReceipts, listReceiptsBeyond, wasWritten } from "../anchors/witness-store.ts";
import { asTold, folderReceipt, UrlReceipt } from "../anchors/witnesses.ts";
import type { Anchor } from "../contract.ts";
import { type Findings, messageOf } from "../findings.ts";
import { WitnessKind } from "../jobs.ts";
import { presentAnchor } from "../present.ts";
import * as store from "../store.ts";

/** Each anchor by itself and behind the one before, its checkpoint note, and what witnesses answered. */
export async function checkAnchors(deps: Deps, findings: Findings): Promise<void> {
  const keys = await publicAnchorKeys(deps.db.read);
  const rows = await store.listAnchors(deps.db.read, Number.MAX_SAFE_INTEGER, undefined);
  let previous: Anchor | null = null;
  findings.count("anchors", rows.length);
  for (const anchor of rows.map(presentAnchor).reverse()) {
    const where = `anchor ${anchor.sequence}`;
    if (anchor.sequence !== (previous?.sequence ?? 0) + 1)
      findings.found("anchor-missing", where, "one before it is missing");
    if (!anchorHolds(anchor, keys)) findings.found("anchor-signature", where, "its hash or signature does not hold");
    if (anchor.previousAnchorHash !== (previous?.anchorHash ?? null))
      findings.found("anchor-order", where, "it does not follow the one before");
    if (previous && anchor.createdAt < previous.createdAt)
      findings.found("anchor-time", where, "it is older than the one before");
    if (!consistent(previous, anchor))
      findings.found("anchor-consistency", where, "its consistency proof does not hold");
    await checkNote(deps, findings, anchor, keys);
    await checkToken(deps, findings, anchor);
    await checkReceipts(deps, findings, anchor);
    previous = anchor;
  }
  for (const { sequence, witness } of await listReceiptsBeyond(deps.db.read))
    findings.found("receipt-invalid", `receipt of anchor ${sequence} from the ${witness}`, "there is no such anchor");
}

function consistent(previous: Anchor | null, anchor: Anchor): boolean {
  if (!previous) return anchor.consistency.length === 0;
  return verifyConsistency(sha256, {
    earlierSize: previous.treeSize,
    earlierRoot: fromHex(previous.rootHash),
    size: anchor.treeSize,
    root: fromHex(anchor.rootHash),
    proof: anchor.consistency.map(fromHex),
  });
}

async function checkNote(deps: Deps, findings: Findings, anchor: Anchor, keys: readonly AnchorKey[]): Promise<void> {
  const where = `checkpoint of anchor ${anchor.sequence}`;
  const note = await findNote(deps.db.read, anchor.sequence);
  if (note === undefined) return findings.found("checkpoint-missing", where, "it is missing");
  findings.count("checkpoints");
  const wrong = noteProblem(note, anchor, keys);
  if (wrong !== null) findings.found("checkpoint-invalid", where, wrong);
}

function noteProblem(note: string, anchor: Anchor, keys: readonly AnchorKey[]): string | null {
  try {
    const { text, treeSize, root, signatures } = readCheckpoint(note);
    if (treeSize !== anchor.treeSize || !Buffer.from(root).equals(fromHex(anchor.rootHash)))
      return "it is of another tree than its anchor";
    const key = keys.find(({ kid }) => kid === anchor.kid);
    if (!key) return "its key is not published";
    const { kty, crv, x } = key;
    const publicKey = createPublicKey({ key: { kty, crv, x }, format: "jwk" });
    const own = signatures.find(({ name, keyId: id }) =>
      Buffer.from(id).equals(keyId(sha256, name, Buffer.from(x, "base64url"))),
    );
    return own && verify(null, text, publicKey, own.signature) ? null : "its signature does not hold";
  } catch (error) {
    return messageOf(error);
  }
}

/** The time stamp over the anchor's hash. Whom it is trusted to is for those to say who verify. */
async function checkToken(
  deps: Deps,
  findings: Findings,
  { sequence, anchorHash, timestampToken }: Anchor,
): Promise<void> {
  if (timestampToken === null) return;
  findings.count("anchor time stamps");
  const token = Buffer.from(timestampToken, "base64");
  const report = await deps.pool.run("verifyToken", { token, imprint: fromHex(anchorHash), trusted: [] });
  const problems = report.ok ? report.value.problems.filter((problem) => problem !== "untrusted") : ["unreadable"];
  if (problems.length > 0)
    findings.found("anchor-token", `time stamp of anchor ${sequence}`, `it does not hold: ${problems.join(", ")}`);
}

/**
 * A receipt says what the witness holds: of a folder the hash of the file that was written there, of a mail which it was; of a
 * URL what it answered, whatever that means to it.
 */
async function checkReceipts(deps: Deps, findings: Findings, anchor: Anchor): Promise<void> {
  for (const row of await listReceipts(deps.db.read, anchor.sequence)) {
    findings.count("receipts");
    const where = `receipt of anchor ${anchor.sequence} from the ${row.witness}`;
    const wrong = (message: string) => findings.found("receipt-invalid", where, message);
    if (row.at < anchor.createdAt) wrong("it is older than the anchor");
    if (row.witness === "folder" && row.receipt !== folderReceipt(asTold(anchor)))
      wrong("the witness was told another anchor");
    if (row.witness === "url" && !UrlReceipt.safeParse(row.receipt).success)
      wrong("it is no answer that a witness gave");
    if (row.witness === "mail" && !(await wasWritten(deps.db.read, row))) wrong("no such mail was written");
    if (!WitnessKind.safeParse(row.witness).success) wrong("there is no such kind of witness");
  }
}
