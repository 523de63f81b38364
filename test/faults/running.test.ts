import { mkdtemp, open, readdir, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { startAppliance as compose } from "../../server/compose.ts";
import { getStatus } from "../../server/features/appliance/status-contract.ts";
import { getChecks } from "../../server/features/health/contract.ts";
import { createLog } from "../../server/kernel/log.ts";
import { administrator } from "../harness/admin.ts";
import { startAppliance } from "../harness/appliance.ts";

test("a second instance on the same folder is refused, and the first goes on", async () => {
  const app = await startAppliance();
  onTestFinished(() => app.stop());
  await expect(compose({ config: app.config, log: createLog("silent") })).rejects.toThrow(
    /already using the data folder/,
  );
  expect((await app.call("/readyz", { key: null })).status).toBe(200);
});

test("a damaged page of the database is found after the start: nothing is changed any more, what can be read is read", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-damaged-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const before = await startAppliance({ folder });
  const { rows } = await sql<{ page: number; size: number }>`
    SELECT rootpage AS page, (SELECT page_size FROM pragma_page_size) AS size
    FROM sqlite_schema WHERE name = 'clock_events'`.execute(before.deps.db.read);
  const [place] = rows;
  if (!place) throw new Error("there is no such table");
  await before.deps.db.truncateLog();
  await before.stop();
  const file = await open(path.join(folder, "signet.db"), "r+");
  await file.write(Buffer.alloc(place.size, 0xa5), 0, place.size, (place.page - 1) * place.size);
  await file.close();

  const running = await compose({ config: before.config, log: createLog("silent") });
  onTestFinished(() => running.stop(0));
  await expect.poll(() => running.deps.capacity.state().storage).toBe("damaged");
  const headers = { authorization: `Bearer ${before.keys.live}`, "content-type": "application/json" };
  const change = await fetch(`${running.url}/v1/envelopes`, { method: "POST", headers, body: "{}" });
  expect(change.status).toBe(503);
  expect(await change.json()).toMatchObject({ detail: expect.stringContaining("restores the last backup") });
  expect((await fetch(`${running.url}/v1/envelopes`, { headers })).status).toBe(200);
  expect((await fetch(`${running.url}/readyz`)).status).toBe(503);
  expect((await administrator(before).call(getStatus, {})).mode).toBe("damaged");
  const { data } = await administrator(before).call(getChecks, { query: {} });
  expect(data.find(({ id }) => id === "capacity")).toMatchObject({
    state: "wrong",
    action: expect.stringContaining("signet restore"),
  });
});

test("a stored file that is missing is a problem that names the remedy, and is found by the checks", async () => {
  const app = await startAppliance();
  onTestFinished(() => app.stop());
  const { sha256 } = await app.deps.blobs.put(new TextEncoder().encode("a document"));
  await rm(path.join(app.folder, "blobs", sha256.slice(0, 2)), { recursive: true });
  expect(await readdir(path.join(app.folder, "blobs"))).not.toContain(sha256.slice(0, 2));
  const missing = await app.deps.blobs.get(sha256).catch((error: unknown) => error);
  expect(await app.deps.capacity.problemOf(missing)).toMatchObject({
    code: "service-unavailable",
    message: expect.stringContaining("restore it from a backup"),
  });
  const { data } = await administrator(app).call(getChecks, { query: {} });
  expect(data.find(({ id }) => id === "stored-files")).toMatchObject({
    state: "wrong",
    detail: expect.stringContaining(sha256),
  });
});

test("a master key that is lost while it runs is found before the next start stumbles over it", async () => {
  const app = await startAppliance();
  onTestFinished(() => app.stop());
  const found = async () => (await administrator(app).call(getChecks, { query: {} })).data;
  const key = path.join(app.folder, "master.key");
  await rename(key, `${key}.away`);
  expect(await found()).toContainEqual(
    expect.objectContaining({
      code: "master-key.missing",
      state: "wrong",
      action: expect.stringContaining("Put the key back"),
    }),
  );
  await rename(`${key}.away`, key);
  expect((await found()).map(({ code }) => code)).toEqual(
    expect.arrayContaining(["data-folder.ok", "master-key.beside"]),
  );
});

test("a clock that nobody can believe is said by status and by the checks", async () => {
  let wall = Date.now();
  const app = await startAppliance({ machine: { now: () => wall, uptime: () => 1e6, boot: () => "one" } });
  onTestFinished(() => app.stop());
  wall += 10 * 365 * 86_400_000;
  expect((await administrator(app).call(getStatus, {})).mode).toBe("clock-doubted");
  const { data } = await administrator(app).call(getChecks, { query: {} });
  expect(data).toContainEqual(
    expect.objectContaining({
      code: "clock.doubted",
      state: "wrong",
      action: expect.stringContaining("signet clock accept"),
    }),
  );
});
