import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../../server/kernel/db.ts";
import { migrations } from "../../../server/migrations/list.ts";

test("jobs of an older release that none does any more are gone after the update, in whatever state; others stay", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-removed-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = path.join(folder, "signet.db");
  const before = migrations.filter(({ name }) => name < "0052");
  await (await openDatabase({ file, migrations: before })).close();
  const raw = new DatabaseSync(file);
  const insert = raw.prepare(`INSERT INTO jobs (id, name, queue, payload, run_at, attempts, status, created_at)
    VALUES (?, ?, 'account-mail', '{}', 0, 1, ?, 0)`);
  for (const status of ["queued", "running", "dead"])
    for (const name of ["sign-in.mail", "sign-in.mail-nobody"]) insert.run(`job_${name}_${status}`, name, status);
  raw.close();
  const db = await openDatabase({ file });
  onTestFinished(() => db.close());
  const jobs = await db.read.selectFrom("jobs").select(["name", "status"]).orderBy("status").execute();
  expect(jobs).toEqual(["dead", "queued", "running"].map((status) => ({ name: "sign-in.mail", status })));
});
