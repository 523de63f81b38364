import "../harness/root-only.ts";
import { spawn } from "node:child_process";
import { chmod, chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { loadConfig } from "../../server/config.ts";
import { machineChecks } from "../../server/features/appliance/machine-checks.ts";
import { getStatus } from "../../server/features/appliance/status-contract.ts";
import { getChecks } from "../../server/features/health/contract.ts";
import { administrator } from "../harness/admin.ts";
import { anotherUser } from "../harness/another-user.ts";
import { startAppliance } from "../harness/appliance.ts";

/** Data of one user under the service of another, as after a restore that root made. */

const main = path.resolve(import.meta.dirname, "../../server/main.ts");

test("files of another owner: the start says what to do and ends with 1, the checks name the owner", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-owner-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const before = await startAppliance({ folder });
  await before.stop();
  await chmod(folder, 0o755);
  await chown(folder, anotherUser, anotherUser);
  const env = { SIGNET_DATA_DIR: folder, SIGNET_PORT: "0", SIGNET_LOG_LEVEL: "silent", SIGNET_DISK_RESERVE_MB: "0" };
  const child = spawn(process.execPath, [main, "serve"], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ["ignore", "ignore", "pipe"],
    uid: anotherUser,
    gid: anotherUser,
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  expect({ code, said }).toEqual({
    code: 1,
    said: expect.stringMatching(/^.*user 65534 may not use .*: chown -R USER.*\n$/),
  });
  expect(JSON.stringify(await machineChecks(loadConfig(env)))).toMatch(/belongs to user 0/);
});

test("an owner that changes while it runs is found before the next start stumbles over it", async () => {
  const app = await startAppliance();
  onTestFinished(() => app.stop());
  const found = async () => (await administrator(app).call(getChecks, { query: {} })).data;
  // Its files are all there by now: SQLite gives what it makes later to the owner of the database.
  expect((await found()).map(({ code }) => code)).toContain("data-folder.ok");
  const database = path.join(app.folder, "signet.db");
  await chown(database, anotherUser, anotherUser);
  expect(await found()).toContainEqual(
    expect.objectContaining({
      code: "data-folder.foreign",
      state: "wrong",
      action: expect.stringContaining("chown -R"),
    }),
  );
  expect((await administrator(app).call(getStatus, {})).checks?.wrong).toBeGreaterThan(0);
  await chown(database, 0, 0);
  expect((await found()).map(({ code }) => code)).toContain("data-folder.ok");
});
