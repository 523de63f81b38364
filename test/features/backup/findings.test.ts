import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadConfig } from "../../../server/config.ts";
import { backupFindings } from "../../../server/features/backup/findings.ts";
import { makeRecipient } from "../../../server/features/backup/recipient.ts";
import { readBackupState } from "../../../server/features/backup/service.ts";
import * as store from "../../../server/features/backup/store.ts";
import { toTs } from "../../../server/kernel/clock.ts";
import type { Deps } from "../../../server/kernel/deps.ts";
import { createLog } from "../../../server/kernel/log.ts";
import { openDeps } from "../../../server/open-deps.ts";
import { movableClock } from "../../harness/clock.ts";

/** What an administrator is told about backups, by what became of them. */

const clock = movableClock();
const hourMs = 3_600_000;
let home: string;
let deps: Deps;
let close: () => Promise<void>;
beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), "signet-findings-"));
  await mkdir(path.join(home, "share"));
  const env = { SIGNET_DATA_DIR: path.join(home, "data"), SIGNET_BACKUP_DIR: path.join(home, "share") };
  const config = loadConfig({ ...env, SIGNET_BACKUP_RECIPIENT: makeRecipient().recipient });
  ({ deps, close } = await openDeps({ config, log: createLog("silent"), createKey: true, clock }));
});
const findingsOf = async (on: Deps) => await backupFindings(on, await readBackupState(on, { current: () => null }));

afterAll(async () => {
  await close();
  await rm(home, { recursive: true, force: true });
});

type Run = { hoursAgo: number; status: store.RunRow["status"]; cause?: string };
type Drill = { daysAgo: number; status: store.DrillRow["status"]; cause?: string };

async function become(runs: readonly Run[], drill: Drill | null): Promise<void> {
  const at = (hoursAgo: number) => toTs(clock.now() - hoursAgo * hourMs);
  await deps.db.tx(async (tx) => {
    await tx.deleteFrom("backup_runs").execute();
    await tx.deleteFrom("backup_drills").execute();
    for (const [index, { hoursAgo, status, cause = null }] of runs.entries()) {
      const id = `run ${index}`;
      await store.insertRun(tx, { id, trigger: "schedule", folder: "", started_at: at(hoursAgo) });
      if (status === "running") continue;
      const verified_at = status === "verified" ? at(hoursAgo) : null;
      await store.endRun(tx, id, { status, ended_at: at(hoursAgo), cause, verified_at });
    }
    if (!drill) return;
    await store.insertDrill(tx, { id: "drill", backup: null, started_at: at(drill.daysAgo * 24) });
    const { status, cause = null } = drill;
    if (status !== "running")
      await store.endDrill(tx, "drill", { status, ended_at: at(drill.daysAgo * 24), cause, checked: "{}" });
  });
}

const passed: Drill = { daysAgo: 10, status: "passed" };
const full = { hoursAgo: 2, status: "failed", cause: "ENOSPC: the share is full" } as const;
const cases: [string, Run[], Drill | null, [string, RegExp], [string, RegExp] | null][] = [
  ["nothing was made yet", [], null, ["warning", /none was ever found whole/i], null],
  ["the first one runs", [{ hoursAgo: 0, status: "running" }], null, ["ok", /being made/], null],
  ["the first one failed", [full], null, ["wrong", /ENOSPC: the share is full; none was ever/], null],
  ["all is well", [{ hoursAgo: 20, status: "verified" }], passed, ["ok", /20 h old/], ["ok", /passed/]],
  ["no drill yet", [{ hoursAgo: 20, status: "verified" }], null, ["ok", /20 h/], ["warning", /never tried/]],
  [
    "the last one is late",
    [{ hoursAgo: 40, status: "verified" }],
    passed,
    ["wrong", /40 h old; one is due every 24/],
    ["ok", /passed/],
  ],
  [
    "one failed behind a whole one",
    [{ hoursAgo: 26, status: "verified" }, full],
    passed,
    ["warning", /ENOSPC.*26 h old/],
    ["ok", /passed/],
  ],
  [
    "they fail for days",
    [{ hoursAgo: 24 * 5, status: "verified" }, full],
    passed,
    ["wrong", /ENOSPC.*5 days old/],
    ["ok", /passed/],
  ],
  [
    "the disk of the target damaged it",
    [
      { hoursAgo: 26, status: "verified" },
      { hoursAgo: 1, status: "damaged", cause: "blob ab: it is damaged" },
    ],
    passed,
    ["warning", /is damaged: blob ab/],
    ["ok", /passed/],
  ],
  [
    "the drill failed",
    [{ hoursAgo: 1, status: "verified" }],
    { daysAgo: 1, status: "failed", cause: "the disk is full" },
    ["ok", /1 h/],
    ["wrong", /failed: the disk is full/],
  ],
  [
    "the drill is long ago",
    [{ hoursAgo: 1, status: "verified" }],
    { daysAgo: 91, status: "passed" },
    ["ok", /1 h/],
    ["warning", /is long ago/],
  ],
];

test.each(cases)("%s", async (_, runs, drill, expected, expectedDrill) => {
  await become(runs, drill);
  const [first, second] = await findingsOf(deps);
  expect(first).toMatchObject({ id: "backup", state: expected[0], detail: expect.stringMatching(expected[1]) });
  expect(first?.action === null).toBe(expected[0] === "ok");
  if (expectedDrill === null) expect(second).toBeUndefined();
  else
    expect(second).toMatchObject({
      id: "backup-drill",
      state: expectedDrill[0],
      detail: expect.stringMatching(expectedDrill[1]),
    });
});

test("no folder is a warning with what to do; half of the settings is wrong", async () => {
  const { backupDir: _, ...without } = deps.config;
  const [unset] = await findingsOf({ ...deps, config: without });
  expect(unset).toMatchObject({ state: "warning", action: expect.stringContaining("signet backup key") });
  const { backupRecipient: __, ...nobody } = deps.config;
  const [half, ...more] = await findingsOf({ ...deps, config: nobody });
  expect(half).toMatchObject({ state: "wrong", detail: expect.stringContaining("nobody could open") });
  expect(more).toEqual([]);
});
