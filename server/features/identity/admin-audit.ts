import type { Json } from "../../kernel/canonical.ts";
import type { Ts } from "../../kernel/clock.ts";
import type { Reader, Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { type Chained, type ChainHead, type ChainReport, ChainWalk, follow } from "../../kernel/hash-chain.ts";
import { newId } from "../../kernel/ids.ts";
import type { Actor } from "../../kernel/wire.ts";

/**
 * What was done to an organization itself: members, keys, settings, documents. Written in the transaction of the act, never
 * changed: one hash chain an organization.
 */

export const adminActions = [
  "organization.created",
  "organization.updated",
  "member.joined",
  "member.role_changed",
  "member.removed",
  "member.left",
  "invitation.created",
  "invitation.resent",
  "invitation.revoked",
  "api_key.created",
  "api_key.revoked",
  "envelope.retried",
  "envelope.held",
  "envelope.released",
  "envelope.documents_deleted",
  "retention.changed",
  "webhook.created",
  "webhook.updated",
  "webhook.deleted",
  "webhook.secret_revealed",
  "webhook.secret_rotated",
  "webhook.replayed",
] as const;
export type AdminAction = (typeof adminActions)[number];

export type AdminAuditRow = {
  id: string;
  organization: string;
  /** 1, 2, 3 … without gaps in each organization. */
  seq: number;
  at: Ts;
  /** JSON of the actor. */
  actor: string;
  action: AdminAction;
  target: string | null;
  ip: string | null;
  /** JSON object. */
  data: string;
  prev_hash: string;
  hash: string;
};

declare module "../../kernel/db.ts" {
  interface Tables {
    admin_audit: AdminAuditRow;
  }
}

export type AdminAct = {
  actor: Actor;
  action: AdminAction;
  /** Id of what it was done to. */
  target: string | null;
  ip: string | null;
  data?: Record<string, Json>;
};

export async function recordAdminAct(tx: Tx, deps: Pick<Deps, "clock">, organization: string, act: AdminAct) {
  const {
    v: _v,
    type: _type,
    actor,
    data,
    prevHash,
    ...row
  } = follow(await adminHead(tx, organization), {
    v: 1 as const,
    type: "svc.admin-act" as const,
    id: newId("adm"),
    organization,
    at: deps.clock.ts(),
    actor: act.actor,
    action: act.action,
    target: act.target,
    ip: act.ip,
    data: act.data ?? {},
  });
  await tx
    .insertInto("admin_audit")
    .values({ ...row, actor: JSON.stringify(actor), data: JSON.stringify(data), prev_hash: prevHash })
    .execute();
}

/** Where the chain of an organization stands. */
export async function adminHead(reader: Reader | Tx, organization: string): Promise<ChainHead> {
  return await reader
    .selectFrom("admin_audit")
    .select(["seq", "hash"])
    .where("organization", "=", organization)
    .orderBy("seq", "desc")
    .limit(1)
    .executeTakeFirst();
}

/** Acts in their order, those behind `after`. */
export async function listAdminChain(
  reader: Reader,
  organization: string,
  { after, limit }: { after: number; limit: number },
): Promise<AdminAuditRow[]> {
  return await reader
    .selectFrom("admin_audit")
    .selectAll()
    .where("organization", "=", organization)
    .where("seq", ">", after)
    .orderBy("seq")
    .limit(limit)
    .execute();
}

/** An act as it was hashed. @throws SyntaxError when its text was damaged */
export function adminEntryOf({ prev_hash: prevHash, actor, data, ...row }: AdminAuditRow): Chained {
  return { v: 1, type: "svc.admin-act", ...row, actor: JSON.parse(actor), data: JSON.parse(data), prevHash };
}

const atOnce = 500;

/**
 * Walks the chain of an organization from its start.
 * @param look is given the acts that follow, in their order
 */
export async function checkAdminChain(
  reader: Reader,
  organization: string,
  look: (row: AdminAuditRow) => void,
): Promise<ChainReport> {
  const walk = new ChainWalk();
  for (;;) {
    const rows = await listAdminChain(reader, organization, { after: walk.length, limit: atOnce });
    for (const row of rows) {
      if (!walk.next(() => adminEntryOf(row))) return walk.report();
      look(row);
    }
    if (rows.length === 0) return walk.report();
  }
}

/** Newest first; `before` is the last one of the page before. */
export async function listAdminActs(
  reader: Reader,
  organization: string,
  page: { limit: number; before: { t: string; id: string } | null },
): Promise<AdminAuditRow[]> {
  let query = reader.selectFrom("admin_audit").selectAll().where("organization", "=", organization);
  const { before } = page;
  if (before) {
    query = query.where(({ eb, refTuple, tuple }) => eb(refTuple("at", "id"), "<", tuple(before.t, before.id)));
  }
  return await query.orderBy("at", "desc").orderBy("id", "desc").limit(page.limit).execute();
}
