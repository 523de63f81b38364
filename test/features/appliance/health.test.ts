import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCli } from "../../../server/cli.ts";
import { acceptClock, getClock } from "../../../server/features/appliance/clock-contract.ts";
import { getStatus } from "../../../server/features/appliance/status-contract.ts";
import { getChecks } from "../../../server/features/health/contract.ts";
import { ensureKeys } from "../../../server/features/keys/service.ts";
import { toTs } from "../../../server/kernel/clock.ts";
import { administrator } from "../../harness/admin.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { commandOn } from "../../harness/cli.ts";

let app: TestAppliance;
beforeAll(async () => {
  app = await startAppliance();
  await ensureKeys(app.deps);
});
afterAll(() => app.stop());

const dayMs = 86_400_000;

test("status tells work by kind, storage with its forecast, memory, what ends when, and the checks", async () => {
  const admin = administrator(app);
  // As if the data folder had held nothing ten days ago.
  const day = toTs(Date.now() - 10 * dayMs).slice(0, 10);
  await app.deps.db.tx((tx) => tx.insertInto("storage_samples").values({ day, bytes: 0 }).execute());
  const before = await admin.call(getStatus, {});
  expect(before).toMatchObject({ mode: "normal", restartNeeded: false, checks: null });
  const { storage } = before;
  expect(storage.usedBytes).toBeGreaterThanOrEqual(storage.databaseBytes + storage.documentBytes);
  expect(storage.databaseBytes).toBeGreaterThan(100_000);
  expect(storage.growthBytesPerDay).toBe(Math.round(storage.usedBytes / 10));
  expect(storage.daysUntilFull).toBe(Math.floor(storage.freeBytes / (storage.growthBytesPerDay ?? 0)));
  expect(before.memory.processBytes).toBeLessThan(before.memory.totalBytes);
  expect(before.expiries.map(({ what }) => what)).toEqual(expect.arrayContaining(["ca", "seal", "timestamp"]));
  expect(before.expiries).toEqual([...before.expiries].sort((a, b) => a.days - b.days));
  await app.deps.db.tx((tx) => tx.insertInto("jobs").values(deadJob("job_kind", "evidence.nothing")).execute());
  const checks = await admin.call(getChecks, {});
  const after = await admin.call(getStatus, {});
  expect(after.checks).toEqual({ ...checks.counts, at: checks.at });
  expect(after.queueByKind).toContainEqual({ name: "evidence.nothing", queued: 0, running: 0, dead: 1 });
  await app.deps.db.tx((tx) => tx.deleteFrom("jobs").where("id", "=", "job_kind").execute());
});

test("each finding that is not well says what to do", async () => {
  const { data, counts } = await administrator(app).call(getChecks, { query: { thorough: "1" } });
  for (const { id, state, action } of data) expect([id, action === null]).toEqual([id, state === "ok"]);
  expect(counts.ok + counts.warning + counts.wrong).toBe(data.length);
  const state = (id: string) => data.find((one) => one.id === id)?.state;
  expect([state("database"), state("clock"), state("key.seal"), state("settings")]).toEqual(["ok", "ok", "ok", "ok"]);
  // It lies on the data volume, on loopback, without a mail server.
  expect([state("master-key"), state("address"), state("mail")]).toEqual(["warning", "warning", "warning"]);
});

test("the clock is shown and accepted on the socket, which the audit tells", async () => {
  const admin = administrator(app);
  expect(await admin.call(getClock, {})).toMatchObject({ doubt: null });
  const { events } = await admin.call(acceptClock, {});
  expect(events[0]).toMatchObject({ kind: "accepted" });
  const acts = await app.deps.db.read.selectFrom("operator_audit").select(["action", "actor"]).execute();
  expect(acts.at(-1)).toMatchObject({ action: "clock.accepted", actor: expect.stringContaining("ada") });
});

test("doctor finds what keeps a stopped appliance from starting", async () => {
  const other = await startAppliance();
  await other.restart();
  const { folder } = other;
  const kept = path.join(folder, "kept");
  // The harness would delete it; the folder is what is looked at.
  const { stop } = other;
  const signet = commandOn(folder);
  const look = async () => {
    const { code, json } = await signet("doctor", "--json");
    const findings = json().findings as { id: string; state: string; action: string | null }[];
    return { code, wrong: findings.filter(({ state }) => state === "wrong").map(({ id }) => id) };
  };
  try {
    expect(await look()).toEqual({ code: 0, wrong: [] });
    await chmod(path.join(folder, "master.key"), 0o644);
    expect(await look()).toEqual({ code: 1, wrong: ["master-key"] });
    await chmod(path.join(folder, "master.key"), 0o600);
    await chmod(folder, 0o777);
    expect(await look()).toEqual({ code: 1, wrong: ["data-folder"] });
    await chmod(folder, 0o700);
    await mkdir(kept);
  } finally {
    await stop();
  }
  // Nothing is there any more: a first start makes it.
  expect((await signet("doctor", "--json")).code).toBe(0);
  await mkdir(folder);
  await writeFile(path.join(folder, "signet.db"), "this is no database");
  expect((await look()).wrong).toEqual(["master-key"]);
  await rm(folder, { recursive: true });
});

test("a stopped appliance is told by status with exit code 1", async () => {
  let out = "";
  const code = await runCli(
    ["status", "--json"],
    { SIGNET_DATA_DIR: path.join(app.folder, "nothing-here") },
    {
      stdout: (text) => {
        out += text;
      },
      stderr: () => undefined,
      stdin: (async function* () {})(),
      interactive: false,
      onSignal: () => undefined,
    },
  );
  expect({ code, ...JSON.parse(out) }).toMatchObject({ code: 1, state: "stopped" });
  const running = await commandOn(app.folder)("status");
  expect(running.code).toBe(0);
  expect(running.out).toMatch(/state +running/);
  expect(running.out).toMatch(/seal key +until \d{4}-\d\d-\d\d, \d+ days/);
});

function deadJob(id: string, name: string) {
  return {
    id,
    name,
    queue: "elsewhere",
    payload: "{}",
    run_at: 0,
    attempts: 25,
    status: "dead" as const,
    lease_until: null,
    lease_by: null,
    dedupe_key: null,
    last_error: "no luck",
    created_at: 0,
  };
}
