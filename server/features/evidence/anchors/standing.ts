import type { Config } from "../../../config.ts";
import type { Ts } from "../../../kernel/clock.ts";
import type { Reader } from "../../../kernel/db.ts";
import type { Deps } from "../../../kernel/deps.ts";
import { maskEmail } from "../../../kernel/wire.ts";
import { publicAnchorKeys } from "../../keys/service.ts";
import type { WitnessKind } from "../jobs.ts";
import { presentAnchor } from "../present.ts";
import * as store from "../store.ts";
import { askWitness, findEndedHold, findHold, type HoldReason } from "./hold.ts";
import { listReceipts } from "./witness-store.ts";

/** How far the log of anchors is, for who looks after the installation. */

export type StandingAnchor = {
  sequence: number;
  treeSize: number;
  rootHash: string;
  anchorHash: string;
  createdAt: Ts;
  kid: string;
  timestamped: boolean;
  receipts: { witness: string; at: Ts }[];
};

/** The size of the tree and the latest anchors, newest first. */
export async function anchorStanding(
  reader: Reader,
  limit: number,
): Promise<{ treeSize: number; anchors: StandingAnchor[] }> {
  const treeSize = await store.readTreeSize(reader);
  const rows = (await store.listAnchors(reader, limit, undefined)).map(presentAnchor);
  const anchors: StandingAnchor[] = [];
  for (const { sequence, treeSize: size, rootHash, anchorHash, createdAt, kid, timestampToken } of rows) {
    const receipts = (await listReceipts(reader, sequence)).map(({ witness, at }) => ({ witness, at }));
    const timestamped = timestampToken !== null;
    anchors.push({ sequence, treeSize: size, rootHash, anchorHash, createdAt, kid, timestamped, receipts });
  }
  return { treeSize, anchors };
}

/** Who is told of every anchor; an address is masked. */
export function witnessesInUse({
  witnessDir,
  witnessUrl,
  witnessMail,
}: Pick<Config, "witnessDir" | "witnessUrl" | "witnessMail">): { witness: WitnessKind; target: string }[] {
  return [
    ...(witnessDir === undefined ? [] : [{ witness: "folder" as const, target: witnessDir }]),
    ...(witnessUrl === undefined ? [] : [{ witness: "url" as const, target: witnessUrl }]),
    ...(witnessMail === undefined ? [] : [{ witness: "mail" as const, target: maskEmail(witnessMail) }]),
  ];
}

const recentMs = 30 * 86_400_000;

/** When anchors went on that were held back, in the last thirty days. */
export async function anchorResumption({
  clock,
  db,
}: Pick<Deps, "clock" | "db">): Promise<{ since: Ts; at: Ts } | null> {
  const hold = await findEndedHold(db.read);
  if (!hold || clock.now() - Date.parse(hold.ended_at) > recentMs) return null;
  return { since: hold.since, at: hold.ended_at };
}

/** Why anchors are held back, and the number of a later one of ours that the witness holds. */
export async function anchorHold({ config, db }: Pick<Deps, "config" | "db">): Promise<{
  reason: HoldReason;
  since: Ts;
  backup: string | null;
  later: number | null;
} | null> {
  const hold = await findHold(db.read);
  if (!hold) return null;
  const latest = await store.findLatestAnchor(db.read);
  const keys = await publicAnchorKeys(db.read);
  const inUse = keys.findLast(({ validUntil }) => validUntil === null);
  const said = inUse
    ? await askWitness(config, latest ? presentAnchor(latest) : null, { kid: inUse.kid, keys })
    : "silent";
  const { reason, since, backup } = hold;
  return { reason, since, backup, later: typeof said === "object" ? said.later : null };
}
