import { verify } from "node:crypto";
import { type Clock, toTs } from "../../../kernel/clock.ts";
import type { Tx } from "../../../kernel/db.ts";
import type { Deps } from "../../../kernel/deps.ts";
import { type Commit, RetryLater } from "../../../kernel/job-runner.ts";
import { enqueue } from "../../../kernel/jobs.ts";
import { setAnchor } from "../../envelopes/service.ts";
import type { AnchorKey } from "../../keys/contract.ts";
import { type AnchorSigner, anchorSigner, assertInUse, publicAnchorKeys } from "../../keys/service.ts";
import type { Anchor, AnchorBody } from "../contract.ts";
import { anchorDedupeKey, anchorLeaves } from "../jobs.ts";
import { presentAnchor } from "../present.ts";
import * as store from "../store.ts";
import { anchorBytes, fromHex, toHex } from "./anchor.ts";
import { anchorHolds, publicKeyOf } from "./check.ts";
import { checkpointText, noteOf, originOf } from "./checkpoint.ts";
import { endHold, permitAnchor } from "./hold.ts";
import { emptyRoot, verifyConsistency } from "./merkle.ts";
import { insertOperatorHead, signOperatorHead } from "./operator-head.ts";
import { scheduleStamp } from "./stamping.ts";
import { consistencyProof, rootOf, sha256 } from "./tree.ts";
import { insertNote } from "./witness-store.ts";
import { callWitnesses } from "./witnesses.ts";

/** How long to wait at a time for a clock that was set back. */
const clockWaitMs = 60_000;

/** Another anchor was stored while this one was signed: what still waits is for the next. */
export class AnchorOvertaken extends RetryLater {
  constructor() {
    super("another anchor was signed meanwhile", 0);
    this.name = "AnchorOvertaken";
  }
}

/**
 * Signs an anchor over every leaf that none covers yet.
 * @returns what stores it, or throws AnchorOvertaken; undefined when no leaf waits
 * @throws RetryLater while the clock stands before the previous anchor; AnchorsHeld when later ones may be in the world
 */
export async function signNextAnchor(deps: Deps): Promise<Commit | undefined> {
  const { read } = deps.db;
  const [size, row] = await Promise.all([store.readTreeSize(read), store.findLatestAnchor(read)]);
  const previous = row ? presentAnchor(row) : null;
  const covered = previous?.treeSize ?? 0;
  if (size <= covered) return undefined;
  const [root, proof, signer] = await Promise.all([
    rootOf(read, size),
    consistencyProof(read, covered, size),
    anchorSigner(deps),
  ]);
  // Only now: whoever asks for the signer first makes its key.
  const keys = await publicAnchorKeys(read);
  const hold = await permitAnchor(deps, previous, { kid: signer.kid, keys });
  const by = { signer, keys, clock: deps.clock };
  const anchor = await signAnchor(by, previous, { size, root, proof });
  const note = await signNote(by, originOf(deps.config.baseUrl), anchor);
  const acts = await signOperatorHead(read, signer, anchor);
  return async (tx) => {
    // The sequence is the primary key: of two that were signed at once only one could be stored anyway.
    if ((await store.findLatestAnchor(tx))?.sequence !== row?.sequence) throw new AnchorOvertaken();
    await assertInUse(tx, anchor.kid);
    if (hold === "ends") await endHold(tx, deps);
    await store.insertAnchor(tx, rowOf(anchor));
    await insertNote(tx, { sequence: anchor.sequence, note });
    await insertOperatorHead(tx, acts);
    await callWitnesses(tx, deps, anchor.sequence);
    await scheduleStamp(tx, deps, anchor.sequence);
    for (const envelope of await store.envelopesOfLeaves(tx, covered, size))
      await setAnchor(tx, envelope, anchor.sequence);
    await scheduleAnchor(tx, deps);
  };
}

/** Queues the next anchor when leaves wait: no sooner than the interval after the latest one. */
export async function scheduleAnchor(tx: Tx, deps: Pick<Deps, "clock" | "config">): Promise<void> {
  const [size, latest] = [await store.readTreeSize(tx), await store.findLatestAnchor(tx)];
  if (size <= (latest?.tree_size ?? 0)) return;
  const earliest = latest ? Date.parse(latest.created_at) + deps.config.anchorIntervalSeconds * 1000 : 0;
  const runAt = Math.max(deps.clock.now(), earliest);
  await enqueue(tx, anchorLeaves, {}, { runAt, dedupeKey: anchorDedupeKey });
}

/** Signs now instead of at the next turn. @returns the latest anchor; undefined when there is nothing to anchor */
export async function anchorNow(deps: Deps): Promise<Anchor | undefined> {
  const commit = await signNextAnchor(deps);
  try {
    if (commit) await deps.db.tx(commit);
  } catch (error) {
    if (error instanceof AnchorOvertaken) return await anchorNow(deps);
    throw error;
  }
  const row = await store.findLatestAnchor(deps.db.read);
  return row && presentAnchor(row);
}

/**
 * The signer trusts nobody: it looks at the previous anchor's hash and signature and at the proof that the new tree
 * begins with the old one, and signs only then.
 * @throws RetryLater when time would run backwards or the key is not valid yet; Error when anything does not fit
 */
export async function signAnchor(
  by: { signer: AnchorSigner; keys: readonly AnchorKey[]; clock: Clock },
  previous: Anchor | null,
  tree: { size: number; root: Uint8Array; proof: readonly Uint8Array[] },
): Promise<Anchor> {
  // Read once: what is checked is what is signed.
  const now = by.clock.now();
  const key = by.keys.find(({ kid }) => kid === by.signer.kid);
  const early = key ? Date.parse(key.validFrom) - now : 0;
  if (early > 0) throw new RetryLater("the clock stands before the key's validity", Math.min(early, clockWaitMs));
  if (previous) {
    const back = Date.parse(previous.createdAt) - now;
    if (back > 0) throw new RetryLater("the clock stands before the previous anchor", Math.min(back, clockWaitMs));
    if (!anchorHolds(previous, by.keys)) throw new Error(`anchor ${previous.sequence} does not verify`);
    if (tree.size <= previous.treeSize) throw new Error("there is nothing new to anchor");
  }
  const consistent = verifyConsistency(sha256, {
    earlierSize: previous?.treeSize ?? 0,
    earlierRoot: previous ? fromHex(previous.rootHash) : emptyRoot(sha256),
    size: tree.size,
    root: tree.root,
    proof: tree.proof,
  });
  if (!consistent) throw new Error("the tree does not begin with the one of the previous anchor");
  const body: AnchorBody = {
    v: 1,
    type: "svc.anchor",
    sequence: (previous?.sequence ?? 0) + 1,
    treeSize: tree.size,
    rootHash: toHex(tree.root),
    previousAnchorHash: previous?.anchorHash ?? null,
    createdAt: toTs(now),
    kid: by.signer.kid,
  };
  const bytes = anchorBytes(body);
  const anchor: Anchor = {
    ...body,
    anchorHash: toHex(sha256(bytes)),
    signature: Buffer.from(await by.signer.sign(bytes)).toString("base64"),
    consistency: tree.proof.map(toHex),
    timestampToken: null,
  };
  // A broken key or a bit that flipped must not leave the house.
  if (!anchorHolds(anchor, by.keys)) throw new Error("the new anchor does not verify under the published key");
  return anchor;
}

/**
 * The anchor as a checkpoint. Its text cannot be taken for the body of an anchor, so that both are signed with one key.
 * @throws Error when the signature does not hold under the published key
 */
export async function signNote(
  by: { signer: AnchorSigner; keys: readonly AnchorKey[] },
  origin: string,
  anchor: Anchor,
): Promise<string> {
  const key = by.keys.find(({ kid }) => kid === by.signer.kid);
  if (!key) throw new Error("the key of the signer is not published");
  const text = checkpointText(origin, anchor);
  const signature = await by.signer.sign(Buffer.from(text));
  if (!verify(null, Buffer.from(text), publicKeyOf(key), signature))
    throw new Error("the new checkpoint does not verify under the published key");
  return noteOf(sha256, text, origin, key.x, signature);
}

function rowOf(anchor: Anchor): store.AnchorRow {
  return {
    sequence: anchor.sequence,
    tree_size: anchor.treeSize,
    root_hash: anchor.rootHash,
    previous_anchor_hash: anchor.previousAnchorHash,
    created_at: anchor.createdAt,
    kid: anchor.kid,
    anchor_hash: anchor.anchorHash,
    signature: anchor.signature,
    consistency: JSON.stringify(anchor.consistency),
    timestamp_token: anchor.timestampToken,
  };
}
