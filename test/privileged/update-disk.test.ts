import { spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { mkdtemp, readlink, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { applyUpdate } from "../../server/features/update/apply.ts";
import { releaseFolder } from "../../server/features/update/installation.ts";
import { readJournal } from "../../server/features/update/journal.ts";
import { UpdateUndone } from "../../server/features/update/perform.ts";
import { healthOf } from "../../server/features/update/site.ts";
import {
  contentOf,
  goodMigration,
  installed,
  oldVersion,
  openMachine,
  settledContentOf,
  type TestMachine,
} from "../harness/releases.ts";

const mebibyte = 1024 ** 2;

/** Leaves so many bytes free, and not one block more. */
function fill(folder: string, leave: number): void {
  const file = openSync(path.join(folder, "filler"), "a");
  const block = Buffer.alloc(4096);
  try {
    for (;;) {
      const { bavail, bsize } = statfsSync(folder);
      const left = bavail * bsize - leave;
      if (left <= 0) return;
      writeSync(file, left > mebibyte ? Buffer.alloc(mebibyte) : block);
    }
  } finally {
    closeSync(file);
  }
}

const timeout = 600_000;
let volume: string;
let machine: TestMachine;
let file: string;
let before: Record<string, string>;

beforeAll(async () => {
  volume = await mkdtemp(path.join(tmpdir(), "signet-volume-"));
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=256m", "tmpfs", volume], { encoding: "utf8" });
  if (mounted.status !== 0) throw new Error(`this test needs to mount a small volume: ${mounted.stderr}`);
  // Without the appliance's own reserve, which would give way at a moment of its own.
  machine = await openMachine({ SIGNET_DISK_RESERVE_MB: "0", SIGNET_DISK_FULL_PERCENT: "99" }, volume);
  file = await machine.update("good", { version: "1.1.0", ...goodMigration });
  await rm(path.join(machine.folder, "good"), { recursive: true });
  machine.supervisor.start();
  await machine.serves(oldVersion);
  before = await settledContentOf(machine.dataDir);
}, timeout);
afterAll(async () => {
  await machine?.close();
  spawnSync("umount", ["-l", volume]);
  await rm(volume, { recursive: true, force: true });
});

const apply = (onBoundary?: (point: string) => void) =>
  applyUpdate({ ...machine.site, gateSeconds: 30, onBoundary }, { file, pinned: machine.pinned, installed });

async function expectAsBefore(): Promise<void> {
  await machine.serves(oldVersion);
  expect(await readlink(path.join(machine.root, "current"))).toBe(`releases/${oldVersion}`);
  expect(contentOf(machine.dataDir)).toEqual(before);
  for (const left of [
    path.join(machine.dataDir, "update"),
    path.join(machine.dataDir, "maintenance.json"),
    releaseFolder(machine.root, "1.1.0"),
  ])
    expect([left, existsSync(left)]).toEqual([left, false]);
}

test("an update asks for its room before anything begins, and names the bytes", { timeout }, async () => {
  fill(volume, 3 * mebibyte);
  const refused = apply();
  await expect(refused).rejects.toThrow(
    /too little room at .*: \d+ bytes \(.*\) are free, \d+ bytes \(.*\) are needed, and 1000000 bytes .* have to stay free/,
  );
  expect(await readJournal(machine.root)).toBeNull();
  expect(machine.supervisor.starts).toBe(1);
  rmSync(path.join(volume, "filler"));
  await expectAsBefore();
});

for (const [point, leave, outcome] of [
  ["staging:written", 0, "taken-back"],
  ["backing-up:written", 0, "taken-back"],
  ["trying:written", 0, "taken-back"],
  ["restarting:written", mebibyte / 2, "returned"],
] as const)
  test(`a volume that runs full at ${point}: the update returns, and the release of before runs`, {
    timeout,
  }, async () => {
    const error: unknown = await apply((passed) => {
      if (passed !== point) return;
      fill(volume, leave);
      if (outcome === "returned") throw new Error("somebody filled the volume");
    }).catch((thrown: unknown) => thrown);
    if (!(error instanceof UpdateUndone)) throw error;
    expect(error.journal.outcome).toBe(outcome);
    if (outcome === "taken-back") expect(error.message).toMatch(/ran full|no room|full|ENOSPC/);
    // It runs before there is room again, and serves as soon as there is.
    expect(await healthOf(machine.site)).toMatchObject({ version: oldVersion, maintenance: null });
    rmSync(path.join(volume, "filler"), { force: true });
    await expectAsBefore();
  });

test("where there is room again, the same update is applied", { timeout }, async () => {
  expect(await apply()).toMatchObject({ outcome: "applied" });
  await machine.serves("1.1.0");
});
