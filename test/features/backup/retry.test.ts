import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { loadConfig } from "../../../server/config.ts";
import { performBackup, performDrill } from "../../../server/features/backup/acts.ts";
import { makeRecipient } from "../../../server/features/backup/recipient.ts";
import { beginBackup, beginDrill, readBackupState, scheduleBackup } from "../../../server/features/backup/service.ts";
import * as store from "../../../server/features/backup/store.ts";
import { openTarget } from "../../../server/features/backup/target.ts";
import { toTs } from "../../../server/kernel/clock.ts";
import type { Deps } from "../../../server/kernel/deps.ts";
import { createLog } from "../../../server/kernel/log.ts";
import { systemActor } from "../../../server/kernel/wire.ts";
import { openDeps } from "../../../server/open-deps.ts";
import { movableClock } from "../../harness/clock.ts";

/** A backup that failed is tried again and takes no place of a whole one, and two drills at once wait for each other. */

const { recipient } = makeRecipient();
const hourMs = 3_600_000;
const work = { told: () => undefined };
const idle = { current: () => null, expect: () => undefined };
let home: string;
beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), "signet-leftovers-"));
});
afterAll(() => rm(home, { recursive: true, force: true }));

async function appliance(name: string, keep: string) {
  const share = path.join(home, `${name}-share`);
  await mkdir(share, { recursive: true });
  const config = loadConfig({
    SIGNET_DATA_DIR: path.join(home, name),
    SIGNET_BACKUP_DIR: share,
    SIGNET_BACKUP_RECIPIENT: recipient,
    SIGNET_BACKUP_KEEP: keep,
  });
  const clock = movableClock();
  const { deps, close } = await openDeps({ config, log: createLog("silent"), createKey: true, clock });
  onTestFinished(close);
  return { deps, clock, share };
}

async function backUp(deps: Deps) {
  const id = await deps.db.tx((tx) => beginBackup(tx, deps, { actor: systemActor, trigger: "operator" }));
  const ended = await performBackup(deps, id, work);
  await deps.db.tx(ended.commit);
  return ended;
}

test("what is said of the next backup is when one that failed is tried again", async () => {
  const { deps, clock, share } = await appliance("again", "last=2");
  await rm(share, { recursive: true });
  expect(await backUp(deps)).toMatchObject({ ok: false });
  const failedAt = clock.now();
  const { last, nextAt } = await readBackupState(deps, idle);
  expect(last).toMatchObject({ status: "failed" });
  expect(nextAt).toBe(toTs(failedAt + hourMs));
  await mkdir(share);
  clock.advance(hourMs);
  await scheduleBackup(deps, idle);
  expect((await readBackupState(deps, idle)).last).toMatchObject({ trigger: "schedule", status: "running" });
});

test("two drills of one data folder do not remove each other's scratch", async () => {
  const { deps } = await appliance("drills", "last=2");
  await backUp(deps);
  const drill = async (reached?: (point: string) => void) => {
    const id = await deps.db.tx((tx) => beginDrill(tx, deps, systemActor, null));
    return await performDrill(deps, { id, backup: undefined }, { ...work, reached });
  };
  let second: ReturnType<typeof drill> | undefined;
  const first = await drill((point) => {
    if (point === "restored") second = drill();
  });
  expect(first).toMatchObject({ ok: true, cause: null });
  expect(await second).toMatchObject({ ok: true, cause: null });
});

test.each(["cancelled", "failed"] as const)(
  "a backup that was %s when it was complete already keeps no place that a whole one needs",
  async (status) => {
    const { deps, clock, share } = await appliance(`places-${status}`, "last=2");
    const made = async () => {
      clock.advance(hourMs);
      return (await backUp(deps)).id;
    };
    const first = await made();
    const leftover = await made();
    const row = await store.findRun(deps.db.read, leftover);
    await deps.db.tx(async (tx) => row && (await store.noteVerified(tx, { ...row, status, verified_at: null })));
    const second = await made();
    expect(await openTarget(share).ids()).toEqual([first, leftover, second]);
    // It goes by the same rules, counted with all the others.
    const third = await made();
    expect(await openTarget(share).ids()).toEqual([second, third]);
  },
);
