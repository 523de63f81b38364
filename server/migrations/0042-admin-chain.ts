import { type Kysely, sql } from "kysely";
import { follow } from "../kernel/hash-chain.ts";
import { appendOnly, strictTable } from "../kernel/schema.ts";

type Row = {
  id: string;
  organization: string;
  at: string;
  actor: string;
  action: string;
  target: string | null;
  ip: string | null;
  data: string;
};

const atOnce = 500;

/** Administrative acts stand in one hash chain an organization; those that are there, in the order that they were written. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await strictTable(db, "admin_audit_new")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("organization", "text", (column) => column.notNull().references("organizations.id"))
    .addColumn("seq", "integer", (column) => column.notNull())
    .addColumn("at", "text", (column) => column.notNull())
    .addColumn("actor", "text", (column) => column.notNull())
    .addColumn("action", "text", (column) => column.notNull())
    .addColumn("target", "text")
    .addColumn("ip", "text")
    .addColumn("data", "text", (column) => column.notNull())
    .addColumn("prev_hash", "text", (column) => column.notNull())
    .addColumn("hash", "text", (column) => column.notNull())
    .execute();
  const heads = new Map<string, { seq: number; hash: string }>();
  for (let after = 0; ; ) {
    // Their times follow a clock that may have been set back.
    const { rows } = await sql<Row & { place: number }>`
      select rowid as place, id, organization, at, actor, action, target, ip, data from admin_audit
      where rowid > ${after} order by rowid limit ${atOnce}
    `.execute(db);
    const chained = rows.map(({ place: _, actor, data, ...row }) => {
      const act = { ...row, actor: JSON.parse(actor), data: JSON.parse(data) };
      const { seq, prevHash, hash } = follow(heads.get(row.organization), { v: 1, type: "svc.admin-act", ...act });
      heads.set(row.organization, { seq, hash });
      const { id, organization, at, action, target, ip } = row;
      return sql`(${sql.join([id, organization, seq, at, actor, action, target, ip, data, prevHash, hash])})`;
    });
    if (chained.length > 0)
      await sql`
        insert into admin_audit_new (id, organization, seq, at, actor, action, target, ip, data, prev_hash, hash)
        values ${sql.join(chained)}
      `.execute(db);
    const last = rows.at(-1);
    if (last === undefined) break;
    after = last.place;
  }
  await db.schema.dropTable("admin_audit").execute();
  await db.schema.alterTable("admin_audit_new").renameTo("admin_audit").execute();
  await db.schema.createIndex("admin_audit_newest").on("admin_audit").columns(["organization", "at", "id"]).execute();
  await db.schema
    .createIndex("admin_audit_chain")
    .unique()
    .on("admin_audit")
    .columns(["organization", "seq"])
    .execute();
  await appendOnly(db, "admin_audit");
}
