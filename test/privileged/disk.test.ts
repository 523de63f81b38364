import { spawnSync } from "node:child_process";
import { closeSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createClient } from "../../server/commands/demo/client.ts";
import {
  linkFor,
  people,
  publishTemplate,
  sendEnvelope,
  signAs,
  waitForSeal,
} from "../../server/commands/demo/main-job.ts";
import { getStatus } from "../../server/features/appliance/status-contract.ts";
import { fsck } from "../../server/features/evidence/fsck/fsck.ts";
import { getChecks } from "../../server/features/health/contract.ts";
import { listMail } from "../../server/features/mail/service.ts";
import { administrator } from "../harness/admin.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";

const mebibyte = 1024 ** 2;
const sample = path.resolve(import.meta.dirname, "../fixtures/pdf/lecture.pdf");

/** A real volume of its own, of so many MiB. */
async function volume(size: number): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-volume-"));
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${size}m`, "tmpfs", folder], { encoding: "utf8" });
  if (mounted.status !== 0) throw new Error(`this test needs to mount a small volume: ${mounted.stderr}`);
  onTestFinished(async () => {
    spawnSync("umount", ["-l", folder]);
    await rm(folder, { recursive: true, force: true });
  });
  return folder;
}

/** Leaves so many bytes free. */
function fill(folder: string, leave: number): void {
  const { bavail, bsize } = statfsSync(folder);
  const file = openSync(path.join(folder, "filler"), "a");
  try {
    for (let left = bavail * bsize - leave; left > 0; left -= mebibyte)
      writeSync(file, Buffer.alloc(Math.min(mebibyte, left)));
  } catch {
    // There is no room left: that is what was wanted.
  } finally {
    closeSync(file);
  }
}

const storageOf = async (app: TestAppliance) => (await app.deps.capacity.look()).storage;

test("a disk that fills refuses what is new and finishes what is under way; a full one signs nothing, and goes on by itself when there is room", async () => {
  const folder = await volume(96);
  let exhaust = false;
  const app = await startAppliance({
    folder,
    // The harness makes tests blind to their disk; this one looks at it with the limits that an installation has.
    env: { SIGNET_DISK_RESERVE_MB: "8", SIGNET_DISK_WARN_PERCENT: "80", SIGNET_DISK_FULL_PERCENT: "95" },
    onBoundary(point) {
      if (!exhaust || !/^job:.*seal.*:claimed$/.test(point)) return;
      exhaust = false;
      rmSync(path.join(folder, "run", "reserve"), { force: true });
      fill(folder, 0);
    },
  });
  onTestFinished(() => app.stop());
  const client = createClient(app.url, app.keys.live);
  const mailbox = () => listMail(app.deps.db.read, app.deps, {});
  const { template } = await publishTemplate(client, await readFile(sample));
  const first = await sendEnvelope(client, template.id);
  const [anna, carl] = people;
  const annasLink = await linkFor(mailbox, anna.email);
  await expect.poll(async () => (await app.deps.capacity.look()).room.reserveBytes).toBe(8 * mebibyte);
  expect(await storageOf(app)).toBe("ok");

  fill(folder, 16 * mebibyte);
  expect(await storageOf(app)).toBe("warning");
  fill(folder, 3 * mebibyte);
  expect(await storageOf(app)).toBe("full");
  expect(app.deps.capacity.state().room.reserveBytes).toBe(0);
  for (const target of ["/v1/envelopes", "/v1/templates"]) {
    const refused = await app.json(target, { json: {} });
    expect(refused).toMatchObject({ status: 503, body: { code: "service-unavailable" } });
    expect(refused.body).toMatchObject({ detail: expect.stringContaining("nearly full") });
  }
  const checks = await administrator(app).call(getChecks, { query: {} });
  expect(checks.data.find(({ id }) => id === "capacity")).toMatchObject({ state: "wrong" });

  await signAs(app.url, anna, annasLink, mailbox);
  const carlsLink = await linkFor(mailbox, carl.email);
  exhaust = true;
  await signAs(app.url, carl, carlsLink, mailbox);
  await expect.poll(() => app.deps.capacity.halted()).toBe(true);
  const sealJobs = () =>
    app.deps.db.read.selectFrom("jobs").select(["attempts", "status"]).where("name", "like", "%seal%").execute();
  await expect.poll(async () => (await sealJobs()).length).toBe(1);
  expect(await app.json(`/v1/envelopes/${first.id}`)).toMatchObject({ body: { sealedSha256: null } });
  expect((await app.call("/readyz", { key: null })).status).toBe(503);
  expect((await administrator(app).call(getStatus, {})).mode).toBe("disk-full");

  rmSync(path.join(folder, "filler"));
  await waitForSeal(client, first.id);
  await expect.poll(() => storageOf(app)).toBe("ok");
  expect((await app.call("/readyz", { key: null })).status).toBe(200);
  await sendEnvelope(client, template.id);
  await app.jobs.idle();
  expect(await fsck(app.deps)).toMatchObject({ ok: true });
}, 120_000);

test("a machine short of memory refuses large uploads, and takes them again when there is memory", async () => {
  let available = 4096 * mebibyte;
  const app = await startAppliance({ availableMemory: () => available });
  onTestFinished(() => app.stop());
  const headers = { "content-type": "application/pdf" };
  const upload = () =>
    app.json("/v1/templates/tpl_none/files", { method: "POST", headers, body: new Uint8Array(12 * mebibyte) });
  const before = await upload();
  available = 100 * mebibyte;
  expect(await upload()).toMatchObject({ status: 503, body: { detail: expect.stringContaining("short of memory") } });
  const checks = await administrator(app).call(getChecks, { query: {} });
  expect(checks.data.find(({ id }) => id === "capacity-memory")).toMatchObject({ state: "wrong" });
  available = 4096 * mebibyte;
  expect((await upload()).status).toBe(before.status);
});
