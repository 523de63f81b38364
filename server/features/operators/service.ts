import { z } from "zod";
import type { Json } from "../../kernel/canonical.ts";
import type { Ts } from "../../kernel/clock.ts";
import type { Reader, Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { type ChainHead, type ChainReport, ChainWalk, follow } from "../../kernel/hash-chain.ts";
import { Actor } from "../../kernel/wire.ts";
import type { OperatorAction, OperatorEntry } from "./contract.ts";

/** The operators' audit: one hash chain for the whole appliance, written in the transaction of each act, never changed. */

export type OperatorAuditRow = {
  seq: number;
  at: Ts;
  /** JSON of the actor. */
  actor: string;
  action: string;
  target: string | null;
  /** JSON object. */
  data: string;
  prev_hash: string;
  hash: string;
};

declare module "../../kernel/db.ts" {
  interface Tables {
    operator_audit: OperatorAuditRow;
  }
}

export type OperatorAct = {
  actor: Actor;
  action: OperatorAction;
  target?: string | null;
  /** Never a secret. Whole numbers only. */
  data?: Record<string, Json>;
};

/** Appends what an operator did to the chain. */
export async function recordOperatorAct(tx: Tx, deps: Pick<Deps, "clock">, act: OperatorAct): Promise<OperatorEntry> {
  const entry = follow(await operatorHead(tx), {
    v: 1 as const,
    at: deps.clock.ts(),
    actor: act.actor,
    action: act.action,
    target: act.target ?? null,
    data: act.data ?? {},
  });
  const { v: _, prevHash, ...row } = entry;
  await tx
    .insertInto("operator_audit")
    .values({ ...row, actor: JSON.stringify(row.actor), data: JSON.stringify(row.data), prev_hash: prevHash })
    .execute();
  return entry;
}

/** Where the chain stands. */
export async function operatorHead(reader: Reader | Tx): Promise<ChainHead> {
  return await reader
    .selectFrom("operator_audit")
    .select(["seq", "hash"])
    .orderBy("seq", "desc")
    .limit(1)
    .executeTakeFirst();
}

/** Newest first, before the entry of this number. */
export async function listOperatorActs(
  reader: Reader,
  page: { before: number | undefined; limit: number },
): Promise<OperatorEntry[]> {
  let query = reader.selectFrom("operator_audit").selectAll();
  if (page.before !== undefined) query = query.where("seq", "<", page.before);
  const rows = await query.orderBy("seq", "desc").limit(page.limit).execute();
  return rows.map(entryOf);
}

/** Walks the chain from its start, some entries at a time. */
export async function checkOperatorChain(reader: Reader): Promise<ChainReport> {
  const walk = new ChainWalk();
  for (;;) {
    const rows = await reader
      .selectFrom("operator_audit")
      .selectAll()
      .where("seq", ">", walk.length)
      .orderBy("seq")
      .limit(1000)
      .execute();
    const fits = rows.every((row) => walk.next(() => entryOf(row)));
    if (rows.length === 0 || !fits) return walk.report();
  }
}

const Data = z.record(z.string(), z.json());

function entryOf({ prev_hash, actor, data, ...row }: OperatorAuditRow): OperatorEntry {
  return {
    v: 1,
    ...row,
    actor: Actor.parse(JSON.parse(actor)),
    data: Data.parse(JSON.parse(data)),
    prevHash: prev_hash,
  };
}
