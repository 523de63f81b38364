import { createHash } from "node:crypto";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { startAppliance as startServer } from "../../../server/compose.ts";
import { loadConfig } from "../../../server/config.ts";
import {
  cancelBackup,
  followBackup,
  getBackupState,
  listBackups,
  startBackup,
  startDrill,
  verifyBackup,
} from "../../../server/features/backup/contract.ts";
import { runVerify } from "../../../server/features/backup/jobs.ts";
import { Manifest } from "../../../server/features/backup/manifest.ts";
import { makeRecipient } from "../../../server/features/backup/recipient.ts";
import { openTarget } from "../../../server/features/backup/target.ts";
import { listOperatorAudit } from "../../../server/features/operators/contract.ts";
import { createLog } from "../../../server/kernel/log.ts";
import { lockStore } from "../../../server/kernel/store-lock.ts";
import { followLocal } from "../../../server/local-client.ts";
import { administrator } from "../../harness/admin.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { sealedEnvelope } from "../../harness/bundles.ts";
import { signet } from "../../harness/cli.ts";
import { linkTokenOf, ok, publishTemplate, send } from "../../harness/scenario.ts";

/** The whole way: signed, sealed and anchored → backed up while more is signed → an empty machine → goes on there. */

const { recipient, secret } = makeRecipient();
let home: string;
let backups: string;
let keyFile: string;
let app: TestAppliance;
let admin: ReturnType<typeof administrator>;
let template: string;
let sealed: string;
beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), "signet-backup-"));
  backups = path.join(home, "share");
  keyFile = path.join(home, "key.txt");
  await writeFile(keyFile, `# kept in the safe\n${secret}\n`);
  await mkdir(backups);
  app = await startAppliance({
    env: { SIGNET_BACKUP_DIR: backups, SIGNET_BACKUP_RECIPIENT: recipient, SIGNET_BACKUP_KEEP: "last=2" },
  });
  admin = administrator(app);
  // The one that is due at the first start.
  await app.jobs.idle();
  template = await publishTemplate(app);
  sealed = await sealedEnvelope(app, { advance: () => undefined }, template);
});
afterAll(async () => {
  await app.stop();
  await rm(home, { recursive: true, force: true });
});

async function backUp(): Promise<string> {
  const { id } = await admin.call(startBackup, {});
  await app.jobs.idle();
  return id;
}

const sha256 = (bytes: ArrayBuffer) => createHash("sha256").update(Buffer.from(bytes)).digest("hex");
const manifestOf = async (id: string) =>
  Manifest.parse(JSON.parse(await readFile(path.join(backups, "backups", id, "manifest.json"), "utf8")));
const restoreArgs = (to: string, ...more: string[]) => [
  ...["restore", "--from", backups, "--to", to, "--key", keyFile, "--json"],
  ...more,
];

test("the first start of an appliance with a folder for backups makes one", async () => {
  const { data } = await admin.call(listBackups, {});
  expect(data).toHaveLength(1);
  expect(data[0]).toMatchObject({ status: "verified", files: 0 });
  expect((await admin.call(getBackupState, {})).last).toMatchObject({ trigger: "schedule", status: "verified" });
});

test("a backup that is made while people sign is brought to an empty machine, where everything goes on", async () => {
  const { id: waiting } = await send(app, template);
  const token = await linkTokenOf(app, "ada@example.com");
  const cookie = await app.signIn();
  const document = `/v1/envelopes/${sealed}/document?version=sealed`;
  const before = sha256(await (await app.call(document)).arrayBuffer());
  const anchors = await (await app.call("/v1/public/anchors")).json();
  const { id } = await admin.call(startBackup, {});
  const steps = new Set<string>();
  const following = (async () => {
    for await (const progress of followLocal(admin.address, followBackup, {})) steps.add(progress.step);
  })();
  // Meanwhile more is signed and sealed; whether it is in the backup or not, what is in it fits together.
  await sealedEnvelope(app, { advance: () => undefined }, template);
  await app.jobs.idle();
  await following;
  expect(steps.size).toBeGreaterThan(0);
  const state = await admin.call(getBackupState, {});
  expect(state).toMatchObject({ running: null, last: { id, status: "verified", cause: null } });
  expect(state.lastVerified).toMatchObject({ id, ageHours: 0 });
  expect(z.object({ sequence: z.int() }).parse((await manifestOf(id)).heads.anchor).sequence).toBeGreaterThan(0);

  const to = path.join(home, "restored");
  const done = await signet(restoreArgs(to));
  expect(done).toMatchObject({ code: 0 });
  expect(JSON.parse(done.out)).toMatchObject({ ok: true, id, problems: [] });
  const env = { SIGNET_DATA_DIR: to, SIGNET_PORT: "0", SIGNET_LOG_LEVEL: "silent", SIGNET_TEST_CHECK_RESPONSES: "1" };
  const second = await startServer({ config: loadConfig(env), log: createLog("silent") });
  try {
    const get = (target: string, headers: Record<string, string>) => fetch(new URL(target, second.url), { headers });
    const bearer = { authorization: `Bearer ${app.keys.live}` };
    expect(sha256(await (await get(document, bearer)).arrayBuffer())).toBe(before);
    const brought = z.object({ data: z.array(z.unknown()) }).parse(await (await get("/v1/public/anchors", {})).json());
    const known = z.object({ data: z.array(z.unknown()) }).parse(anchors);
    expect(brought.data.slice(-known.data.length)).toEqual(known.data);
    const looked = await fetch(new URL("/v1/public/verify", second.url), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ sha256: before }),
    });
    expect(await looked.json()).toMatchObject({ status: "anchored", envelope: { id: sealed } });
    const session = await get("/auth/session", { cookie });
    expect(session.status).toBe(200);
    expect(await session.json()).toMatchObject({ user: { email: app.owner.email } });
    const exchange = await fetch(new URL("/v1/signing/exchange", second.url), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token }),
    });
    expect(exchange.status).toBe(200);
    expect((await get(`/v1/envelopes/${waiting}`, bearer)).status).toBe(200);
    const audit = await administrator({ config: second.deps.config }).call(listOperatorAudit, { query: {} });
    expect(audit.verification.valid).toBe(true);
    expect(audit.data.map(({ action }) => action)).toContain("backup.restored");
    await second.jobs.idle();
  } finally {
    await second.stop(1000);
  }
  expect(await signet(["fsck", "--json"], env)).toMatchObject({ code: 0 });
  // A folder that holds something is no empty machine.
  expect(await signet(restoreArgs(to))).toMatchObject({ code: 1, out: expect.stringContaining("not empty") });
});

test("only what is new is copied; the oldest go by the rules, and with them the files that only they name", async () => {
  const stray = await app.deps.blobs.put(Buffer.from("only in the next backup"));
  const first = await backUp();
  const folder = path.join(backups, "blobs", (await manifestOf(first)).masterKey);
  const place = path.join(folder, stray.sha256.slice(0, 2), stray.sha256.slice(2, 4), stray.sha256);
  expect((await readFile(place)).length).toBeGreaterThan(0);
  await app.deps.blobs.removeUnused(stray.sha256, Number.POSITIVE_INFINITY);
  await backUp();
  await backUp();
  const { data } = await admin.call(listBackups, {});
  expect(data).toHaveLength(2);
  expect(data[0]).toMatchObject({ addedBytes: 0, status: "verified" });
  expect(data.map(({ id }) => id)).not.toContain(first);
  await expect(readFile(place)).rejects.toThrow("ENOENT");
  expect(await readdir(path.join(backups, "backups"))).toEqual(data.map(({ id }) => id).sort());
});

test("a wrong key, a wrong passphrase and no key open nothing", async () => {
  const to = path.join(home, "never");
  const other = path.join(home, "other.txt");
  await writeFile(other, makeRecipient().secret);
  const args = ["restore", "--from", backups, "--to", to];
  expect(await signet([...args, "--key", other])).toMatchObject({
    code: 1,
    err: expect.stringContaining("does not open"),
  });
  expect(await signet([...args, "--passphrase-stdin"], {}, "guess")).toMatchObject({
    code: 1,
    err: expect.stringContaining(recipient),
  });
  expect(await signet(args)).toMatchObject({ code: 2 });
  await writeFile(other, `${secret.slice(0, -1)}${secret.endsWith("A") ? "B" : "A"}`);
  expect(await signet([...args, "--key", other])).toMatchObject({
    code: 1,
    err: expect.stringContaining("not copied whole"),
  });
  await expect(readdir(to)).rejects.toThrow("ENOENT");
});

/** Alters one file of a copy of the share, and says what verify and restore find there. */
async function afterDamage(alter: (folder: string, id: string) => Promise<void>) {
  const original = await mkdtemp(path.join(home, "copy-"));
  await cp(backups, original, { recursive: true });
  const id = (await readdir(path.join(backups, "backups"))).sort().at(-1) ?? "";
  await alter(backups, id);
  try {
    await admin.call(verifyBackup, { params: { id } });
    await app.jobs.idle();
    const { last } = await admin.call(getBackupState, {});
    const restored = await signet(restoreArgs(path.join(home, `from-damaged-${path.basename(original)}`)));
    return { last, restored };
  } finally {
    await rm(backups, { recursive: true });
    await cp(original, backups, { recursive: true });
    await rm(original, { recursive: true });
  }
}

const flip = async (file: string) => {
  const bytes = await readFile(file);
  const at = bytes.length >> 1;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  await writeFile(file, bytes);
};

test.each([
  ["the database", (folder: string, id: string) => flip(path.join(folder, "backups", id, "signet.db.sgx")), "database"],
  [
    "the end of the database",
    (folder: string, id: string) => truncate(path.join(folder, "backups", id, "signet.db.sgx"), 4),
    "database",
  ],
  [
    "the machine",
    (folder: string, id: string) => flip(path.join(folder, "backups", id, "machine.json.sgx")),
    "machine",
  ],
  ["the list", (folder: string, id: string) => flip(path.join(folder, "backups", id, "blobs.list")), "list"],
  [
    "the manifest",
    async (folder: string, id: string) => {
      const file = path.join(folder, "backups", id, "manifest.json");
      const text = await readFile(file, "utf8");
      await writeFile(file, text.replace(/"leaves": \d+/, '"leaves": 9'));
    },
    "manifest",
  ],
  [
    "a document",
    async (folder: string, id: string) => {
      const blobs = path.join(folder, "blobs", (await manifestOf(id)).masterKey);
      const [blob] = (await readFile(path.join(folder, "backups", id, "blobs.list"), "utf8")).split(" ");
      await flip(path.join(blobs, String(blob).slice(0, 2), String(blob).slice(2, 4), String(blob)));
    },
    "blob",
  ],
])("a backup in which %s was damaged is found, and never restored as if it were whole", async (_, alter, part) => {
  const { last, restored } = await afterDamage(alter);
  expect(last).toMatchObject({ status: "damaged", cause: expect.stringContaining(part) });
  expect(restored.code).toBe(1);
});

test("the next backup copies anew what the target's disk has damaged", async () => {
  const id = await backUp();
  const blobs = path.join(backups, "blobs", (await manifestOf(id)).masterKey);
  const [blob = ""] = (await readFile(path.join(backups, "backups", id, "blobs.list"), "utf8")).split(" ");
  const place = path.join(blobs, blob.slice(0, 2), blob.slice(2, 4), blob);
  const whole = await readFile(place);
  await flip(place);
  const next = await backUp();
  expect((await admin.call(getBackupState, {})).last).toMatchObject({ id: next, status: "verified" });
  expect((await readFile(place)).equals(whole)).toBe(true);
});

test("a drill restores into a scratch, walks everything there, is recorded and leaves nothing", async () => {
  await admin.call(startDrill, { body: {} });
  await app.jobs.idle();
  const { lastDrill } = await admin.call(getBackupState, {});
  expect(lastDrill).toMatchObject({ status: "passed", cause: null, openedBy: "appliance", checked: { envelopes: 3 } });
  expect(await readdir(path.join(app.folder, "run"))).not.toContain("drill");
  const audit = await admin.call(listOperatorAudit, { query: {} });
  expect(audit.data.map(({ action }) => action)).toContain("drill.passed");
  const env = { SIGNET_DATA_DIR: app.folder, SIGNET_BACKUP_DIR: backups, SIGNET_BACKUP_RECIPIENT: recipient };
  const byHand = await signet(["drill", "--key", keyFile, "--json"], env);
  expect(JSON.parse(byHand.out)).toMatchObject({ ok: true, openedBy: "key", keptKeyTried: true });
  expect((await admin.call(getBackupState, {})).lastDrill).toMatchObject({ status: "passed", openedBy: "key" });
});

test("one at a time; what waits for the collection of files can be cancelled, and is recorded so", async () => {
  const release = await lockStore(app.folder);
  const { id } = await admin.call(startBackup, {});
  await expect(admin.call(startBackup, {})).rejects.toThrow(/runs already/);
  await expect.poll(async () => (await admin.call(getBackupState, {})).running?.step).toBe("waiting");
  await admin.call(cancelBackup, {});
  await release?.();
  await app.jobs.idle();
  expect((await admin.call(getBackupState, {})).last).toMatchObject({ id, status: "cancelled" });
  await expect(admin.call(cancelBackup, {})).rejects.toThrow(/No backup/);
  expect((await admin.call(listBackups, {})).data.map((one) => one.id)).not.toContain(id);
});

test("a check that waits for its turn ends at once when it is cancelled, and never runs", async () => {
  const { last } = await admin.call(getBackupState, {});
  const [newest] = (await admin.call(listBackups, {})).data;
  const busy = await openTarget(backups).lock("exclusive");
  try {
    await admin.call(verifyBackup, { params: { id: newest?.id ?? "" } });
    const jobs = () => app.deps.db.read.selectFrom("jobs").selectAll().where("name", "=", runVerify.name).execute();
    await expect
      .poll(async () => (await jobs()).map(({ last_error }) => last_error))
      .toEqual([expect.stringContaining("another process works")]);
    await expect
      .poll(async () => (await admin.call(getBackupState, {})).running)
      .toMatchObject({ kind: "verify", step: "waiting" });
    expect((await admin.call(cancelBackup, {})).running).toBeNull();
    expect(await jobs()).toEqual([]);
  } finally {
    await busy();
  }
  app.jobs.wake();
  await app.jobs.idle();
  const audit = await admin.call(listOperatorAudit, { query: {} });
  expect(audit.data[0]).toMatchObject({ action: "verify.cancelled", target: newest?.id });
  expect((await admin.call(getBackupState, {})).last).toEqual(last);
});

test("an empty folder where backups were is a share that is not mounted", async () => {
  await cp(backups, `${backups}-away`, { recursive: true });
  for (const name of await readdir(backups)) await rm(path.join(backups, name), { recursive: true });
  const id = await backUp();
  expect((await admin.call(getBackupState, {})).last).toMatchObject({
    id,
    status: "failed",
    cause: expect.stringContaining("mount its share"),
  });
  await rm(backups, { recursive: true });
  await cp(`${backups}-away`, backups, { recursive: true });
  await ok(app, 200, "/v1/envelopes");
});
