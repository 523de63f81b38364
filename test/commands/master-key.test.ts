import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runCli } from "../../server/cli.ts";
import { startAppliance } from "../../server/compose.ts";
import { loadConfig } from "../../server/config.ts";
import { createLog } from "../../server/kernel/log.ts";
import { createMasterKey } from "../../server/kernel/secrets.ts";
import { openDeps } from "../../server/open-deps.ts";

const log = createLog("silent");

async function emptyFolder() {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-key-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const env = { SIGNET_DATA_DIR: folder, SIGNET_PORT: "0", SIGNET_LOG_LEVEL: "silent" };
  return { folder, env, config: loadConfig(env), keyFile: path.join(folder, "master.key") };
}

async function signet(env: NodeJS.ProcessEnv, ...args: string[]): Promise<{ code: number; err: string }> {
  let err = "";
  const code = await runCli(args, env, {
    stdout: () => undefined,
    stderr: (text) => {
      err += text;
    },
    stdin: (async function* () {})(),
    interactive: false,
    onSignal: () => undefined,
  });
  return { code, err };
}

const init = ["init", "--organization", "Example Ltd", "--email", "owner@example.com"];

test("init makes the key of an empty folder, and no other command does", async () => {
  const { folder, env } = await emptyFolder();
  const early = await signet(env, "outbox");
  expect(early).toMatchObject({ code: 1, err: expect.stringContaining("no master key yet") });
  expect(await readdir(folder)).toEqual([]);
  expect(await signet(env, ...init)).toEqual({ code: 0, err: "" });
  expect(await signet(env, "outbox")).toEqual({ code: 0, err: "" });
  // Commands leave no folder of drafts behind.
  expect(await readdir(path.join(folder, "blobs", "tmp"))).toEqual([]);
});

test("a missing key is never replaced while there is data, not even when only documents are left", async () => {
  const { folder, env, config, keyFile } = await emptyFolder();
  await signet(env, ...init);
  await rm(keyFile);
  for (const gone of [[], ["signet.db", "signet.db-wal", "signet.db-shm"]]) {
    for (const name of gone) await rm(path.join(folder, name), { force: true });
    await expect(startAppliance({ config, log })).rejects.toThrow(/master\.key is missing, but .* holds data/);
    const again = await signet(env, ...init);
    expect(again.code).toBe(1);
    expect(again.err.trim().split("\n")).toHaveLength(1);
    expect(await readdir(folder)).not.toContain("master.key");
  }
});

test("a key that the data was not written under is refused, and the right one is taken again", async () => {
  const { folder, env, config, keyFile } = await emptyFolder();
  await signet(env, ...init);
  await cp(keyFile, path.join(folder, "right.key"));
  await rm(keyFile);
  await createMasterKey(keyFile);
  await expect(startAppliance({ config, log })).rejects.toThrow("is not the one that this data was written under");
  const refused = await signet(env, "fsck");
  expect(refused.code).toBe(1);
  expect(refused.err.trim().split("\n")).toHaveLength(1);
  await cp(path.join(folder, "right.key"), keyFile);
  await (await openDeps({ config, log })).close();
});
