import { type Kysely, sql } from "kysely";
import { appendOnly, type Migration, strictTable } from "../../server/kernel/schema.ts";
import * as kernel from "../../server/migrations/0001-kernel.ts";
import * as jobSubjects from "../../server/migrations/0066-job-subjects.ts";
import * as jobLanes from "../../server/migrations/0067-job-lanes.ts";

async function notes(db: Kysely<unknown>): Promise<void> {
  await strictTable(db, "notes")
    .addColumn("id", "integer", (column) => column.primaryKey())
    .addColumn("text", "text", (column) => column.notNull().unique())
    .addColumn("parent", "integer", (column) => column.references("notes.id"))
    .execute();
  await strictTable(db, "log")
    .addColumn("line", "text", (column) => column.notNull())
    .execute();
  await appendOnly(db, "log");
}

export const testMigrations: readonly Migration[] = [
  { name: "0001-kernel", up: kernel.up },
  { name: "0002-notes", up: notes },
  { name: "0066-job-subjects", up: jobSubjects.up },
  { name: "0067-job-lanes", up: jobLanes.up },
];

export const addNote = (text: string) => sql`insert into notes (text) values (${text})`;
export const listNotes = sql<{ text: string }>`select text from notes order by id`;
