import { join } from "node:path";
import { type Kysely, sql } from "kysely";
import { expect, test } from "vitest";
import { z } from "zod";
import {
  isUniqueViolation,
  jsonArrayFrom,
  jsonObjectFrom,
  openDatabase,
  type Reader,
  type Tx,
} from "../../server/kernel/db.ts";
import { defineJob, enqueue } from "../../server/kernel/jobs.ts";
import { oncePerTransaction } from "../../server/kernel/transaction.ts";
import { tickingClock } from "../harness/clock.ts";
import { openTestDatabase, temporaryFolder } from "./open.ts";
import { addNote, listNotes, testMigrations } from "./tables.ts";

const texts = async (db: { read: Reader }) => (await listNotes.execute(db.read)).rows.map(({ text }) => text);

test("a transaction is readable once it resolved, and gone when it threw", async () => {
  const db = await openTestDatabase();
  expect(await db.tx(async (tx) => (await addNote("kept").execute(tx)).numAffectedRows)).toBe(1n);
  await expect(
    db.tx(async (tx) => {
      await addNote("lost").execute(tx);
      throw new Error("no");
    }),
  ).rejects.toThrow("no");
  expect(await texts(db)).toEqual(["kept"]);
});

test("one failure in a group of waiting transactions leaves the others committed", async () => {
  const points: string[] = [];
  const db = await openTestDatabase({ onBoundary: (point) => points.push(point) });
  const outcomes = await Promise.allSettled(
    Array.from({ length: 50 }, (_, index) =>
      db.tx(async (tx) => {
        await addNote(index % 10 === 5 ? "note 0" : `note ${index}`).execute(tx);
        return index;
      }),
    ),
  );
  const failed = outcomes.flatMap(({ status }, index) => (status === "rejected" ? [index] : []));
  expect(failed).toEqual([5, 15, 25, 35, 45]);
  expect(await texts(db)).toHaveLength(45);
  // The first ran alone, the 49 that waited for it shared one commit.
  expect(points.filter((point) => point === "tx:after-commit")).toHaveLength(2);
});

test("200 transactions that read and write the same row lose no update", async () => {
  const db = await openTestDatabase();
  await db.tx((tx) => sql`insert into notes (id, text) values (1, '0')`.execute(tx));
  await Promise.all(
    Array.from({ length: 200 }, () =>
      db.tx(async (tx) => {
        const { rows } = await sql<{ text: string }>`select text from notes where id = 1`.execute(tx);
        await sql`update notes set text = ${String(Number(rows[0]?.text) + 1)} where id = 1`.execute(tx);
      }),
    ),
  );
  expect(await texts(db)).toEqual(["200"]);
});

test("after-commit work and topics run after the commit only, once per transaction", async () => {
  const db = await openTestDatabase();
  const seen: string[] = [];
  const end = db.onCommitted("jobs:x", () => seen.push("topic"));
  const { enqueue, defineJob } = await import("../../server/kernel/jobs.ts");
  const { z } = await import("zod");
  const job = defineJob({ name: "j", queue: "x", payload: z.object({}) });
  await db.tx(async (tx) => {
    db.afterCommit(tx, () => seen.push("callback"));
    await enqueue(tx, job, {});
    await enqueue(tx, job, {});
    expect(seen).toEqual([]);
  });
  await db
    .tx(async (tx) => {
      db.afterCommit(tx, () => seen.push("never"));
      await enqueue(tx, job, {});
      throw new Error("no");
    })
    .catch(() => undefined);
  end();
  await db.tx((tx) => enqueue(tx, job, {}));
  expect(seen).toEqual(["callback", "topic"]);
});

test("a transaction has one time, that of the first reading in it, however many run together; outside of it time goes on", async () => {
  const ticking = tickingClock();
  const db = await openTestDatabase({ clock: ticking });
  const clock = oncePerTransaction(ticking);
  const job = defineJob({ name: "test.one", payload: z.object({}) });
  let left: Promise<number> | undefined;
  const moments = await Promise.all(
    Array.from({ length: 10 }, () =>
      db.tx(async (tx) => {
        const first = clock.now();
        await enqueue(tx, job, {});
        const { created_at: created } = await tx
          .selectFrom("jobs")
          .select("created_at")
          .orderBy("created_at", "desc")
          .executeTakeFirstOrThrow();
        expect([created, clock.now(), Date.parse(clock.ts())]).toEqual([first, first, first]);
        left = Promise.resolve().then(async () => {
          await listNotes.execute(db.read);
          return clock.now();
        });
        return first;
      }),
    ),
  );
  expect(new Set(moments).size).toBe(10);
  expect(moments).toEqual(moments.toSorted((a, b) => a - b));
  expect(clock.now()).toBeGreaterThan(moments[9] ?? 0);
  // What a transaction left running is not in it any more.
  expect(await left).toBeGreaterThan(moments[9] ?? 0);
});

test("a transaction that has ended, forgot an await or would wait for itself is refused", async () => {
  const db = await openTestDatabase();
  const kept: { tx?: Tx } = {};
  await db.tx(async (tx) => {
    kept.tx = tx;
  });
  await expect(kept.tx && listNotes.execute(kept.tx)).rejects.toThrow("ended");
  await expect(
    db.tx(async (tx) => {
      addNote("floating").execute(tx);
    }),
  ).rejects.toThrow("not awaited");
  await expect(db.tx(() => db.tx(async () => 1))).rejects.toThrow("inside a transaction");
  // What a transaction starts and leaves behind may open one of its own later.
  let later: Promise<number> | undefined;
  await db.tx(async (tx) => db.afterCommit(tx, () => (later = db.tx(async () => 2))));
  expect(await later).toBe(2);
  expect(await texts(db)).toEqual([]);
});

test("reading connections cannot write, and the types do not offer it", async () => {
  const db = await openTestDatabase();
  await expect(addNote("x").execute(db.read)).rejects.toThrow(/readonly/i);
  // @ts-expect-error a reader has no insertInto
  expect(() => db.read.insertInto("migrations")).toBeDefined();
  const needsTx = async (_tx: Tx) => undefined;
  // @ts-expect-error only db.tx makes a Tx, so nothing can wait for the writer while holding it
  expect(() => needsTx(db.read)).toBeDefined();
});

test("parameters that SQLite would change without a word are refused", async () => {
  const db = await openTestDatabase();
  const bind = (value: unknown) => sql`select ${value} as v`.execute(db.read);
  for (const value of [undefined, true, 1n, new Date(), {}, Number.NaN, 2 ** 53, Number.POSITIVE_INFINITY]) {
    await expect(bind(value)).rejects.toThrow(TypeError);
  }
  expect((await bind(Number.MAX_SAFE_INTEGER)).rows).toEqual([{ v: Number.MAX_SAFE_INTEGER }]);
  expect((await bind(new Uint8Array([1, 2]))).rows).toEqual([{ v: Buffer.of(1, 2) }]);
  expect((await bind(null)).rows).toEqual([{ v: null }]);
});

test("JSON subqueries are parsed, nested too; text that looks like JSON is not", async () => {
  const db = await openTestDatabase();
  await db.tx(async (tx) => {
    await sql`insert into jobs (id, name, queue, payload, run_at, attempts, status, created_at)
              values ('a', 'n', 'q', '{"a":[1]}', 1795252800123, 0, 'queued', 0), ('b', 'n', 'q', '[]', 2, 0, 'dead', 0)`.execute(
      tx,
    );
  });
  const row = await db.read
    .selectFrom("jobs as outer")
    .select((from) => [
      "outer.payload",
      "outer.run_at",
      jsonArrayFrom(
        from
          .selectFrom("jobs as mid")
          .select((inner) => [
            "mid.id",
            "mid.payload",
            jsonObjectFrom(
              inner.selectFrom("jobs as deep").select(["deep.status"]).whereRef("deep.id", "=", "mid.id"),
            ).as("self"),
          ])
          .orderBy("mid.id"),
      ).as("all"),
      jsonObjectFrom(from.selectFrom("jobs as none").select("none.id").where("none.id", "=", "z")).as("none"),
    ])
    .where("outer.id", "=", "a")
    .executeTakeFirst();
  expect(row).toEqual({
    payload: '{"a":[1]}',
    run_at: 1795252800123,
    none: null,
    all: [
      { id: "a", payload: '{"a":[1]}', self: { status: "queued" } },
      { id: "b", payload: "[]", self: { status: "dead" } },
    ],
  });
});

test("constraints: unique violations are told apart, foreign keys hold, append-only tables refuse changes", async () => {
  const db = await openTestDatabase();
  await db.tx(async (tx) => {
    await addNote("a").execute(tx);
    await sql`insert into log values ('x')`.execute(tx);
  });
  const failure = (statement: typeof listNotes | ReturnType<typeof addNote>) =>
    db
      .tx(async (tx) => statement.execute(tx))
      .then(
        () => "no error",
        (error: unknown) => error,
      );
  expect(isUniqueViolation(await failure(addNote("a")))).toBe(true);
  const foreign = await failure(sql`insert into notes (text, parent) values ('b', 99)`);
  expect(String(foreign)).toContain("FOREIGN KEY");
  expect(isUniqueViolation(foreign)).toBe(false);
  expect(String(await failure(sql`update log set line = 'y'`))).toContain("log is append-only");
  expect(String(await failure(sql`delete from log`))).toContain("log is append-only");
  expect(String(await failure(sql`insert into notes (id, text) values ('x', 'y')`))).toContain("datatype mismatch");
});

test("more distinct statements than the cache holds, at once and again", async () => {
  const db = await openTestDatabase({ readers: 1 });
  const ask = (n: number) => sql<{ n: number }>`select ${sql.lit(n)} as n`.execute(db.read);
  for (let round = 0; round < 2; round += 1) {
    const answers = await Promise.all(Array.from({ length: 1200 }, (_, n) => ask(n)));
    expect(answers.map(({ rows }) => rows[0]?.n)).toEqual(Array.from({ length: 1200 }, (_, n) => n));
  }
});

test("of several processes that find an older file each step is done by one, and what stands against it keeps the file", async () => {
  const file = join(await temporaryFolder(), "signet.db");
  const opened = await Promise.all([1, 2, 3, 4].map(() => openDatabase({ file })));
  await Promise.all(opened.map((db) => db.close()));
  const older = join(await temporaryFolder(), "older.db");
  const [first] = testMigrations;
  if (first === undefined) throw new Error("a test migration is needed");
  await (await openDatabase({ file: older, migrations: [first] })).close();
  const taken = () => Promise.reject(new Error("a server runs"));
  const open = (beforeMigration: () => Promise<{ release(): Promise<void> }>) =>
    openDatabase({ file: older, migrations: testMigrations, beforeMigration });
  await expect(open(taken)).rejects.toThrow("a server runs");
  await (await openDatabase({ file: older, migrations: [first], beforeMigration: taken })).close();
  let released = 0;
  const release = async () => {
    released += 1;
  };
  const free = async () => ({ release });
  await (await open(free)).close();
  expect(released).toBe(1);
  await (await open(taken)).close();
});

test("migrations run once, in one transaction each; a newer database is refused", async () => {
  const file = join(await temporaryFolder(), "m.db");
  const [first, second] = testMigrations;
  if (first === undefined || second === undefined) throw new Error("two test migrations are needed");
  await (await openDatabase({ file, migrations: [first] })).close();
  const broken = {
    name: "0002-broken",
    async up(db: Kysely<unknown>) {
      await db.schema.createTable("half").addColumn("a", "text").execute();
      throw new Error("power cut");
    },
  };
  await expect(openDatabase({ file, migrations: [first, broken] })).rejects.toThrow("power cut");
  const db = await openDatabase({ file, migrations: [first, second] });
  expect(await db.read.selectFrom("migrations").select("name").orderBy("name").execute()).toEqual([
    { name: "0001-kernel" },
    { name: "0002-notes" },
  ]);
  expect((await sql`select name from sqlite_master where name = 'half'`.execute(db.read)).rows).toEqual([]);
  await db.close();
  await expect(openDatabase({ file, migrations: [first] })).rejects.toThrow("newer release");
});

test("a copy made while the service runs is complete and sound", async () => {
  const db = await openTestDatabase();
  await db.tx((tx) => addNote("in the backup").execute(tx));
  const copy = join(await temporaryFolder(), "it's a copy.db");
  await db.copyTo(copy);
  const restored = await openTestDatabase({ file: copy });
  expect(await texts(restored)).toEqual(["in the backup"]);
  expect(await restored.check()).toEqual([]);
});

test("closing waits for what was submitted and refuses what comes after", async () => {
  const file = join(await temporaryFolder(), "c.db");
  const db = await openTestDatabase({ file });
  const late = Array.from({ length: 5 }, (_, index) => db.tx((tx) => addNote(`n${index}`).execute(tx)));
  const reads = Array.from({ length: 5 }, (_, index) => sql`select ${sql.lit(index)}`.execute(db.read));
  await db.close();
  await Promise.all([...late, ...reads]);
  await expect(db.tx(async () => 1)).rejects.toThrow("closed");
  await expect(listNotes.execute(db.read)).rejects.toThrow("closed");
  expect(await texts(await openTestDatabase({ file }))).toHaveLength(5);
});
