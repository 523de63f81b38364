import { verify } from "node:crypto";
import { canonicalize } from "../../../kernel/canonical.ts";
import type { Ts } from "../../../kernel/clock.ts";
import type { Reader, Tx } from "../../../kernel/db.ts";
import { chainStart } from "../../../kernel/hash-chain.ts";
import { type AnchorSigner, publicAnchorKeys } from "../../keys/service.ts";
import { operatorHead } from "../../operators/service.ts";
import type { Anchor } from "../contract.ts";
import { publicKeyOf } from "./check.ts";

/**
 * The end of the operators' chain, signed with every anchor: who takes the last acts away leaves a chain that still holds, but
 * not one in which the act is found that the anchor has seen.
 */

type HeadRow = {
  anchor: number;
  /** This and all others are null for the anchors that were signed before there were heads. */
  anchor_hash: string | null;
  /** 0 and the start of chains when there was no act yet. */
  seq: number | null;
  hash: string | null;
  kid: string | null;
  /** Base64, Ed25519. */
  signature: string | null;
};
export type OperatorHead = { [name in keyof HeadRow]: NonNullable<HeadRow[name]> };

declare module "../../../kernel/db.ts" {
  interface Tables {
    operator_heads: HeadRow;
  }
}

type SeenBy = Pick<Anchor, "sequence" | "anchorHash">;

/** Its type keeps it apart from the body of an anchor, and its first letter from a checkpoint: one key signs all three. */
const headBytes = ({ signature: _, ...head }: OperatorHead): Uint8Array =>
  Buffer.from(canonicalize({ v: 1, type: "svc.operator-head", ...head }), "utf8");

/** Signs where the chain stands, as seen with this anchor. */
export async function signOperatorHead(reader: Reader, signer: AnchorSigner, by: SeenBy): Promise<OperatorHead> {
  const { seq, hash } = (await operatorHead(reader)) ?? { seq: 0, hash: chainStart };
  const head = { anchor: by.sequence, anchor_hash: by.anchorHash, seq, hash, kid: signer.kid, signature: "" };
  return { ...head, signature: Buffer.from(await signer.sign(headBytes(head))).toString("base64") };
}

export async function insertOperatorHead(tx: Tx, head: OperatorHead): Promise<void> {
  await tx.insertInto("operator_heads").values(head).execute();
}

/** `operator-audit-unbound`: no anchor was signed since there are heads; `operator-heads-lost`: one was, and no head is left. */
type HeadFinding = { code: "operator-audit" | "operator-audit-unbound" | "operator-heads-lost"; message: string };

/**
 * Whether the chain still holds what the latest anchor has seen of it. That it is whole up to its end, `checkOperatorChain` says.
 * @returns what is to be said of it; null when all is well
 */
export async function checkOperatorHead(reader: Reader): Promise<HeadFinding | null> {
  const latest = await reader
    .selectFrom("anchors")
    .select(["sequence", "anchor_hash", "created_at"])
    .orderBy("sequence", "desc")
    .limit(1)
    .executeTakeFirst();
  const rows = await reader.selectFrom("operator_heads").selectAll().orderBy("anchor", "desc").limit(2).execute();
  const [row, before] = rows;
  const sequence = latest?.sequence ?? 0;
  const wrong = (message: string): HeadFinding => ({ code: "operator-audit", message });
  const changed = wrong(`what anchor ${sequence} has seen of it was changed`);
  const lost: HeadFinding = {
    code: "operator-heads-lost",
    message: `all that anchors have seen of it is gone, up to anchor ${sequence}: acts may have been cut off its end`,
  };
  if (row === undefined) return lost;
  if (row.anchor !== sequence)
    return wrong(`what anchor ${Math.max(sequence, row.anchor)} has seen of it is not there`);
  const head = signedOf(row);
  if (head === null) {
    // One row says so, that of the anchors before there were heads: beside another it was emptied by somebody.
    if (before !== undefined) return changed;
    if (latest === undefined) return null;
    // An anchor says when it was signed, and that cannot be put back: one that was signed later than there are heads has one.
    if (latest.created_at > (await headsSince(reader))) return lost;
    return { code: "operator-audit-unbound", message: "no anchor has seen it yet, so its end is not proven" };
  }
  const key = (await publicAnchorKeys(reader)).find(({ kid }) => kid === head.kid);
  const holds = key && verify(null, headBytes(head), publicKeyOf(key), Buffer.from(head.signature, "base64"));
  if (!holds || head.anchor_hash !== latest?.anchor_hash) return changed;
  if (head.seq === 0) return null;
  const seen = await reader.selectFrom("operator_audit").select("hash").where("seq", "=", head.seq).executeTakeFirst();
  if (seen?.hash === head.hash) return null;
  const end = (await operatorHead(reader))?.seq ?? 0;
  return wrong(
    end < head.seq
      ? `its end was cut off: anchor ${sequence} has seen entry ${head.seq}, and entry ${end} is the last`
      : `entry ${head.seq} is not the one that anchor ${sequence} has seen`,
  );
}

/** When this database began to keep heads: no later than any step of the schema that came with them or after them. */
async function headsSince(reader: Reader): Promise<Ts> {
  const { at } = await reader
    .selectFrom("migrations")
    .select(({ fn }) => fn.min("at").as("at"))
    .where("name", ">=", "0047-operator-heads")
    .executeTakeFirstOrThrow();
  return at;
}

function signedOf({ anchor, anchor_hash, seq, hash, kid, signature }: HeadRow): OperatorHead | null {
  if (anchor_hash === null || seq === null || hash === null || kid === null || signature === null) return null;
  return { anchor, anchor_hash, seq, hash, kid, signature };
}
