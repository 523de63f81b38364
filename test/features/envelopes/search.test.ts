import { readFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { searchText } from "../../../server/features/envelopes/search.ts";
import { readEnvelopes } from "../../../server/features/envelopes/store.ts";
import type { Tx } from "../../../server/kernel/db.ts";
import { openDatabase } from "../../../server/kernel/db.ts";
import { migrations } from "../../../server/migrations/list.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { createEnvelope, publishTemplate } from "../../harness/envelopes.ts";

/** What the list's `q` finds with the index of texts is what a walk over all texts finds; nothing stays in the index. */

let app: TestAppliance;
let template: string;
let model: string;
beforeAll(async () => {
  app = await startAppliance();
  template = await publishTemplate(app);
  model = (await createEnvelope(app, template)).id;
  await app.jobs.idle();
});
afterAll(() => app.stop());

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();
declare module "../../../server/kernel/db.ts" {
  interface Tables {
    envelope_search_data: { id: number; block: Uint8Array };
  }
}
type Made = { id: string; search: string; createdAt: string; testMode?: number };

/** Further envelopes as rows alone: only what a search looks at is their own. */
async function insert(tx: Tx, { id, search, createdAt, testMode = 0 }: Made): Promise<void> {
  const row = await tx.selectFrom("envelopes").selectAll().where("id", "=", model).executeTakeFirstOrThrow();
  await tx
    .insertInto("envelopes")
    .values({ ...row, id, search, created_at: createdAt, test_mode: testMode })
    .execute();
}
const insertAll = (made: readonly Made[]) =>
  app.deps.db.tx(async (tx) => {
    for (const one of made) await insert(tx, one);
  });
beforeEach(() =>
  app.deps.db.tx(async (tx) => {
    await tx.deleteFrom("envelopes").where("id", "!=", model).execute();
  }),
);

async function find(q: string, limit = 100, testMode = false): Promise<string[]> {
  const filter = { organization: app.organization, testMode, q, limit };
  return (await readEnvelopes(app.deps.db.read, filter)).map(({ envelope }) => envelope.id);
}

/** The definition: a walk over every text. */
async function walk(q: string): Promise<string[]> {
  const pattern = `%${searchText([q]).replaceAll(/[\\%_]/g, "\\$&")}%`;
  const { rows } = await sql<{ id: string }>`
    select id from envelopes where organization = ${app.organization} and test_mode = 0
      and (id = ${q} or search like ${pattern} escape '\\') order by created_at desc, id desc
  `.execute(app.deps.db.read as Parameters<ReturnType<typeof sql>["execute"]>[0]);
  return rows.map(({ id }) => id);
}

// Few letters, so that texts meet; each is there for what it does to case, form or to a pattern.
const letter = fc.constantFrom(
  ..."abcABC äÄßẞüÜİıſKΣσςéÉ",
  ...["e\u0301", "ﬁ", "Ǆ", "ﷺ", "𐐀", "𐐨", "🙂", "\u200d", "\u0301", "%", "_", "\\", '"', "'", "*", "^", "-", ":", "("],
  ...[" AND ", " OR ", " NOT ", "NEAR(", "\n", "\t", "\0", "\ud800", "\udc00", "\ufffd", "\ufeff", "漢", "字"],
);
const text = fc.array(letter, { maxLength: 12 }).map((letters) => letters.join(""));
const anyText = fc.oneof(text, fc.string({ unit: "binary", maxLength: 12 }));

test("the index finds what a walk over all texts finds, for any texts and any question", async () => {
  const question = fc.oneof(
    anyText,
    // A part of one of the texts, as it is or in capitals.
    fc.record({ from: fc.nat(20), length: fc.nat(12), of: fc.nat(9), upper: fc.boolean() }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(anyText, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 10 }),
      fc.array(question, { minLength: 1, maxLength: 12 }),
      fc.array(fc.tuple(fc.nat(9), anyText), { maxLength: 3 }),
      async (parts, questions, changes) => {
        await app.deps.db.tx(async (tx) => {
          await tx.deleteFrom("envelopes").where("id", "!=", model).execute();
          for (const [index, own] of parts.entries())
            await insert(tx, { id: `env_${index}`, search: searchText(own), createdAt: at(index % 3) });
        });
        await app.deps.db.tx(async (tx) => {
          for (const [index, changed] of changes)
            await tx
              .updateTable("envelopes")
              .set({ search: searchText([changed]) })
              .where("id", "=", `env_${index}`)
              .execute();
        });
        for (const asked of questions) {
          const whole = typeof asked === "string" ? "" : (parts[asked.of % parts.length]?.join("\n") ?? "");
          const part = typeof asked === "string" ? asked : whole.slice(asked.from, asked.from + asked.length);
          const q = typeof asked !== "string" && asked.upper ? part.toUpperCase() : part;
          expect(await find(q)).toEqual(await walk(q));
        }
      },
    ),
    { numRuns: 150 },
  );
});

test("a search reads the index, and finds the id and both modes apart", async () => {
  await insertAll([
    { id: "env_live", search: "müller & söhne", createdAt: at(1) },
    { id: "env_test", search: "müller & söhne", createdAt: at(2), testMode: 1 },
  ]);
  expect(await find("MÜLLER & SÖ")).toEqual(["env_live"]);
  expect(await find("mu\u0308ller", 10, true)).toEqual(["env_test"]);
  expect(await find("env_live")).toEqual(["env_live"]);
  expect(await find("env_test")).toEqual([]);
  expect(await find("env_liv")).toEqual([]);
  // With its row taken out of the index it is found no more, so it was the index that found it.
  const { number } = await app.deps.db.read
    .selectFrom("envelope_numbers")
    .select("number")
    .where("id", "=", "env_live")
    .executeTakeFirstOrThrow();
  const run = (statement: ReturnType<typeof sql>) =>
    app.deps.db.tx((tx) => statement.execute(tx as Parameters<typeof statement.execute>[0]));
  const text = "müller & söhne";
  await run(sql`insert into envelope_search (envelope_search, rowid, search) values ('delete', ${number}, ${text})`);
  expect(await find("müller")).toEqual([]);
  await run(sql`insert into envelope_search (rowid, search) values (${number}, ${text})`);
  expect(await find("müller")).toEqual(["env_live"]);
});

test("what very many have is found from the newest on, page for page", async () => {
  const many = Array.from({ length: 1100 }, (_, index) => ({
    id: `env_many${String(index).padStart(4, "0")}`,
    search: `common ${index}`,
    createdAt: at(Math.floor(index / 3)),
  }));
  await insertAll(many);
  expect(await find("common", 30)).toEqual((await walk("common")).slice(0, 31));
  const seen: string[] = [];
  for (let after: { t: string; id: string } | undefined; ; ) {
    const filter = { organization: app.organization, testMode: false, q: "common 10", limit: 50, after };
    const rows = await readEnvelopes(app.deps.db.read, filter);
    const page = rows.slice(0, 50).map(({ envelope }) => envelope);
    seen.push(...page.map(({ id }) => id));
    const last = page.at(-1);
    if (rows.length <= 50 || last === undefined) break;
    after = { t: last.created_at, id: last.id };
  }
  expect(seen).toHaveLength(111);
  expect(seen).toEqual(await walk("common 10"));
});

test("a transaction that comes to nothing leaves nothing in the index", async () => {
  // All wait for the writer, so they share a commit in which each has its savepoint.
  const results = await Promise.allSettled(
    Array.from({ length: 40 }, (_, index) =>
      app.deps.db.tx(async (tx) => {
        await insert(tx, { id: `env_try${index}`, search: `attempt ${index}`, createdAt: at(index) });
        if (index % 2 === 1) throw new Error("taken back");
      }),
    ),
  );
  expect(results.filter(({ status }) => status === "rejected")).toHaveLength(20);
  expect(await find("attempt")).toEqual(await walk("attempt"));
  expect(await find("attempt")).toHaveLength(20);
  expect(await app.deps.db.check()).toEqual([]);
});

test("nothing of a text that was changed or deleted stays in the index or the file", async () => {
  const filler = Array.from({ length: 300 }, (_, index) => ({
    id: `env_filler${index}`,
    search: `filler ${index} ${Buffer.from(`${index * 7919}`)
      .toString("base64")
      .toLowerCase()}`,
    createdAt: at(index),
  }));
  // Letters that nothing else in the database has.
  const [changed, deleted] = ["\u0531\u0532\u0533\u0534\u0535", "\u1c90\u1c91\u1c92\u1c93\u1c94"];
  const pairs = [changed, deleted].flatMap((text) => [1, 2, 3].map((from) => text.slice(from, from + 2)));
  await insertAll(filler);
  await insertAll([
    { id: "env_changed", search: `${changed} one`, createdAt: at(1) },
    { id: "env_deleted", search: `${deleted} two`, createdAt: at(2) },
  ]);
  const inspect = async () => {
    await app.deps.db.truncateLog();
    const bytes = await readFile(path.join(app.folder, "signet.db"));
    // The index shortens a run by what it shares with the run before: its last two letters stand there whole.
    return pairs.filter((pair) => bytes.includes(pair));
  };
  expect(await inspect()).toEqual(pairs);
  const pages = await app.deps.db.read.selectFrom("envelope_search_data").select("block").execute();
  expect(pairs.some((pair) => pages.some(({ block }) => Buffer.from(block).includes(pair)))).toBe(true);
  await app.deps.db.tx(async (tx) => {
    await tx.updateTable("envelopes").set({ search: "plain" }).where("id", "=", "env_changed").execute();
    await tx.deleteFrom("envelopes").where("id", "=", "env_deleted").execute();
  });
  expect(await inspect()).toEqual([]);
  expect(await find("plain")).toEqual(["env_changed"]);
});

test("envelopes of an older release are found after the update, and in a copy", async () => {
  await insertAll(
    Array.from({ length: 50 }, (_, index) => ({
      id: `env_old${index}`,
      search: `older ${index}`,
      createdAt: at(index),
    })),
  );
  const file = path.join(app.folder, "older.db");
  await app.deps.db.copyTo(file);
  const expected = await walk("older 1");
  const asked = { organization: app.organization, testMode: false, q: "older 1", limit: 100 };
  const found = async () => {
    const db = await openDatabase({ file, migrations });
    const rows = await readEnvelopes(db.read, asked);
    const complaints = await db.check();
    await db.close();
    return { ids: rows.map(({ envelope }) => envelope.id), complaints };
  };
  expect(await found()).toEqual({ ids: expected, complaints: [] });
  const older = new DatabaseSync(file);
  older.exec(`drop trigger envelope_search_insert; drop trigger envelope_search_update; drop trigger envelope_search_delete;
    drop table envelope_search; drop table envelope_numbers; delete from migrations where name = '0051-envelope-search'`);
  older.close();
  expect(await found()).toEqual({ ids: expected, complaints: [] });
});
