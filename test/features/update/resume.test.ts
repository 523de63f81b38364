import { mkdir, mkdtemp, readlink, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { resumeUpdate } from "../../../server/features/update/apply.ts";
import { makeUpdateFolder, releaseFolder, switchTo } from "../../../server/features/update/installation.ts";
import { type Journal, readJournal, writeJournal } from "../../../server/features/update/journal.ts";
import { lockUpdates } from "../../../server/features/update/lock.ts";
import { installed, oldVersion, siteOf } from "../../harness/releases.ts";

const at = "2026-01-01T00:00:00.000Z";

/** An installation whose update was cut off after the program was exchanged. */
async function cutOff() {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-resume-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const [root, dataDir, other] = ["opt", "data", "other"].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const version of [oldVersion, "1.1.0"]) await mkdir(releaseFolder(root, version), { recursive: true });
  for (const data of [dataDir, other]) {
    await mkdir(data);
    await writeFile(path.join(data, "signet.db"), "");
  }
  await switchTo(root, "1.1.0");
  await makeUpdateFolder(root);
  const journal: Journal = {
    v: 1,
    id: "upd_0123456789abcdef",
    kind: "update",
    phase: "restarting",
    startedAt: at,
    at,
    operator: "ada",
    file: "/tmp/update.tar.gz",
    manifestSha256: "0".repeat(64),
    from: installed,
    to: { ...installed, version: "1.1.0" },
    dataDir,
    backup: null,
    snapshot: { sha256: "0".repeat(64), size: 1 },
    restore: null,
    loss: null,
    outcome: null,
    cause: null,
  };
  await writeJournal(root, journal);
  const asked: string[] = [];
  const siteOn = async (data: string) => ({
    ...(await siteOf({ root, dataDir: data, env: {} })),
    run: async (_: unknown, args: readonly string[]) => {
      asked.push(args.slice(0, 3).join(" "));
      throw new Error("this far");
    },
  });
  return { folder, root, dataDir, other, journal, asked, siteOn };
}

test("what was cut off is not resumed on another data folder: only the program would come back", async () => {
  const { root, dataDir, other, journal, asked, siteOn } = await cutOff();
  for (const beforeStart of [false, true])
    await expect(resumeUpdate(await siteOn(other), beforeStart)).rejects.toThrow(`SIGNET_DATA_DIR=${dataDir}`);
  expect(await readlink(path.join(root, "current"))).toBe(path.join("releases", "1.1.0"));
  expect(await readJournal(root)).toEqual(journal);
  expect(asked).toEqual([]);
});

test("it is resumed on the same folder by another name, and on the one to which it was moved", async () => {
  const { folder, dataDir, other, asked, siteOn } = await cutOff();
  const alias = path.join(folder, "alias");
  await symlink(dataDir, alias);
  await expect(resumeUpdate(await siteOn(alias), true)).rejects.toThrow("this far");
  await rm(other, { recursive: true });
  await rename(dataDir, other);
  await expect(resumeUpdate(await siteOn(other), true)).rejects.toThrow("this far");
  expect(asked).toEqual(["update inner close", "update inner close"]);
});

test("while the volume of the data is not mounted nothing is taken back, and it goes on once it is", async () => {
  const { root, dataDir, journal, asked, siteOn } = await cutOff();
  await rm(path.join(dataDir, "signet.db"));
  for (const beforeStart of [false, true])
    await expect(resumeUpdate(await siteOn(dataDir), beforeStart)).rejects.toThrow(`no database in ${dataDir}`);
  expect(await readlink(path.join(root, "current"))).toBe(path.join("releases", "1.1.0"));
  expect(await readJournal(root)).toEqual(journal);
  expect(asked).toEqual([]);

  // The one that is put back is not there for a moment.
  await writeFile(path.join(dataDir, "maintenance.json"), "");
  await expect(resumeUpdate(await siteOn(dataDir), true)).rejects.toThrow("this far");
});

test("while another process goes on with it, a person is told so, and a start is not kept waiting", async () => {
  const { root, dataDir, asked, siteOn } = await cutOff();
  const unlock = await lockUpdates(root, dataDir);
  await expect(resumeUpdate(await siteOn(dataDir), false)).rejects.toThrow("Another update is under way.");
  expect(await resumeUpdate(await siteOn(dataDir), true)).toBeNull();
  await unlock?.();
  expect(asked).toEqual([]);
});
