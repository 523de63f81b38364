import { constants } from "node:fs";
import { open, readdir } from "node:fs/promises";
import path from "node:path";
import type { Ts } from "../../../kernel/clock.ts";
import type { Reader, Tx } from "../../../kernel/db.ts";
import type { Deps } from "../../../kernel/deps.ts";
import { newId } from "../../../kernel/ids.ts";
import { type Actor, systemActor } from "../../../kernel/wire.ts";
import type { AnchorKey } from "../../keys/contract.ts";
import { recordOperatorAct } from "../../operators/service.ts";
import { Anchor } from "../contract.ts";
import { anchorHolds } from "./check.ts";
import { atShare } from "./share.ts";

/**
 * Data that was brought back from a backup ends before anchors that the machine of before may have published. Were the next one
 * signed over other leaves under the same number, the log would have two histories. So none is signed until a witness shows that
 * there is no later one, or an administrator answers for it; seals go on, and their leaves wait.
 */

export type HoldReason = "restored" | "witness";
export type HoldRow = {
  id: string;
  /** `witness`: a witness holds a later anchor than this database. */
  reason: HoldReason;
  /** The one that was restored. */
  backup: string | null;
  since: Ts;
  ended_at: Ts | null;
};

declare module "../../../kernel/db.ts" {
  interface Tables {
    anchor_holds: HoldRow;
  }
}

export async function findHold(reader: Reader): Promise<HoldRow | undefined> {
  return await reader.selectFrom("anchor_holds").selectAll().where("ended_at", "is", null).limit(1).executeTakeFirst();
}

/** Holds anchors back from now on; one that holds them already stays. */
export async function holdAnchors(
  tx: Tx,
  { clock }: Pick<Deps, "clock">,
  { reason, backup }: Pick<HoldRow, "reason" | "backup">,
): Promise<void> {
  if (await findHold(tx)) return;
  await tx
    .insertInto("anchor_holds")
    .values({ id: newId("hld"), reason, backup, since: clock.ts(), ended_at: null })
    .execute();
}

/** @param actor who answers for it, for the operators' audit; the appliance itself where a witness confirmed it */
export async function endHold(tx: Tx, deps: Pick<Deps, "clock">, actor: Actor = systemActor): Promise<boolean> {
  const held = await findHold(tx);
  if (!held) return false;
  await tx.updateTable("anchor_holds").set({ ended_at: deps.clock.ts() }).where("id", "=", held.id).execute();
  const { reason, backup, since } = held;
  const confirmedBy = actor === systemActor ? "witness" : "operator";
  await recordOperatorAct(tx, deps, {
    actor,
    action: "anchors.resumed",
    data: { reason, backup, since, confirmedBy },
  });
  return true;
}

/** The one that ended last. */
export async function findEndedHold(reader: Reader): Promise<(HoldRow & { ended_at: Ts }) | undefined> {
  return await reader
    .selectFrom("anchor_holds")
    .selectAll()
    .where("ended_at", "is not", null)
    .orderBy("ended_at", "desc")
    .limit(1)
    .$narrowType<{ ended_at: Ts }>()
    .executeTakeFirst();
}

async function holdForWitness(tx: Tx, deps: Pick<Deps, "clock">, later: number): Promise<void> {
  if (await findHold(tx)) return;
  await holdAnchors(tx, deps, { reason: "witness", backup: null });
  await recordOperatorAct(tx, deps, { actor: systemActor, action: "anchors.held", data: { reason: "witness", later } });
}

/** No anchor is signed: this data may end before anchors that are in the world already. */
export class AnchorsHeld extends Error {
  readonly code = "ANCHORS_HELD";
  override name = "AnchorsHeld";
}

type Signer = { kid: string; keys: readonly AnchorKey[] };

/**
 * Asks whether the next anchor may be signed. A later one of our own that the witness holds begins a hold, whatever brought it about:
 * a copied folder, a machine's snapshot.
 * @returns `ends` when the witness confirms that nothing was published since the backup
 * @throws AnchorsHeld
 */
export async function permitAnchor(
  deps: Pick<Deps, "config" | "clock" | "db" | "log">,
  latest: Pick<Anchor, "sequence" | "anchorHash"> | null,
  signer: Signer,
): Promise<"free" | "ends"> {
  const hold = await findHold(deps.db.read);
  const said = await askWitness(deps.config, latest, signer);
  if (typeof said === "object") {
    if (!hold) await deps.db.tx((tx) => holdForWitness(tx, deps, said.later));
    throw new AnchorsHeld(`the witness holds anchor ${said.later}, and this data ends at ${latest?.sequence ?? 0}`);
  }
  if (!hold) return "free";
  if (said === "agrees") {
    deps.log.info({ hold: hold.id }, "the witness holds no later anchor: anchors go on");
    return "ends";
  }
  throw new AnchorsHeld(
    `the data was restored from the backup ${hold.backup}, and nobody confirmed yet that no anchor was published after it`,
  );
}

/**
 * What the folder of the witness says about our latest anchor: `agrees` when it is the latest there too, the number of the latest
 * when it holds later ones under this key, `silent` when it cannot say.
 */
export type Testimony = "agrees" | "silent" | { later: number };

/** @param kid of the key that would sign: what another key signed does not contradict it */
export async function askWitness(
  { witnessDir: folder }: Pick<Deps["config"], "witnessDir">,
  latest: Pick<Anchor, "sequence" | "anchorHash"> | null,
  { kid, keys }: Signer,
): Promise<Testimony> {
  if (folder === undefined) return "silent";
  // A folder that cannot be listed, or not in time, would say that there are no later ones.
  return await atShare(folder, () => hear(folder, latest, { kid, keys })).catch((): Testimony => "silent");
}

async function hear(
  folder: string,
  latest: Pick<Anchor, "sequence" | "anchorHash"> | null,
  { kid, keys }: Signer,
): Promise<Testimony> {
  const names = await readdir(folder);
  const numbers = names
    .map((name) => Number(/^anchor-(\d{9})\.json$/.exec(name)?.[1] ?? 0))
    .filter((number) => number > (latest?.sequence ?? 0))
    .sort((a, b) => b - a);
  for (const number of numbers) {
    const anchor = await anchorAt(folder, number);
    // Whoever may write to the folder could put any file there: only what our own key signed counts.
    if (anchor !== null && anchor.kid === kid && anchorHolds(anchor, keys)) return { later: anchor.sequence };
  }
  if (latest === null || numbers.length > 0) return "silent";
  return (await anchorAt(folder, latest.sequence))?.anchorHash === latest.anchorHash ? "agrees" : "silent";
}

const largestAnchor = 64 * 1024;

/** Null for whatever else lies there: a pipe would be waited for without end. */
async function anchorAt(folder: string, sequence: number): Promise<Anchor | null> {
  const file = path.join(folder, `anchor-${String(sequence).padStart(9, "0")}.json`);
  const { O_RDONLY, O_NONBLOCK = 0 } = constants;
  const handle = await open(file, O_RDONLY | O_NONBLOCK).catch(() => null);
  try {
    const found = await handle?.stat();
    if (!handle || !found?.isFile() || found.size > largestAnchor) return null;
    const anchor = Anchor.parse(JSON.parse(await handle.readFile("utf8")));
    return anchor.sequence === sequence ? anchor : null;
  } catch {
    return null;
  } finally {
    await handle?.close();
  }
}
