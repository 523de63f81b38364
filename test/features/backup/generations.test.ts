import { createHash, randomInt } from "node:crypto";
import { readdirSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { loadConfig } from "../../../server/config.ts";
import { createActivity } from "../../../server/features/backup/activity.ts";
import { performBackup, performDrill, performVerify } from "../../../server/features/backup/acts.ts";
import { makeRecipient } from "../../../server/features/backup/recipient.ts";
import {
  beginBackup,
  beginDrill,
  cancelBackup,
  listBackups,
  readBackupState,
  scheduleBackup,
  startVerify,
} from "../../../server/features/backup/service.ts";
import * as store from "../../../server/features/backup/store.ts";
import { openTarget } from "../../../server/features/backup/target.ts";
import type { Deps } from "../../../server/kernel/deps.ts";
import { createLog } from "../../../server/kernel/log.ts";
import { systemActor } from "../../../server/kernel/wire.ts";
import { openDeps } from "../../../server/open-deps.ts";
import { signet } from "../../harness/cli.ts";
import { movableClock } from "../../harness/clock.ts";

/** Many generations share their files: whichever go, each that stays brings exactly what was there when it was made. */

const { recipient, secret } = makeRecipient();
const dayMs = 86_400_000;
const hourMs = 3_600_000;
/** Each backup starts a process. */
const days = process.env.SIGNET_TEST_FULL === "1" ? 8 : 4;
const work = { told: () => undefined };
let home: string;
let share: string;
let keyFile: string;
beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), "signet-generations-"));
  share = path.join(home, "share");
  await mkdir(share);
  keyFile = path.join(home, "key");
  await writeFile(keyFile, secret);
});
afterAll(() => rm(home, { recursive: true, force: true }));

async function appliance(name: string, keep: string, clock = movableClock()) {
  const config = loadConfig({
    SIGNET_DATA_DIR: path.join(home, name),
    SIGNET_BACKUP_DIR: share,
    SIGNET_BACKUP_RECIPIENT: recipient,
    SIGNET_BACKUP_KEEP: keep,
  });
  const { deps, close } = await openDeps({ config, log: createLog("silent"), createKey: true, clock });
  onTestFinished(close);
  return { deps, clock };
}

async function backUp(deps: Deps): Promise<string> {
  const id = await deps.db.tx((tx) => beginBackup(tx, deps, { actor: systemActor, trigger: "operator" }));
  const ended = await performBackup(deps, id, work);
  expect(ended).toMatchObject({ ok: true, cause: null });
  await deps.db.tx(ended.commit);
  return id;
}

async function blobsIn(deps: Deps): Promise<string[]> {
  const all: string[] = [];
  for await (const sha256 of deps.blobs.list()) all.push(sha256);
  return all;
}

const namedBy = async (id: string) =>
  (await readFile(path.join(share, "backups", id, "blobs.list"), "utf8"))
    .split("\n")
    .filter(Boolean)
    .map((line) => line.slice(0, 64));

const storedFor = async (deps: Deps, id: string) => {
  const store = openTarget(share).blobsOf((await openTarget(share).read(id)).masterKey);
  const names = await readdir(store, { recursive: true });
  return { names: names.map((name) => path.basename(name)).filter((name) => /^[0-9a-f]{64}$/.test(name)), deps };
};

test("whatever comes and goes between them, every backup that stays is whole, and nothing stays that none of them names", async () => {
  const { deps, clock } = await appliance("data", "last=2,daily=2");
  const then = new Map<string, string[]>();
  const seed = randomInt(1_000_000);
  let state = seed;
  const draw = (below: number) => {
    state = createHash("sha256").update(String(state)).digest().readUInt32BE();
    return state % below;
  };
  for (let day = 0; day < days; day += 1) {
    for (let count = draw(4); count >= 0; count -= 1) await deps.blobs.put(Buffer.from(`document ${draw(12)}`));
    for (const sha256 of await blobsIn(deps))
      if (draw(3) === 0) await deps.blobs.removeUnused(sha256, Number.POSITIVE_INFINITY);
    const id = await backUp(deps);
    then.set(id, await blobsIn(deps));
    clock.advance(draw(2) === 0 ? dayMs : dayMs / 3);
    const left = await openTarget(share).ids();
    for (const one of left) expect(await namedBy(one), `seed ${seed}`).toEqual(then.get(one));
    const named = new Set(left.flatMap((one) => then.get(one) ?? []));
    expect(new Set((await storedFor(deps, id)).names), `seed ${seed}`).toEqual(named);
  }
  const left = await openTarget(share).ids();
  expect(left.length).toBeGreaterThanOrEqual(2);
  expect(left.length).toBeLessThan(then.size);
  for (const id of left)
    expect(await performVerify(deps, { id, actor: systemActor }, work), `seed ${seed}`).toMatchObject({ ok: true });
});

test("two appliances write to one folder: neither removes, verifies or drills what is the other's", async () => {
  const first = await appliance("first", "last=1");
  const second = await appliance("second", "last=1", first.clock);
  await first.deps.blobs.put(Buffer.from("of the first"));
  await second.deps.blobs.put(Buffer.from("of the second"));
  const strangers = (await openTarget(share).ids()).length;
  const [before] = [await backUp(first.deps)];
  first.clock.advance(1000);
  const others = await backUp(second.deps);
  first.clock.advance(1000);
  const own = await backUp(first.deps);
  const ids = await openTarget(share).ids();
  expect(ids).toEqual(expect.arrayContaining([others, own]));
  expect(ids).not.toContain(before);
  expect(ids).toHaveLength(strangers + 2);

  // The newest of all is the first one's; the second takes its own.
  expect(await performVerify(second.deps, { id: undefined, actor: systemActor }, work)).toMatchObject({
    ok: true,
    id: others,
  });
  // Nobody waits for a check that cannot be made.
  const idle = createActivity();
  await expect(startVerify(second.deps, idle, systemActor, own)).rejects.toThrow(/under another master key/);
  // Whoever names a folder for the scratch keeps what lies in it.
  const scratch = path.join(home, "scratch");
  await mkdir(path.join(scratch, "drill", "mine"), { recursive: true });
  const drill = await second.deps.db.tx((tx) => beginDrill(tx, second.deps, systemActor, null));
  expect(await performDrill(second.deps, { id: drill, backup: undefined, scratch }, work)).toMatchObject({
    ok: true,
    checked: { blobs: 1 },
  });
  expect(await readdir(scratch, { recursive: true })).toEqual(["drill", path.join("drill", "mine")]);
});

test("a damaged backup takes no place of a whole one", async () => {
  const { deps, clock } = await appliance("places", "last=2,daily=2");
  const whole = await backUp(deps);
  clock.advance(hourMs);
  const damaged = await backUp(deps);
  const row = await store.findRun(deps.db.read, damaged);
  await deps.db.tx(
    async (tx) => row && (await store.noteVerified(tx, { ...row, status: "damaged", verified_at: null })),
  );
  clock.advance(dayMs);
  await backUp(deps);
  expect(await openTarget(share).ids()).toEqual(expect.arrayContaining([whole, damaged]));
});

test("a backup of a clock that was ahead takes no place, is none that was verified, and goes when its date has come", async () => {
  const { deps, clock } = await appliance("ahead", "last=2,daily=2");
  const idle = { current: () => null, expect: () => undefined };
  clock.advance(365 * dayMs);
  const future = await backUp(deps);
  const drill = await deps.db.tx((tx) => beginDrill(tx, deps, systemActor, null));
  await deps.db.tx((await performDrill(deps, { id: drill, backup: undefined }, work)).commit);
  clock.advance(-365 * dayMs);
  expect(await readBackupState(deps, idle)).toMatchObject({ last: null, lastVerified: null, lastDrill: null });
  // Nor does it keep the next one from being planned.
  expect(Date.parse((await readBackupState(deps, idle)).nextAt ?? "")).toBe(clock.now());

  const made: string[] = [];
  for (let count = 0; count < 4; count += 1) {
    clock.advance(hourMs);
    made.push(await backUp(deps));
  }
  const [first = "", second = "", ...kept] = made;
  const newest = kept.at(-1) ?? "";
  const left = await openTarget(share).ids();
  expect(left).toEqual(expect.arrayContaining([...kept, future]));
  for (const gone of [first, second]) expect(left).not.toContain(gone);
  expect(await readBackupState(deps, idle)).toMatchObject({ last: { id: newest }, lastVerified: { id: newest } });
  const shown = new Map((await listBackups(deps)).map(({ id, ahead }) => [id, ahead]));
  expect([shown.get(future), shown.get(newest)]).toEqual([true, false]);
  expect(await performVerify(deps, { id: undefined, actor: systemActor }, work)).toMatchObject({ id: newest });

  clock.advance(366 * dayMs);
  await backUp(deps);
  await backUp(deps);
  expect(await openTarget(share).ids()).not.toContain(newest);
});

test("where the newest backup is of the future, a restore asks which one is meant", async () => {
  const { deps, clock } = await appliance("asks", "last=2");
  clock.advance(Math.max(0, Date.now() - clock.now()) + 20 * 365 * dayMs);
  const future = await backUp(deps);
  const args = ["restore", "--from", share, "--to", path.join(home, "never"), "--key", keyFile];
  expect(await signet(args)).toMatchObject({
    code: 1,
    err: expect.stringContaining(`${future}, is dated in the future`),
  });
  expect(await signet([...args, "--id", future])).toMatchObject({ code: 0 });
});

test("a list that was changed keeps every file, and no backup behind it from being whole", async () => {
  const { deps, clock } = await appliance("changed", "last=2");
  const { sha256 } = await deps.blobs.put(Buffer.from("of the first alone"));
  const first = await backUp(deps);
  await deps.blobs.removeUnused(sha256, Number.POSITIVE_INFINITY);
  await deps.blobs.put(Buffer.from("of all that follow"));
  clock.advance(1000);
  const second = await backUp(deps);
  await writeFile(path.join(share, "backups", second, "blobs.list"), "");
  clock.advance(1000);
  const third = await backUp(deps);
  expect(await openTarget(share).ids()).not.toContain(first);
  expect((await storedFor(deps, third)).names).toContain(sha256);
});

test("the age is that of the data: no later check makes it younger, and a mistyped name is no damaged backup", async () => {
  const { deps, clock } = await appliance("ages", "last=2");
  const id = await backUp(deps);
  clock.advance(5 * dayMs);
  const again = await performVerify(deps, { id, actor: systemActor }, work);
  await deps.db.tx(again.commit);
  const typo = performVerify(deps, { id: "20200101-000000000-000000", actor: systemActor }, work);
  await expect(typo).rejects.toThrow(/20200101-000000000-000000/);
  const state = await readBackupState(deps, { current: () => null });
  expect(state).toMatchObject({ last: { id }, lastVerified: { id, at: clock.ts(), ageHours: 5 * 24 } });
});

test("a backup and a drill whose command was killed are ended, and the next backup is planned", async () => {
  const { deps, clock } = await appliance("killed", "last=2");
  const begun = await deps.db.tx(async (tx) => ({
    run: await beginBackup(tx, deps, { actor: systemActor, trigger: "operator" }),
    drill: await beginDrill(tx, deps, systemActor, null),
  }));
  const idle = { current: () => null, expect: () => undefined };
  const busy = await openTarget(share).lock("exclusive");
  await scheduleBackup(deps, idle);
  expect((await readBackupState(deps, idle)).last).toMatchObject({ id: begun.run, status: "running" });
  await busy();
  await scheduleBackup(deps, idle);
  expect(await readBackupState(deps, idle)).toMatchObject({
    last: { id: begun.run, status: "failed", cause: expect.stringContaining("its process ended") },
    lastDrill: { id: begun.drill, status: "failed" },
  });
  clock.advance(hourMs);
  await scheduleBackup(deps, idle);
  const planned = (await readBackupState(deps, idle)).last;
  expect(planned).toMatchObject({ trigger: "schedule", status: "running" });
  // A job stands behind this one.
  await scheduleBackup(deps, idle);
  expect((await readBackupState(deps, idle)).last).toEqual(planned);
});

test("what waits in the queue after a restart is shown, keeps others out, and can be cancelled", async () => {
  const { deps } = await appliance("restarted", "last=2");
  const id = await backUp(deps);
  const before = await readBackupState(deps, { current: () => null });
  await startVerify(deps, createActivity(), systemActor, id);
  // Another process knows nothing but the queue.
  const activity = createActivity();
  expect((await readBackupState(deps, activity)).running).toMatchObject({ kind: "verify", id, step: "waiting" });
  await expect(startVerify(deps, activity, systemActor, id)).rejects.toThrow(/A verify runs already/);
  expect((await cancelBackup(deps, activity, systemActor)).running).toBeNull();
  expect(await deps.db.read.selectFrom("jobs").selectAll().where("name", "=", "backup.verify").execute()).toEqual([]);
  const acts = await deps.db.read.selectFrom("operator_audit").select("action").orderBy("seq", "desc").execute();
  expect(acts[0]).toEqual({ action: "verify.cancelled" });
  expect(await readBackupState(deps, activity)).toMatchObject({ last: before.last });
  await expect(cancelBackup(deps, activity, systemActor)).rejects.toThrow(/No backup/);
});

test("the master key is nowhere written in clear, for it may lie on another disk", async () => {
  const { deps } = await appliance("clear", "last=1");
  const id = await deps.db.tx((tx) => beginBackup(tx, deps, { actor: systemActor, trigger: "operator" }));
  let lying: string[] = [];
  const reached = (point: string) => {
    if (point === "database") lying = readdirSync(path.join(deps.config.dataDir, "run", "backup"));
  };
  expect(await performBackup(deps, id, { ...work, reached })).toMatchObject({ ok: true });
  expect(lying).toEqual(["signet.db"]);
});

test("a folder that looks like ours and is another's stays as it was", async () => {
  const strange = path.join(share, "backups", "20200101-000000000-abcdef");
  await cp(path.join(share, "backups", (await openTarget(share).ids())[0] ?? ""), strange, { recursive: true });
  await mkdir(path.join(share, "backups", "notes"));
  const { deps } = await appliance("third", "last=1");
  await backUp(deps);
  await backUp(deps);
  expect(await readdir(path.join(share, "backups"))).toEqual(
    expect.arrayContaining(["20200101-000000000-abcdef", "notes"]),
  );
});
