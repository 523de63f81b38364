import { mkdir, mkdtemp, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadConfig } from "../../../server/config.ts";
import { makeRecipient } from "../../../server/features/backup/recipient.ts";
import { createLog } from "../../../server/kernel/log.ts";
import { openDeps } from "../../../server/open-deps.ts";
import { signet } from "../../harness/cli.ts";

/** A backup in the data folder is lost with it: wherever the name of its folder leads. */

let home: string;
let data: string;
let env: Record<string, string>;
beforeAll(async () => {
  home = await realpath(await mkdtemp(path.join(tmpdir(), "signet-place-")));
  data = path.join(home, "data");
  env = { SIGNET_DATA_DIR: data, SIGNET_BACKUP_RECIPIENT: makeRecipient().recipient };
  const { close } = await openDeps({ config: loadConfig(env), log: createLog("silent"), createKey: true });
  await close();
  await mkdir(path.join(data, "inside"));
  await symlink(path.join(data, "inside"), path.join(home, "link"));
  await symlink(data, path.join(home, "parent"));
  await symlink(path.join(data, "not-yet"), path.join(home, "dangling"));
  await symlink(data, path.join(home, "other-name"));
  await mkdir(path.join(home, "data-of-others"));
  await mkdir(path.join(home, "..share"));
});
afterAll(() => rm(home, { recursive: true, force: true }));

test.each([
  ["the folder itself", "data", /SIGNET_BACKUP_DIR lies in the data folder/],
  ["a folder in it", "data/inside", /SIGNET_BACKUP_DIR lies in the data folder/],
  ["a link into it", "link", /leads to .*data.inside, which lies in the data folder/],
  ["a way through a link", "parent/inside", /leads to .*data.inside, which lies in the data folder/],
  ["a way through a link to what is not there yet", "parent/a/b", /leads to .*data.a.b, which lies/],
  ["a link to what is not there yet", "dangling", /leads to .*data.not-yet, which lies/],
])("%s is no folder for backups, and config check, doctor and backup say so", async (_, name, said) => {
  for (const dataDir of [data, path.join(home, "other-name")]) {
    const own = { ...env, SIGNET_DATA_DIR: dataDir, SIGNET_BACKUP_DIR: path.join(home, name) };
    const checked = await signet(["config", "check"], own);
    expect(checked).toMatchObject({ code: 1, err: expect.stringMatching(said) });
    expect(checked.err).toContain("choose one on another disk");
    if (dataDir !== data) continue;
    expect(await signet(["backup"], own)).toMatchObject({ code: 1, out: expect.stringMatching(said) });
    const { findings } = JSON.parse((await signet(["doctor", "--json"], own)).out);
    expect(findings).toContainEqual(
      expect.objectContaining({ id: "backup", state: "wrong", detail: expect.stringMatching(said) }),
    );
  }
});

test.each(["data-of-others", "..share", "not-mounted"])("%s beside the data folder is one", async (name) => {
  const own = { ...env, SIGNET_BACKUP_DIR: path.join(home, name) };
  expect(await signet(["config", "check"], own)).toMatchObject({ code: 0 });
});
