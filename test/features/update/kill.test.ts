import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readlink } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { resumeUpdate } from "../../../server/features/update/apply.ts";
import { releaseFolder } from "../../../server/features/update/installation.ts";
import { readJournal } from "../../../server/features/update/journal.ts";
import {
  contentOf,
  goodMigration,
  oldVersion,
  openMachine,
  settledContentOf,
  type TestMachine,
} from "../../harness/releases.ts";

const timeout = 600_000;
let machine: TestMachine;
let before: Record<string, string>;
const files = { good: "", unwell: "", unmigratable: "" };
type Kind = keyof typeof files;

beforeAll(async () => {
  machine = await openMachine();
  const { patches = [], files: more = {} } = goodMigration;
  const trouble = {
    file: "server/operations.ts",
    from: "if (stopping) return",
    to: 'if (!stopping) return "a cable is missing";\n    if (stopping) return',
  };
  const refusing = {
    file: "server/migrations/9001-more.ts",
    from: "await sql",
    to: 'throw new Error("no"); await sql',
  };
  const release = { version: "1.1.0", files: more };
  files.good = await machine.update("good", { ...release, patches });
  files.unwell = await machine.update("unwell", { ...release, patches: [...patches, trouble] });
  files.unmigratable = await machine.update("unmigratable", { ...release, patches: [...patches, refusing] });
  machine.supervisor.start();
  await machine.serves(oldVersion);
  before = await settledContentOf(machine.dataDir);
}, timeout);
afterAll(() => machine.close());

/** The update's process is killed when it passes the point. */
async function killedAt(point: string, kind: Kind): Promise<void> {
  const { root, dataDir, env } = machine;
  const about = { file: files[kind], version: oldVersion, accepted: 0, gateSeconds: kind === "good" ? 60 : 6 };
  const plan = { root, dataDir, env, point, ...about };
  const child = spawn(process.execPath, [path.join(import.meta.dirname, "update-child.ts"), JSON.stringify(plan)], {
    env: { PATH: process.env.PATH ?? "", ...machine.env },
    stdio: ["ignore", "inherit", "inherit"],
  });
  expect(await once(child, "exit")).toEqual([null, "SIGKILL"]);
}

/** The release of before serves as before: its data is the same, it lets people in, nothing of the update is left. */
async function expectAsBefore(): Promise<void> {
  const { root, dataDir } = machine;
  await machine.serves(oldVersion);
  expect(await readlink(path.join(root, "current"))).toBe(`releases/${oldVersion}`);
  expect(contentOf(dataDir)).toEqual(before);
  expect((await machine.call("/v1/envelopes")).status).toBe(200);
  expect((await readJournal(root))?.phase).toBe("done");
  for (const left of [
    path.join(dataDir, "update"),
    path.join(dataDir, "maintenance.json"),
    releaseFolder(root, "1.1.0"),
  ])
    expect([left, existsSync(left)]).toEqual([left, false]);
}

const full = process.env.SIGNET_TEST_FULL !== undefined;
const points: [string, Kind, "taken-back" | "returned"][] = [
  ["checking:written", "good", "taken-back"],
  ["draining:written", "good", "taken-back"],
  ["draining:done", "good", "taken-back"],
  ["backing-up:written", "good", "taken-back"],
  ["backing-up:done", "good", "taken-back"],
  ["staging:written", "good", "taken-back"],
  ["staging:done", "good", "taken-back"],
  ["trying:written", "good", "taken-back"],
  ["trying:done", "good", "taken-back"],
  ["taking-back:written", "unmigratable", "taken-back"],
  ["taking-back:cleared", "unmigratable", "taken-back"],
  ["switching:written", "good", "returned"],
  ["switching:done", "good", "returned"],
  ["restarting:written", "good", "returned"],
  ["restarting:done", "good", "returned"],
  ["returning:written", "unwell", "returned"],
  ["returning:switched", "unwell", "returned"],
  ["returning:closed", "unwell", "returned"],
  ["returning:put-back", "unwell", "returned"],
  ["returning:started", "unwell", "returned"],
];
const some = ["restarting:done"];

for (const [point, kind, outcome] of points.filter(([name]) => full || some.includes(name)))
  test(`killed at ${point}, all is as it was before`, { timeout }, async () => {
    await killedAt(point, kind);
    // Whoever holds it still is gone: until the program may be another, the appliance lets people in by itself.
    if (outcome === "taken-back") await machine.serves(oldVersion);
    const journal = await resumeUpdate(machine.site, false);
    expect(journal).toMatchObject({ outcome, from: { version: oldVersion } });
    await expectAsBefore();
    expect(await resumeUpdate(machine.site, false)).toBeNull();
  });

if (full)
  test("killed with the machine, all is put back before the next start", { timeout }, async () => {
    await killedAt("restarting:done", "good");
    await machine.supervisor.stop();
    expect(await resumeUpdate(machine.site, true)).toMatchObject({ outcome: "returned" });
    machine.supervisor.start();
    await expectAsBefore();
  });

if (full)
  test("killed on its way back and never started again, the way back ends, and the next start is as before", {
    timeout,
  }, async () => {
    await killedAt("returning:closed", "unwell");
    await machine.supervisor.stop();
    const site = { ...machine.site, gateSeconds: 2 };
    expect(await resumeUpdate(site, false)).toMatchObject({ outcome: "returned" });
    machine.supervisor.start();
    await expectAsBefore();
  });

if (full)
  test("killed once the new release was found well, it lets people in by itself, and the update is finished", {
    timeout,
  }, async () => {
    await killedAt("committed:written", "good");
    await machine.serves("1.1.0");
    expect(await resumeUpdate(machine.site, false)).toMatchObject({ outcome: "applied" });
    await machine.serves("1.1.0");
    expect(await readlink(path.join(machine.root, "current"))).toBe("releases/1.1.0");
  });
