import { type SpawnSyncReturns, spawn, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runCli } from "../../server/cli.ts";
import { createClient } from "../../server/commands/demo/client.ts";
import {
  linkFor,
  people,
  publishTemplate,
  sendEnvelope,
  signAs,
  waitForSeal,
} from "../../server/commands/demo/main-job.ts";
import { startAppliance as compose } from "../../server/compose.ts";
import { fsck } from "../../server/features/evidence/fsck/fsck.ts";
import { listMail } from "../../server/features/mail/service.ts";
import { createLog } from "../../server/kernel/log.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";

const main = path.resolve(import.meta.dirname, "../../server/main.ts");
const sample = path.resolve(import.meta.dirname, "../fixtures/pdf/lecture.pdf");

function must(command: string, ...args: string[]): SpawnSyncReturns<string> {
  const done = spawnSync(command, args, { encoding: "utf8" });
  if (done.status !== 0) throw new Error(`this test needs ${command} ${args.join(" ")}: ${done.stderr}`);
  return done;
}

/** A real volume of its own in a file, with a data folder on it. */
async function volume() {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-read-only-"));
  const [image, mount] = [path.join(folder, "image"), path.join(folder, "mount")];
  const attach = () => must("mount", "-o", "loop,errors=remount-ro", image, mount);
  onTestFinished(async () => {
    spawnSync("umount", ["-l", mount]);
    await rm(folder, { recursive: true, force: true });
  });
  await mkdir(mount);
  must("truncate", "-s", "128M", image);
  must("mkfs.ext4", "-q", "-F", image);
  attach();
  const data = path.join(mount, "data");
  await mkdir(data);
  return {
    data,
    remount: (options: string) => must("mount", "-o", `remount,${options}`, mount),
    /** What an administrator does when a disk failed: detach, check, attach. */
    repair() {
      must("umount", mount);
      // 1: it found something and put it right.
      expect(spawnSync("e2fsck", ["-f", "-y", image]).status).toBeLessThanOrEqual(1);
      attach();
    },
  };
}

const envOf = (folder: string) => ({
  SIGNET_DATA_DIR: folder,
  SIGNET_PORT: "0",
  SIGNET_LOG_LEVEL: "silent",
  SIGNET_DISK_RESERVE_MB: "0",
});

async function signet(folder: string, ...args: string[]): Promise<{ code: number; out: string }> {
  let out = "";
  const code = await runCli(args, envOf(folder), {
    stdout: (text) => {
      out += text;
    },
    stderr: () => undefined,
    stdin: (async function* () {})(),
    interactive: false,
    onSignal: () => undefined,
  });
  return { code, out };
}

test("a start on a volume that is mounted read-only says so and ends; status and doctor say it too", async () => {
  const { data, remount } = await volume();
  expect((await signet(data, "init", "--organization", "Example Ltd", "--email", "owner@example.com")).code).toBe(0);
  remount("ro");
  const child = spawn(process.execPath, [main, "serve"], {
    env: { PATH: process.env.PATH ?? "", ...envOf(data) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  expect(await new Promise((resolve) => child.once("close", resolve))).toBe(1);
  expect(said).toMatch(/is on a volume that is mounted read-only: look in the system's log/);
  expect(said.trim().split("\n")).toHaveLength(1);
  expect(await signet(data, "status")).toMatchObject({
    code: 1,
    out: expect.stringMatching(/not running.*WRONG data-folder: .*mounted read-only/s),
  });
  const looked = await signet(data, "doctor", "--json");
  expect(looked.code).toBe(1);
  expect(JSON.parse(looked.out).findings).toContainEqual(
    expect.objectContaining({
      code: "data-folder.read-only",
      state: "wrong",
      action: expect.stringContaining("mounted read-only"),
    }),
  );
  remount("rw");
  expect((await signet(data, "doctor", "--json")).out).not.toContain("data-folder.read-only");
});

/** Everything that a signature, a seal or an anchor would have changed. */
async function held({ deps }: TestAppliance): Promise<string> {
  const { read } = deps.db;
  const rows = await Promise.all([
    read.selectFrom("audit_entries").select("hash").orderBy("hash").execute(),
    read.selectFrom("signing_submissions").select("recipient").orderBy("recipient").execute(),
    read.selectFrom("leaves").select("leaf_hash").orderBy("leaf_index").execute(),
    read.selectFrom("anchors").select("anchor_hash").orderBy("sequence").execute(),
    read.selectFrom("mails").select("id").orderBy("id").execute(),
  ]);
  return JSON.stringify(rows);
}

test("a disk that turns read-only while Signet runs: nothing is signed or begun, everybody is told, and a start on the repaired one goes on", async () => {
  const { data, remount, repair } = await volume();
  const app = await startAppliance({ folder: data });
  const client = createClient(app.url, app.keys.live);
  const mailbox = () => listMail(app.deps.db.read, app.deps, {});
  const { template } = await publishTemplate(client, await readFile(sample), "none");
  const { id } = await sendEnvelope(client, template.id);
  const [anna, carl] = people;
  await signAs(app.url, anna, await linkFor(mailbox, anna.email), mailbox);
  const carlsLink = await linkFor(mailbox, carl.email);
  await app.jobs.idle();
  const before = await held(app);

  // As after an error of the disk under errors=remount-ro, files that are open included.
  remount("abort");
  expect((await app.deps.capacity.look()).storage).toBe("read-only");
  await expect(signAs(app.url, carl, carlsLink, mailbox)).rejects.toThrow(/cannot write its data folder/);
  await expect(sendEnvelope(client, template.id)).rejects.toMatchObject({ status: 503 });
  expect(await app.json(`/v1/envelopes/${id}`)).toMatchObject({ status: 200, body: { sealedSha256: null } });
  expect((await app.call("/readyz", { key: null })).status).toBe(503);
  expect(await held(app)).toBe(before);
  expect(await signet(data, "status")).toMatchObject({
    code: 0,
    out: expect.stringContaining("the data folder cannot be written, and all work waits: signet doctor"),
  });
  const looked = await signet(data, "doctor", "--json");
  expect(looked.code).toBe(1);
  // What the console shows, too: the same check on the same socket.
  expect(JSON.parse(looked.out).findings).toContainEqual(
    expect.objectContaining({
      code: "capacity.read-only",
      state: "wrong",
      action: expect.stringContaining("mount the volume for writing"),
    }),
  );

  await app.stop();
  repair();
  const again = await compose({ config: app.config, log: createLog("silent") });
  onTestFinished(() => again.stop(0));
  const letters = () => listMail(again.deps.db.read, again.deps, {});
  await signAs(again.url, carl, await linkFor(letters, carl.email), letters);
  await waitForSeal(createClient(again.url, app.keys.live), id);
  expect(await fsck(again.deps)).toMatchObject({ ok: true });
});
