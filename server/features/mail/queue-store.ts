import type { Reader } from "../../kernel/db.ts";
import type { MailStatus } from "./contract.ts";

const waiting = ["queued", "failed", "held"] as const;

/** Mails that did not go out, newest first, without what they say. */
export async function listUnsent(reader: Reader, limit: number) {
  return await reader
    .selectFrom("mails")
    .leftJoin("organizations", "organizations.id", "mails.organization")
    .select([
      "mails.id",
      "mails.organization",
      "organizations.name as organization_name",
      "mails.kind",
      "mails.to_email",
      "mails.status",
      "mails.held_for",
      "mails.error",
      "mails.created_at",
    ])
    .where("mails.status", "in", waiting)
    .orderBy("mails.created_at", "desc")
    .orderBy("mails.id", "desc")
    .limit(limit)
    .execute();
}

export async function countMails(reader: Reader) {
  return await reader
    .selectFrom("mails")
    .select((row) => ["status", row.fn.countAll<number>().as("count")])
    .where("status", "!=", "nobody")
    .groupBy("status")
    .$narrowType<{ status: MailStatus }>()
    .execute();
}

/** The jobs that deliver these mails; `job` is their kind. */
export async function findDeliveries(reader: Reader, job: string, ids: readonly string[]) {
  if (ids.length === 0) return [];
  return await reader
    .selectFrom("jobs")
    .select(["subject", "status", "attempts", "run_at", "last_error"])
    .where("name", "=", job)
    .where("subject", "in", ids)
    .execute();
}
