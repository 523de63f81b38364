import { sql } from "kysely";
import type { Ts } from "../../kernel/clock.ts";
import type { Place } from "../../kernel/cursor.ts";
import type { Reader, Tx } from "../../kernel/db.ts";
import type { HeldFor, MailKind, MailStatus } from "./contract.ts";

export type MailRow = {
  id: string;
  /** Unique: a cause writes one mail. */
  cause: string;
  message_id: string;
  organization: string | null;
  envelope: string | null;
  test_mode: number;
  kind: MailKind;
  to_email: string;
  to_name: string | null;
  locale: string;
  subject: string;
  /** Sealed JSON of the content; null once it was wiped. */
  content: string | null;
  /** nobody: takes the way of a mail and reaches no one. */
  status: MailStatus | "nobody";
  held_for: HeldFor | null;
  error: string | null;
  created_at: Ts;
  sent_at: Ts | null;
};
/** One that is for somebody. */
export type RealMailRow = MailRow & { status: MailStatus };

declare module "../../kernel/db.ts" {
  interface Tables {
    mails: MailRow;
  }
}

/** @returns false when this cause has its mail already */
export async function insertMail(tx: Tx, row: MailRow): Promise<boolean> {
  const result = await tx
    .insertInto("mails")
    .values(row)
    .onConflict((conflict) => conflict.column("cause").doNothing())
    .executeTakeFirst();
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n;
}

export async function findMail(reader: Reader, id: string): Promise<MailRow | undefined> {
  return await reader.selectFrom("mails").selectAll().where("id", "=", id).executeTakeFirst();
}

/** Mails about the same envelope to the same address that were written before this one and wait still, oldest first. */
export async function listEarlierQueued(reader: Reader, mail: Pick<MailRow, "id" | "envelope" | "to_email">) {
  const rows = await reader
    .selectFrom("mails")
    .select("id")
    .where("envelope", "=", mail.envelope)
    .where("to_email", "=", mail.to_email)
    .where("status", "=", "queued")
    // By the order of writing: clocks are set back.
    .where(sql<number>`rowid`, "<", (same) =>
      same.selectFrom("mails").select(sql<number>`rowid`.as("place")).where("id", "=", mail.id),
    )
    .orderBy(sql`rowid`)
    .execute();
  return rows.map(({ id }) => id);
}

export type MailFilter = {
  organization?: string | undefined;
  envelope?: string | undefined;
  to?: string | undefined;
  kind?: MailKind | undefined;
  status?: MailStatus | undefined;
  testMode?: boolean | undefined;
  /** The last one of the page before. */
  after?: Place | undefined;
  limit?: number | undefined;
};

/** Newest first; not those for nobody. */
export async function listMails(reader: Reader, filter: MailFilter): Promise<RealMailRow[]> {
  let query = reader.selectFrom("mails").selectAll().where("status", "!=", "nobody").$narrowType<RealMailRow>();
  if (filter.organization !== undefined) query = query.where("organization", "=", filter.organization);
  if (filter.envelope !== undefined) query = query.where("envelope", "=", filter.envelope);
  if (filter.to !== undefined) query = query.where("to_email", "=", filter.to);
  if (filter.kind !== undefined) query = query.where("kind", "=", filter.kind);
  if (filter.status !== undefined) query = query.where("status", "=", filter.status);
  if (filter.testMode !== undefined) query = query.where("test_mode", "=", filter.testMode ? 1 : 0);
  const { after } = filter;
  if (after !== undefined) {
    query = query.where(({ eb, refTuple, tuple }) => eb(refTuple("created_at", "id"), "<", tuple(after.t, after.id)));
  }
  return await query
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(filter.limit ?? 1000)
    .execute();
}

/** Only a queued mail changes: whatever ended it first counts. */
export async function finishMail(
  tx: Tx,
  id: string,
  outcome: { status: MailStatus; sentAt: Ts | null; error: string | null; wipe: boolean },
): Promise<void> {
  await tx
    .updateTable("mails")
    .set({
      status: outcome.status,
      sent_at: outcome.sentAt,
      error: outcome.error,
      ...(outcome.wipe ? { content: null } : {}),
    })
    .where("id", "=", id)
    .where("status", "=", "queued")
    .execute();
}

/** Takes away what was written for nobody. */
export async function deleteForNobody(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom("mails").where("id", "=", id).where("status", "=", "nobody").execute();
}

/** Forgets what these kinds of mail said, of those that lie here since before `before`; not of envelopes that are held. */
export async function wipeContents(tx: Tx, kinds: readonly MailKind[], before: Ts): Promise<void> {
  await tx
    .updateTable("mails")
    .set({ content: null })
    .where("kind", "in", [...kinds])
    .where("status", "in", ["written", "held"])
    .where("created_at", "<", before)
    .where("content", "is not", null)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("envelopes")
            .select("id")
            .whereRef("envelopes.id", "=", "mails.envelope")
            .where("legal_hold", "is not", null),
        ),
      ),
    )
    .execute();
}
