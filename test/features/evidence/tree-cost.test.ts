import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { signNextAnchor } from "../../../server/features/evidence/anchors/signing.ts";
import {
  appendLeaf,
  consistencyProof,
  inclusionProof,
  rootOf,
} from "../../../server/features/evidence/anchors/tree.ts";
import type { Leaf } from "../../../server/features/evidence/contract.ts";
import { openDatabase, type Reader, type Tables } from "../../../server/kernel/db.ts";
import { kyselyOver } from "../../../server/kernel/kysely-sqlite.ts";
import { runScoped } from "../../../server/kernel/transaction.ts";
import { migrations } from "../../../server/migrations/list.ts";
import { startAppliance } from "../../harness/appliance.ts";

/** A leaf, its proofs and the anchor over it cost the same however many leaves there are: no statement walks over the tree. */

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "signet-tree-cost-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const leafOf = (n: number): Leaf => ({
  v: 1,
  type: "svc.leaf",
  envelope: `env_${String(n).padStart(24, "0")}`,
  documentSha256: String(n).padStart(64, "0"),
  auditHash: "0".repeat(64),
  sealedAt: "2026-11-21T10:00:00.000Z",
  testMode: false,
});

type Statement = { sql: string; parameters: readonly unknown[] };

/** Runs statements in the open file and notes how SQLite finds the rows of each. */
function watched(file: string) {
  const db = new DatabaseSync(file);
  const walks: string[] = [];
  const asked = new Set<string>();
  const execute = async <R>({ sql, parameters }: Statement): Promise<{ rows: R[]; numAffectedRows: bigint }> => {
    const bound = parameters.map((value) => (typeof value === "number" || value === null ? value : String(value)));
    asked.add(sql);
    for (const { detail } of db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...bound))
      if (
        /^SCAN (leaves|merkle_nodes|envelopes|jobs|mails|anchors|anchor_notes|operator_heads|witness_receipts)\b/.test(
          String(detail),
        ) &&
        !takesTheLast(sql)
      )
        walks.push(`${detail}: ${sql}`);
    const rows = db.prepare(sql).all(...bound);
    return { rows: rows as R[], numAffectedRows: 1n };
  };
  const connection = { executeQuery: execute, streamQuery: () => raise("no streams") };
  const surroundings = {
    execute,
    endsTransaction: () => false,
    now: () => 0,
    newJobId: () => `job_${asked.size}`,
    seal: (plain: string) => plain,
  };
  const read: Reader = kyselyOver<Tables>(() => connection);
  return { db, walks, asked, read, surroundings, close: () => db.close() };
}

/** From the end of the table itself, in the order of its key: one row is read. */
const takesTheLast = (sql: string): boolean => /order by \S*"(leaf_index|sequence)" desc limit \?$/.test(sql);
const raise = (text: string): never => {
  throw new Error(text);
};

/** What a release of before left behind: its statistics, taken when the tree had so many leaves; null when it took none. */
async function grownAfterCounting(file: string, counted: number | null, count: number): Promise<void> {
  const before = migrations.filter(({ name }) => name < "0050");
  const db = await openDatabase({ file, migrations: before });
  try {
    for (let n = 0; n < (counted ?? 0); n += 1) await db.tx((tx) => appendLeaf(tx, leafOf(n)));
    const other = new DatabaseSync(file);
    if (counted !== null) other.exec("pragma optimize");
    other.close();
    for (let n = counted ?? 0; n < count; n += 1) await db.tx((tx) => appendLeaf(tx, leafOf(n)));
  } finally {
    await db.close();
  }
}

test.each([1, 2, 5, 14])(
  "appending and proving search by key, also where SQLite believes in %i leaves",
  async (counted) => {
    const file = path.join(folder, "signet.db");
    const count = 130;
    await grownAfterCounting(file, counted, count);
    const { db, walks, asked, surroundings, close } = watched(file);
    try {
      expect(db.prepare("select count(*) as n from sqlite_stat1 where tbl = 'merkle_nodes'").get()?.n).toBe(1);
      await runScoped<Tables, unknown>(surroundings, async (tx) => {
        const index = await appendLeaf(tx, leafOf(count));
        expect(index).toBe(count);
        const row = await tx.selectFrom("leaves").selectAll().where("leaf_index", "=", 77).executeTakeFirstOrThrow();
        await rootOf(tx, count + 1);
        await consistencyProof(tx, 77, count + 1);
        expect((await inclusionProof(tx, row, count + 1)).path).toHaveLength(8);
      });
    } finally {
      close();
    }
    expect(asked.size).toBeGreaterThan(5);
    expect(walks).toEqual([]);
  },
);

test.each([14, null])("an update forgets what SQLite counted, and counts nothing anew (%s)", async (counted) => {
  const file = path.join(folder, "signet.db");
  await grownAfterCounting(file, counted, 14);
  const counts = () => {
    const db = new DatabaseSync(file);
    try {
      return db.prepare("select name from sqlite_schema where name like 'sqlite_stat%'").all();
    } finally {
      db.close();
    }
  };
  expect(counts()).toHaveLength(counted === null ? 0 : 1);
  await (await openDatabase({ file })).close();
  expect(counts()).toEqual([]);
});

test("an anchor walks over nothing that grows with what is stored", async () => {
  const app = await startAppliance({ env: { SIGNET_ANCHOR_INTERVAL_SECONDS: "86400", SIGNET_WITNESS_DIR: folder } });
  try {
    for (let n = 0; n < 40; n += 1) await app.deps.db.tx((tx) => appendLeaf(tx, leafOf(n)));
    const own = watched(path.join(app.deps.config.dataDir, "signet.db"));
    try {
      // The keys of a new installation are made first.
      await signNextAnchor(app.deps);
      own.db.exec("begin immediate");
      const commit = await signNextAnchor({ ...app.deps, db: { ...app.deps.db, read: own.read } });
      await runScoped<Tables, unknown>(own.surroundings, async (tx) => await commit?.(tx));
      expect(own.db.prepare("select tree_size from anchors").all()).toEqual([{ tree_size: 40 }]);
      own.db.exec("rollback");
    } finally {
      own.close();
    }
    expect(own.asked.size).toBeGreaterThan(10);
    expect(own.walks).toEqual([]);
  } finally {
    await app.stop();
  }
});
