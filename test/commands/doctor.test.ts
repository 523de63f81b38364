import { statfs } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { doctor } from "../../server/commands/doctor.ts";
import { ensureKeys } from "../../server/features/keys/service.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";

let app: TestAppliance;
beforeAll(async () => {
  app = await startAppliance();
  await ensureKeys(app.deps);
});
afterAll(() => app?.stop());

/** What the command prints about one thing. */
async function look(check: string): Promise<{ state: string; detail: string } | undefined> {
  let out = "";
  await doctor.run({
    config: app.config,
    options: {},
    env: {},
    positionals: [],
    json: true,
    stdout: (text) => {
      out += text;
    },
    stderr: () => undefined,
    stdin: (async function* () {})(),
    interactive: false,
    onSignal: () => undefined,
  });
  const { findings } = JSON.parse(out);
  return findings.find((finding: { id: string }) => finding.id === check);
}

async function sealEndsIn(days: number): Promise<void> {
  const end = new Date(Date.now() + days * 86_400_000 + 3_600_000).toISOString();
  await app.deps.db.tx((tx) =>
    tx.updateTable("signing_keys").set({ valid_until: end }).where("purpose", "=", "seal").execute(),
  );
}

test("certificates that end within 90 days are announced, those that have ended are wrong", async () => {
  expect(await look("key.seal")).toMatchObject({ state: "ok" });
  await sealEndsIn(89);
  expect(await look("key.seal")).toMatchObject({
    state: "warning",
    detail: expect.stringContaining("89 days"),
  });
  await sealEndsIn(-2);
  expect(await look("key.seal")).toMatchObject({ state: "wrong" });
});

test("the volume of the data folder is measured one way, whichever line says it", async () => {
  const measured = (finding: Awaited<ReturnType<typeof look>>) =>
    / of (.*), [\d.]+ % used/.exec(finding?.detail ?? "")?.[1];
  const [disk, capacity] = [measured(await look("disk")), measured(await look("capacity"))];
  expect(disk).toBeDefined();
  expect(disk).toBe(capacity);
  const { blocks, bfree, bavail, bsize } = await statfs(app.folder);
  // Where an ordinary user may write less than root, or files take what is not theirs, it is less than the volume.
  expect(disk).toBe(`${(((blocks - bfree + bavail) * bsize) / 1024 ** 3).toFixed(1)} GiB`);
});

test("work that fails again and again is named with its cause", async () => {
  expect(await look("repeated-work")).toMatchObject({ state: "ok" });
  await app.deps.db.tx((tx) =>
    tx
      .insertInto("jobs")
      .values({
        id: "job_x",
        name: "evidence.seal",
        queue: "elsewhere",
        payload: "{}",
        run_at: 0,
        attempts: 3,
        status: "queued",
        lease_until: null,
        lease_by: null,
        dedupe_key: null,
        last_error: "SealFailure: no luck",
        created_at: 0,
      })
      .execute(),
  );
  const found = await look("repeated-work");
  expect(found).toMatchObject({ state: "warning", detail: "1: evidence.seal (3 ×): SealFailure: no luck" });
});
