import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeUpdateFolder, updateFolder } from "../../../server/features/update/installation.ts";
import {
  appendHistory,
  type Journal,
  readHistory,
  readJournal,
  writeJournal,
} from "../../../server/features/update/journal.ts";
import { readStanding } from "../../../server/features/update/lock.ts";

const at = "2026-01-01T00:00:00.000Z";
const release = (version: string) => ({ version, program: { node: "bin/node", main: "server/main.ts" } });
const rollback: Journal = {
  v: 1,
  id: "upd_0123456789abcdef",
  kind: "rollback",
  phase: "restarting",
  startedAt: at,
  at,
  operator: "ada",
  file: null,
  manifestSha256: null,
  from: release("2.0.0"),
  to: release("1.0.0"),
  dataDir: "/data",
  backup: null,
  snapshot: null,
  restore: null,
  loss: null,
  outcome: null,
  cause: null,
};

test("a release to which a way back leads understands the journal: it wants the number of a process", async () => {
  const root = await mkdtemp(path.join(tmpdir(), "signet-journal-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  await makeUpdateFolder(root);
  await writeJournal(root, rollback);
  await appendHistory(root, rollback);
  const text = (name: string) => readFile(path.join(updateFolder(root), name), "utf8");
  for (const written of [await text("journal.json"), await text("history.jsonl")])
    expect(JSON.parse(written)).toEqual({ ...rollback, pid: process.pid });
  expect(await readJournal(root)).toEqual(rollback);
  expect(await readHistory(root)).toEqual([rollback]);
});

test("where an update of an older release keeps its lock to itself, the page still says where it stands", async () => {
  const root = await mkdtemp(path.join(tmpdir(), "signet-journal-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  await makeUpdateFolder(root);
  await writeJournal(root, rollback);
  // Root may open every file, and nobody opens a socket as one.
  const closed = createServer().listen(path.join(updateFolder(root), "lock.db"));
  onTestFinished(() => void closed.close());
  await once(closed, "listening");
  expect(await readStanding(root)).toEqual({ journal: rollback, interrupted: false });
});
