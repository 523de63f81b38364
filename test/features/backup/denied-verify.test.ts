import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, expect, test } from "vitest";
import { createActivity } from "../../../server/features/backup/activity.ts";
import { runVerify } from "../../../server/features/backup/jobs.ts";
import { readBackupState } from "../../../server/features/backup/service.ts";
import { enqueue } from "../../../server/kernel/jobs.ts";
import { systemActor } from "../../../server/kernel/wire.ts";
import { forbid } from "../../harness/another-user.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { endSteps } from "./helpers.ts";

/** A backup that the service may not read is not looked at every minute and called waiting: it is said once what would help. */

const allow: (() => void)[] = [];
let app: TestAppliance | undefined;
afterEach(async () => {
  for (const step of allow.splice(0)) step();
  await app?.stop();
  app = undefined;
});

test("a verification that may not read its backup ends with what is to be done, and is begun again by hand", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-denied-"));
  const backups = path.join(folder, "backups");
  await mkdir(backups);
  const env = { SIGNET_BACKUP_DIR: backups };
  app = await startAppliance({ env });
  const { deps, jobs } = app;
  const verifications = () =>
    deps.db.read
      .selectFrom("jobs")
      .select(["id", "status", "attempts", "last_error"])
      .where("name", "=", runVerify.name)
      .execute();
  const actor = systemActor;
  allow.push(forbid(backups));
  await deps.db.tx((tx) => enqueue(tx, runVerify, { id: "20260101-000000000-abcdef", actor }));
  await jobs.idle();
  const [job] = await verifications();
  expect(job).toMatchObject({ status: "dead", attempts: 1 });
  expect(job?.last_error).toMatch(/EACCES.*must own the folder of the backups: chown -R \d+:\d+ /);
  expect((await readBackupState(deps, createActivity())).running).toBeNull();

  for (const step of allow.splice(0)) step();
  // The process that rests is still somebody else.
  await endSteps();
  // It is read now: that there is no such backup is another answer.
  expect(await jobs.retryDead(job?.id ?? "")).toBe(true);
  await jobs.idle();
  const [again] = await verifications();
  expect(again).toMatchObject({ status: "queued" });
  expect(again?.last_error).toMatch(/20260101-000000000-abcdef/);
  await rm(folder, { recursive: true, force: true });
});

test("a job of the backups that keeps failing is tried less and less often", () => {
  const waits = [1, 2, 3, 4, 5, 6, 7, 20].map((attempt) => runVerify.backoffMs(attempt) / 60_000);
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
});
