import { type Kysely, sql } from "kysely";

/** What a job is about, in place of searches in the text of its payload. Of the kinds that name something; none of them is secret. */
const subjects = {
  envelope: [
    "envelopes.render",
    "envelopes.expire",
    "envelopes.delivery-error",
    "signing.invite",
    "signing.remind",
    "signing.revision",
    "signing.countersign",
    "viewers.invite",
    "viewers.tell",
    "evidence.seal",
    "evidence.extend",
  ],
  mail: ["mail.send"],
  id: ["backup.run", "backup.verify", "backup.drill"],
};

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("jobs").addColumn("subject", "text").execute();
  for (const [member, names] of Object.entries(subjects))
    await sql`
      update jobs set subject = payload ->> ${member} where name in (${sql.join(names)}) and json_valid(payload)
    `.execute(db);
  await db.schema.dropIndex("jobs_by_payload").ifExists().execute();
  await db.schema.createIndex("jobs_by_subject").on("jobs").columns(["name", "subject"]).execute();
}
