import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readlink, rm } from "node:fs/promises";
import path from "node:path";
import { json } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { applyUpdate, rollBack } from "../../../server/features/update/apply.ts";
import { getUpdate, listUpdates } from "../../../server/features/update/contract.ts";
import { releaseFolder } from "../../../server/features/update/installation.ts";
import { type Journal, readJournal } from "../../../server/features/update/journal.ts";
import { UpdateUndone } from "../../../server/features/update/perform.ts";
import { callLocal } from "../../../server/local-client.ts";
import {
  audited,
  contentOf,
  extraMigration,
  goodMigration,
  installed,
  oldVersion,
  openMachine,
  settledContentOf,
  type TestMachine,
} from "../../harness/releases.ts";

const timeout = 300_000;
let machine: TestMachine;
let before: Record<string, string>;
beforeAll(async () => {
  machine = await openMachine();
  machine.supervisor.start();
  await machine.serves(oldVersion);
  before = await settledContentOf(machine.dataDir);
}, timeout);
afterAll(() => machine.close());

const apply = (file: string, change: Partial<TestMachine["site"]> = {}) =>
  applyUpdate({ ...machine.site, ...change }, { file, pinned: machine.pinned, installed });

/** A second administrator, in a process of their own. @returns what it says */
async function applyElsewhere(file: string): Promise<unknown> {
  const main = path.join(machine.root, "current/server/main.ts");
  const child = spawn(process.execPath, [main, "update", "apply", file, "--service", "supervised", "--json"], {
    env: { PATH: process.env.PATH ?? "", ...machine.env },
    stdio: ["ignore", "pipe", "ignore"],
  });
  return await json(child.stdout);
}

async function undone(work: Promise<Journal>): Promise<Journal> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof UpdateUndone)) throw error ?? new Error("it was applied");
  return error.journal;
}

/** The release of before serves as before: its data is the same, it lets people in, nothing of the update is left. */
async function expectAsBefore(): Promise<void> {
  const { root, dataDir } = machine;
  await machine.serves(oldVersion);
  expect(await readlink(path.join(root, "current"))).toBe(`releases/${oldVersion}`);
  expect(contentOf(dataDir)).toEqual(before);
  expect((await machine.call("/readyz")).status).toBe(200);
  expect((await machine.call("/v1/envelopes")).status).toBe(200);
  expect((await readJournal(root))?.phase).toBe("done");
  for (const left of [
    path.join(dataDir, "update"),
    path.join(dataDir, "maintenance.json"),
    releaseFolder(root, "1.1.0"),
  ])
    expect([left, existsSync(left)]).toEqual([left, false]);
}

test("a release whose migration fails on the copy never comes near the database", { timeout }, async () => {
  const broken = extraMigration(
    "await sql`create table more (id text) strict`.execute(db);\nthrow new Error('no such column: x');",
  );
  const file = await machine.update("broken-migration", { version: "1.1.0", ...broken });
  const { starts } = machine.supervisor;
  let refused: Promise<Response[]> | undefined;
  let second: Promise<unknown> | undefined;
  const onBoundary = (point: string) => {
    if (point === "draining:done") second = applyElsewhere(file);
    if (point === "backing-up:done")
      refused = Promise.all([
        machine.call("/v1/envelopes", { method: "POST", body: "{}" }),
        machine.call("/readyz"),
        machine.call("/healthz"),
      ]);
  };
  const journal = await undone(apply(file, { onBoundary }));
  expect(journal).toMatchObject({ outcome: "taken-back", from: { version: oldVersion }, to: { version: "1.1.0" } });
  expect(journal.cause).toContain("no such column: x");
  expect(await second).toEqual({ error: "Another update is under way.", code: "conflict" });
  const answers = (await refused) ?? [];
  expect(answers.map(({ status }) => status)).toEqual([503, 503, 200]);
  expect(answers[0]?.headers.get("retry-after")).toBe("30");
  await expectAsBefore();
  expect(machine.supervisor.starts).toBe(starts);
  expect(audited(machine.dataDir)).toEqual(["update.begun", "update.taken_back"]);
});

test("a release that starts and is not well goes, and the database of before comes back", { timeout }, async () => {
  const { patches = [], files } = goodMigration;
  const trouble = {
    file: "server/operations.ts",
    from: "if (stopping) return",
    to: 'if (!stopping) return "a cable is missing";\n    if (stopping) return',
  };
  const file = await machine.update("unwell", {
    version: "1.1.0",
    patches: [...patches, trouble],
    ...(files && { files }),
  });
  const journal = await undone(apply(file, { gateSeconds: 8 }));
  expect(journal.outcome).toBe("returned");
  expect(journal.cause).toContain("Version 1.1.0 was not ready within 8 seconds");
  await expectAsBefore();
  expect(audited(machine.dataDir).slice(-2)).toEqual(["update.begun", "update.returned"]);
});

const full = process.env.SIGNET_TEST_FULL !== undefined;
/** As of a large database: no start can answer within the gate, and the time that the trial took is added to it. */
const slowMigration = extraMigration(
  "await new Promise((resolve) => setTimeout(resolve, 30_000));\nawait sql`create table more (id integer primary key) strict`.execute(db);",
);

test("a release that is well serves, with its migration, and people's data is the same", { timeout }, async () => {
  const file = await machine.update("good", { version: "1.1.0", ...(full ? slowMigration : goodMigration) });
  const journal = await apply(file, full ? { gateSeconds: 25 } : {});
  expect(journal.outcome).toBe("applied");
  await machine.serves("1.1.0");
  const { schema: _, migrations: __, more, ...now } = contentOf(machine.dataDir);
  const { schema: ___, migrations: ____, ...then } = before;
  expect(now).toEqual(then);
  expect(more).toBeDefined();
  expect((await machine.call("/v1/envelopes")).status).toBe(200);
  const state = await callLocal(machine.site.address, getUpdate, {});
  expect(state).toMatchObject({
    version: "1.1.0",
    maintenance: null,
    interrupted: false,
    installation: { previous: oldVersion },
  });
  const { data } = await callLocal(machine.site.address, listUpdates, {});
  expect(data.map(({ outcome }) => outcome)).toEqual(["applied", "returned", "taken-back"]);
  expect(audited(machine.dataDir).slice(-2)).toEqual(["update.begun", "update.applied"]);
});

if (full)
  test("without the database of before there is no way back to a release that does not know today's", {
    timeout,
  }, async () => {
    await rm(path.join(machine.dataDir, "update/kept.db"));
    const newer = { ...installed, version: "1.1.0" };
    const journal = await undone(rollBack(machine.site, newer));
    expect(journal).toMatchObject({ kind: "rollback", outcome: "taken-back" });
    expect(journal.cause).toContain("newer release");
    await machine.serves("1.1.0");
    expect(existsSync(releaseFolder(machine.root, oldVersion))).toBe(true);
  });
