import { type Kysely, sql } from "kysely";
import { strictTable } from "../kernel/schema.ts";

/**
 * An index over all runs of three letters in `envelopes.search`. It holds no texts, and forgets a row in place
 * (`secure-delete`) instead of marking it. Rows are numbered in a table of their own: a copy of the database may number those of
 * `envelopes` anew. Kept by triggers, like everything that has to hold whoever writes.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await strictTable(db, "envelope_numbers")
    .addColumn("number", "integer", (column) => column.primaryKey())
    .addColumn("id", "text", (column) => column.notNull().unique().references("envelopes.id"))
    .execute();
  // Letters are compared as they are: whoever writes and whoever asks has made them lower-case already.
  await sql`
    create virtual table envelope_search using fts5(
      search, content = '', detail = 'none', tokenize = 'trigram case_sensitive 1'
    )
  `.execute(db);
  await sql`insert into envelope_search (envelope_search, rank) values ('secure-delete', 1)`.execute(db);
  // With the default of 4, a commit now and then does the merging of many: it would wait for that.
  await sql`insert into envelope_search (envelope_search, rank) values ('automerge', 8)`.execute(db);

  await sql`insert into envelope_numbers (id) select id from envelopes order by created_at, id`.execute(db);
  await sql`
    insert into envelope_search (rowid, search)
    select number, search from envelope_numbers join envelopes on envelopes.id = envelope_numbers.id
  `.execute(db);

  const add = sql`insert into envelope_search (rowid, search) select number, new.search from envelope_numbers where id = new.id`;
  const remove = sql`
    insert into envelope_search (envelope_search, rowid, search)
    select 'delete', number, old.search from envelope_numbers where id = old.id
  `;
  await sql`
    create trigger envelope_search_insert after insert on envelopes
    begin insert into envelope_numbers (id) values (new.id); ${add}; end
  `.execute(db);
  await sql`
    create trigger envelope_search_update after update of search on envelopes when old.search <> new.search
    begin ${remove}; ${add}; end
  `.execute(db);
  await sql`
    create trigger envelope_search_delete before delete on envelopes
    begin ${remove}; delete from envelope_numbers where id = old.id; end
  `.execute(db);
}
