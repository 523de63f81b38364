import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { loadConfig } from "../../../server/config.ts";
import { parseMachine } from "../../../server/features/backup/machine.ts";
import { Manifest, manifestFile, signManifest, textOfManifest } from "../../../server/features/backup/manifest.ts";
import { machineOf, openAsAppliance } from "../../../server/features/backup/opened.ts";
import { makeRecipient, wrapBackupKey } from "../../../server/features/backup/recipient.ts";
import { fileKey, sealFile } from "../../../server/features/backup/sealed-file.ts";
import { runStep } from "../../../server/features/backup/steps.ts";
import { openTarget } from "../../../server/features/backup/target.ts";
import { callTarget } from "../../../server/features/backup/target-folder.ts";
import { createLog } from "../../../server/kernel/log.ts";
import { openSecrets } from "../../../server/kernel/secrets.ts";
import { openDeps } from "../../../server/open-deps.ts";
import { signet } from "../../harness/cli.ts";

/** Whoever may write to the share: they change, link, cut off and forge, and neither a restore nor the next backup falls for it. */

const { recipient, secret } = makeRecipient();
let home: string;
let share: string;
let data: string;
let keyFile: string;
let env: Record<string, string>;
let id: string;
beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), "signet-hostile-"));
  [share, data, keyFile] = [path.join(home, "share"), path.join(home, "data"), path.join(home, "key")];
  await mkdir(share);
  await writeFile(keyFile, secret);
  env = {
    SIGNET_DATA_DIR: data,
    SIGNET_LOG_LEVEL: "silent",
    SIGNET_BACKUP_DIR: share,
    SIGNET_BACKUP_RECIPIENT: recipient,
    SIGNET_BACKUP_KEEP: "last=1",
  };
  await put("one", "two");
  id = await backUp();
});
afterAll(() => rm(home, { recursive: true, force: true }));

async function put(...texts: string[]): Promise<string[]> {
  const { deps, close } = await openDeps({ config: loadConfig(env), log: createLog("silent"), createKey: true });
  const all = [];
  for (const text of texts) all.push((await deps.blobs.put(Buffer.from(text))).sha256);
  await close();
  return all;
}

async function backUp(): Promise<string> {
  const made = await signet(["backup", "--json"], env);
  expect(made, made.err).toMatchObject({ code: 0 });
  return String(JSON.parse(made.out).id);
}

/** A copy of the share that somebody may spoil. */
async function copyOfShare(): Promise<string> {
  const copy = await mkdtemp(path.join(home, "copy-"));
  onTestFinished(() => rm(copy, { recursive: true, force: true }));
  await cp(share, copy, { recursive: true });
  return copy;
}

const manifestIn = async (from: string) =>
  Manifest.parse(JSON.parse(await readFile(path.join(from, "backups", id, "manifest.json"), "utf8")));
const restore = async (from: string, ...more: string[]) => {
  const to = await mkdtemp(path.join(home, "to-"));
  return { to, ended: await signet(["restore", "--from", from, "--to", to, "--key", keyFile, ...more], {}) };
};
const placeOf = async (from: string, sha256: string) =>
  path.join(from, "blobs", (await manifestIn(from)).masterKey, sha256.slice(0, 2), sha256.slice(2, 4), sha256);
const shaOf = (text: string) => createHash("sha256").update(text).digest("hex");

test.each([
  "../evil",
  "tls/../../evil",
  "/etc/evil",
  "tls\\..\\..\\evil",
  "tls/..\\evil",
  "tls//evil",
  "tls/./evil",
  "other/evil",
  "tls/C:evil",
  "",
])("a machine's file named %j is refused", (name) => {
  const machine = { v: 1, masterKey: "", files: [{ name, content: "" }], environment: {} };
  expect(() => parseMachine(JSON.stringify(machine))).toThrow(/none of Signet's/);
});

test("a backup that somebody else encrypted to the public key is told by its appliance's fingerprint", async () => {
  const from = await copyOfShare();
  const own = await signet(["backup", "status", "--json"], env);
  const appliance = String(JSON.parse(own.out).appliance);
  expect(appliance).toBe((await manifestIn(from)).masterKey);

  // Everything that the forger needs is public: the recipient stands in the manifest.
  const elsewhere = {
    ...env,
    SIGNET_DATA_DIR: path.join(home, "forger"),
    SIGNET_BACKUP_DIR: path.join(home, "forged"),
  };
  await mkdir(elsewhere.SIGNET_BACKUP_DIR);
  const { close } = await openDeps({ config: loadConfig(elsewhere), log: createLog("silent"), createKey: true });
  await close();
  expect(await signet(["backup"], elsewhere)).toMatchObject({ code: 0 });
  const refused = await restore(elsewhere.SIGNET_BACKUP_DIR, "--appliance", appliance);
  expect(refused.ended).toMatchObject({ code: 1, err: expect.stringContaining(`not of ${appliance}`) });
  expect(await readdir(refused.to)).toEqual([]);

  // Under the right fingerprint it needs the right master key.
  const manifest = await openTarget(elsewhere.SIGNET_BACKUP_DIR).read();
  const forger = loadConfig(elsewhere);
  const key = Buffer.from((await readFile(forger.masterKeyFile, "utf8")).trim(), "base64");
  const { mac: _, ...body } = manifest;
  const folder = openTarget(elsewhere.SIGNET_BACKUP_DIR).folderOf(manifest.id);
  const forgery = signManifest({ ...body, masterKey: appliance }, openSecrets(key));
  await writeFile(path.join(folder, manifestFile), textOfManifest(forgery));
  const renamed = await restore(elsewhere.SIGNET_BACKUP_DIR, "--appliance", appliance);
  expect(renamed.ended).toMatchObject({ code: 1, err: expect.stringContaining("another master key than it says") });

  expect((await restore(from, "--appliance", appliance)).ended).toMatchObject({ code: 0 });
});

test("a manifest is believed in nothing: another key, other parts, another id, weaker parameters, no end", async () => {
  const from = await copyOfShare();
  const file = path.join(from, "backups", id, "manifest.json");
  const manifest = await manifestIn(from);
  const forged = await randomKeyFor(manifest);
  const weak = { kind: "passphrase", salt: "AAAA", log2N: 10, nonce: "AAAA", wrapped: "AAAA" };
  const changes: [Record<string, unknown>, RegExp][] = [
    [{ ...manifest, keys: { ...manifest.keys, recipient: forged } }, /cannot be read/],
    [{ ...manifest, blobs: { count: 1, bytes: 1 } }, /was changed/],
    [{ ...manifest, heads: { ...manifest.heads, leaves: 7 } }, /was changed/],
    [{ ...manifest, version: "9.9.9" }, /was changed/],
    [{ ...manifest, id: "20200101-000000000-000000" }, /another backup/],
    [{ ...manifest, masterKey: "../../../../etc" }, /damaged/],
    [{ ...manifest, keys: { ...manifest.keys, recipient: weak } }, /damaged/],
    [{ ...manifest, keys: { ...manifest.keys, recipient: { ...weak, log2N: 30 } } }, /damaged/],
    [{ ...manifest, v: 2 }, /damaged/],
    [{ ...manifest, junk: "x".repeat(1 << 20) }, /no manifest that can be read/],
  ];
  for (const [changed, said] of changes) {
    await writeFile(file, JSON.stringify(changed));
    const { ended, to } = await restore(from);
    expect(ended, JSON.stringify(changed).slice(0, 200)).toMatchObject({ code: 1, err: expect.stringMatching(said) });
    expect(await readdir(to)).toEqual([]);
  }
});

/** The forger's own key, wrapped rightly for the recipient. */
function randomKeyFor(manifest: Manifest) {
  return wrapBackupKey(Buffer.alloc(32, 7), { kind: "x25519", text: recipient }, manifest.id);
}

test("parts of one backup do not fit into another", async () => {
  await put("three");
  const from = await copyOfShare();
  const before = path.join(from, "backups", id);
  const kept = await mkdtemp(path.join(home, "kept-"));
  await cp(before, kept, { recursive: true });
  const next = await signet(["backup", "--json"], { ...env, SIGNET_BACKUP_DIR: from, SIGNET_BACKUP_KEEP: "last=9" });
  const later = path.join(from, "backups", String(JSON.parse(next.out).id));
  for (const name of ["signet.db.sgx", "machine.json.sgx", "blobs.list"]) {
    const own = await readFile(path.join(later, name));
    await cp(path.join(kept, name), path.join(later, name));
    expect((await restore(from)).ended, name).toMatchObject({ code: 1 });
    await writeFile(path.join(later, name), own);
  }
  expect((await restore(from)).ended).toMatchObject({ code: 0 });
});

test("one bit in any kind of file, its end, and a file in the place of another keep a restore from ending", async () => {
  const from = await copyOfShare();
  const blobs = [await placeOf(from, shaOf("one")), await placeOf(from, shaOf("two"))];
  const parts = ["signet.db.sgx", "machine.json.sgx", "blobs.list", "manifest.json"];
  const files = [...parts.map((name) => path.join(from, "backups", id, name)), blobs[0] ?? ""];
  for (const file of files) {
    const whole = await readFile(file);
    for (const at of [5, whole.length >> 1]) {
      const spoilt = Buffer.from(whole);
      spoilt[at] = (spoilt[at] ?? 0) ^ 1;
      await writeFile(file, spoilt);
      const { ended, to } = await restore(from);
      // White space of the manifest is no part of what it says.
      if (!(file.endsWith(".json") && ended.code === 0)) expect(ended.code, `${file} at ${at}`).toBe(1);
      expect(ended.code === 0 || !(await readdir(to)).includes("master.key"), `${file} at ${at}`).toBe(true);
    }
    await writeFile(file, whole);
    await truncate(file, whole.length - 1);
    if (!file.endsWith("manifest.json")) expect((await restore(from)).ended.code, `${file} cut`).toBe(1);
    await writeFile(file, whole);
  }
  await cp(blobs[0] ?? "", blobs[1] ?? "");
  expect((await restore(from)).ended).toMatchObject({
    code: 1,
    err: expect.stringMatching(/cannot be used.*--leave-damaged/),
  });
  // Of the only backup that is left everything else comes back, and what is lost has a name.
  const { ended, to } = await restore(from, "--leave-damaged");
  expect(ended).toMatchObject({ code: 1, out: expect.stringContaining(`${shaOf("two")} was left out`) });
  const brought = await readdir(to, { recursive: true });
  expect(brought.map((name) => path.basename(name))).toEqual(expect.arrayContaining(["master.key", shaOf("one")]));
  expect(brought.some((name) => name.endsWith(shaOf("two")))).toBe(false);
});

test("links and pipes in the share lead neither a restore nor a backup anywhere", async () => {
  const outside = path.join(home, "outside");
  await cp(path.join(data, "blobs"), outside, { recursive: true });
  const count = async () => (await readdir(outside, { recursive: true })).length;
  const before = await count();

  // The share's store is a link to the documents of this machine, and what no backup names would be removed there.
  const linked = await copyOfShare();
  const store = path.join(linked, "blobs", (await manifestIn(linked)).masterKey);
  await rename(store, `${store}-away`);
  await symlink(outside, store);
  const made = await signet(["backup"], { ...env, SIGNET_BACKUP_DIR: linked });
  expect(made).toMatchObject({ code: 1, out: expect.stringContaining("is a link") });
  expect(await count()).toBe(before);
  expect((await restore(linked)).ended).toMatchObject({ code: 1, err: expect.stringContaining("is a link") });

  for (const name of ["backups", "blobs"]) {
    const from = await copyOfShare();
    await rename(path.join(from, name), path.join(from, `${name}-away`));
    await symlink(path.join(from, `${name}-away`), path.join(from, name));
    const ended = await signet(["backup"], { ...env, SIGNET_BACKUP_DIR: from });
    expect(ended, name).toMatchObject({ code: 1, out: expect.stringContaining("is a link") });
  }

  const piped = await copyOfShare();
  const blob = await placeOf(piped, shaOf("one"));
  await rm(blob);
  spawnSync("mkfifo", [blob]);
  expect((await restore(piped)).ended).toMatchObject({
    code: 1,
    err: expect.stringContaining("is a link or something"),
  });
  await rm(blob);
  await symlink("/dev/zero", blob);
  expect((await restore(piped)).ended).toMatchObject({
    code: 1,
    err: expect.stringContaining("is a link or something"),
  });
  const manifest = path.join(piped, "backups", id, "manifest.json");
  await rm(manifest);
  spawnSync("mkfifo", [manifest]);
  expect((await restore(piped)).ended).toMatchObject({ code: 1, err: expect.stringContaining("no manifest") });
});

test("links that are laid into what a backup has begun are not written through", async () => {
  const from = await copyOfShare();
  const own = path.join(home, "own.db");
  await writeFile(own, "own");
  const begun = "20260101-000000000-000000";
  const partial = path.join(from, "backups", `.${begun}.partial`);
  for (const name of ["manifest.json", "manifest.json.tmp"]) {
    await callTarget(from, { call: "begin", id: begun });
    await symlink(own, path.join(partial, name));
    await callTarget(from, { call: "manifest", id: begun, text: "{}" }).catch(() => undefined);
    expect(await readFile(own, "utf8"), name).toBe("own");
  }
  const list = path.join(partial, "blobs.list");
  await symlink(own, list);
  const to = path.join(from, "blobs", "new");
  const copy = { step: "copy" as const, from: path.join(data, "blobs"), to, list };
  expect(() => runStep(copy, () => undefined)).toThrow("EEXIST");
  expect(await readFile(own, "utf8")).toBe("own");
});

test("a journal that is laid beside the lock makes SQLite delete no file of this machine", async () => {
  const from = await copyOfShare();
  const own = path.join(home, "own.key");
  await writeFile(own, "own");
  const lock = path.join(from, "lock.db");
  await rm(lock, { force: true });
  const table = new DatabaseSync(lock);
  table.exec("CREATE TABLE t (a)");
  table.close();
  await writeFile(`${lock}-journal`, journalNaming(own, (await stat(lock)).size / 4096));
  const ended = await signet(["backup"], { ...env, SIGNET_BACKUP_DIR: from });
  expect(await readFile(own, "utf8")).toBe("own");
  expect(ended).toMatchObject({ code: 1, out: expect.stringContaining("lock.db-journal is none of Signet's") });

  // Of a lock that holds nothing SQLite removes what a death left.
  await truncate(lock);
  expect(await signet(["backup"], { ...env, SIGNET_BACKUP_DIR: from })).toMatchObject({ code: 0 });
  expect(await readFile(own, "utf8")).toBe("own");
});

/** A journal without pages that is said to be one of many (https://www.sqlite.org/fileformat2.html#the_rollback_journal). */
function journalNaming(other: string, pages: number): Buffer {
  const magic = Buffer.from("d9d505f920a163d7", "hex");
  const name = Buffer.from(other);
  const words = (...numbers: number[]) => {
    const all = Buffer.alloc(4 * numbers.length);
    for (const [index, number] of numbers.entries()) all.writeUInt32BE(number, 4 * index);
    return all;
  };
  const head = Buffer.concat([magic, words(0, 1, pages, 512, 4096), Buffer.alloc(512 - 28)]);
  const sum = name.reduce((all, byte) => all + byte, 0);
  return Buffer.concat([head, words(2 ** 30 / 4096 + 1), name, words(name.length, sum), magic]);
}

test("a list that is changed between two looks at it is not the one that counts", async () => {
  const from = await copyOfShare();
  const manifest = await manifestIn(from);
  const file = path.join(from, "backups", id, "blobs.list");
  const folder = openTarget(from).blobsOf(manifest.masterKey);
  const list = { file, sha256: manifest.files["blobs.list"].sha256 };
  const before = await readdir(folder, { recursive: true });
  expect(() => runStep({ step: "prune", folder, lists: [list] }, () => undefined)).not.toThrow();
  await writeFile(file, "");
  expect(() => runStep({ step: "prune", folder, lists: [list] }, () => undefined)).toThrow(/was changed/);
  await rm(file);
  spawnSync("mkfifo", [file]);
  expect(() => runStep({ step: "prune", folder, lists: [list] }, () => undefined)).toThrow(/is a link or something/);
  expect(await readdir(folder, { recursive: true })).toEqual(before);
});

test("a forged part that the recipient can open is not that of the manifest", async () => {
  const from = await copyOfShare();
  const manifest = await manifestIn(from);
  const { deps, close } = await openDeps({ config: loadConfig(env), log: createLog("silent") });
  const target = openTarget(from);
  const { backupKey } = openAsAppliance(manifest, deps.secrets);
  const machine = await machineOf(target, manifest, backupKey);
  await close();
  // Whoever once had this backup's key: the machine's part says something else, the rest stays.
  const plain = path.join(home, "forged.json");
  const files = [{ name: "signet.json", content: Buffer.from("{}").toString("base64") }];
  await writeFile(plain, JSON.stringify({ ...machine, files }));
  const part = path.join(from, "backups", id, "machine.json.sgx");
  await rm(part);
  sealFile(plain, part, fileKey(backupKey, id, "machine.json.sgx"), () => undefined);
  expect((await restore(from)).ended).toMatchObject({ code: 1, err: expect.stringContaining("another file than") });
});

test("what is restored belongs to its owner alone, whatever the mask; a folder that holds something is refused", async () => {
  const mask = process.umask(0);
  onTestFinished(() => void process.umask(mask));
  const { to, ended } = await restore(share);
  expect(ended).toMatchObject({ code: 0 });
  for (const name of ["", ...(await readdir(to, { recursive: true }))]) {
    const { mode } = await stat(path.join(to, name));
    expect(mode & 0o077, `${name} ${mode.toString(8)}`).toBe(0);
  }
  expect(await signet(["restore", "--from", share, "--to", to, "--key", keyFile])).toMatchObject({
    code: 1,
    err: expect.stringContaining("not empty"),
  });
  expect(ended.out + ended.err).not.toContain(secret);
  expect(ended.out + ended.err).not.toContain((await readFile(path.join(to, "master.key"), "utf8")).trim());
});
