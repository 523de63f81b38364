import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readlink } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { applyUpdate, resumeUpdate, rollBack } from "../../../server/features/update/apply.ts";
import { readJournal } from "../../../server/features/update/journal.ts";
import {
  contentOf,
  goodMigration,
  installed,
  oldVersion,
  openMachine,
  settledContentOf,
  type TestMachine,
} from "../../harness/releases.ts";

/**
 * A way back that brings the database of before, cut off at each of its steps and begun again: minutes for each, so the suite
 * leaves it out and `npm run test:long` does not.
 */

const timeout = 900_000;
const newer = { ...installed, version: "1.1.0" };
let machine: TestMachine;
let before: Record<string, string>;
let today: Record<string, string>;
let accepted = 0;

const database = "server/features/update/database.ts";
const die = (at: string) => `if (process.env.DIE_AT === "put-back:${at}") process.kill(process.pid, "SIGKILL");`;
/** The release that puts the database back dies where it is told to. */
const mortal = [
  {
    file: database,
    from: "// A log that is left would",
    to: `${die("copied")}\n    // A log that is left would`,
  },
  {
    file: database,
    from: "await rename(",
    to: `${die("log-gone")}\n    await rename(`,
  },
  {
    file: database,
    from: "await syncFolder(dataDir);\n    await writeMaintenance(",
    to: `${die("renamed")}\n    await syncFolder(dataDir);\n    await writeMaintenance(`,
  },
];

async function signet(...args: string[]): Promise<number | null> {
  const child = spawn(process.execPath, [path.join(machine.root, "current/server/main.ts"), ...args], {
    env: { PATH: process.env.PATH ?? "", ...machine.env },
    stdio: "ignore",
  });
  await once(child, "close");
  return child.exitCode;
}

beforeAll(async () => {
  machine = await openMachine();
  machine.supervisor.start();
  await machine.serves(oldVersion);
  before = await settledContentOf(machine.dataDir);
  const { patches = [], files = {} } = goodMigration;
  const file = await machine.update("mortal", { version: "1.1.0", files, patches: [...patches, ...mortal] });
  await applyUpdate(machine.site, { file, pinned: machine.pinned, installed });
  await machine.serves("1.1.0");
  expect(await signet("api-key", "create", "--name", "since", "--mode", "live")).toBe(0);
  today = contentOf(machine.dataDir);
  const refused = await rollBack(machine.site, newer).catch((error: unknown) => String(error));
  expect(refused).toMatch(/Lost would be:\n {2}1 API key made or revoked\n {2}1 entry in the audit of organizations\n/);
  accepted = Number(/--accept-loss (\d+)$/.exec(String(refused))?.[1]);
}, timeout);
afterAll(() => machine?.close());

async function killedAt(point: string): Promise<void> {
  const { root, dataDir, env } = machine;
  const plan = { root, dataDir, env, point, file: null, version: "1.1.0", accepted, gateSeconds: 60 };
  const child = spawn(process.execPath, [path.join(import.meta.dirname, "update-child.ts"), JSON.stringify(plan)], {
    env: { PATH: process.env.PATH ?? "", ...env },
    stdio: ["ignore", "inherit", "inherit"],
  });
  expect(await once(child, "exit")).toEqual([null, "SIGKILL"]);
}

async function expectServed(version: string, content: Record<string, string>): Promise<void> {
  await machine.serves(version);
  expect(await readlink(path.join(machine.root, "current"))).toBe(`releases/${version}`);
  expect(contentOf(machine.dataDir)).toEqual(content);
  expect((await readJournal(machine.root))?.phase).toBe("done");
  expect(existsSync(path.join(machine.dataDir, "maintenance.json"))).toBe(false);
}

const points: [string, "taken-back" | "returned"][] = [
  ["draining:done", "taken-back"],
  ["backing-up:done", "taken-back"],
  ["staging:written", "taken-back"],
  ["trying:written", "taken-back"],
  ["trying:done", "taken-back"],
  ["switching:written", "returned"],
  ["switching:switched", "returned"],
  ["put-back:copied", "returned"],
  ["put-back:log-gone", "returned"],
  ["put-back:renamed", "returned"],
  ["switching:done", "returned"],
  ["restarting:written", "returned"],
  ["restarting:done", "returned"],
];

for (const [point, outcome] of points)
  test(`a way back killed at ${point} is taken back whole, and may be begun again`, { timeout }, async () => {
    await killedAt(point);
    expect(await resumeUpdate(machine.site, false)).toMatchObject({ kind: "rollback", outcome });
    await expectServed("1.1.0", today);
    // The database of before lies there still, and nothing else would be lost by it.
    await expect(rollBack(machine.site, newer)).rejects.toThrow(`--accept-loss ${accepted}`);
  });

test("after all of that it ends as before the update", { timeout }, async () => {
  expect(await rollBack(machine.site, newer, accepted)).toMatchObject({ outcome: "applied" });
  await expectServed(oldVersion, before);
});
