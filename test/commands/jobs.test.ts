import { rename } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { runCli } from "../../server/cli.ts";
import { sealEnvelope, storeRevision } from "../../server/features/envelopes/jobs.ts";
import { loadEnvelope } from "../../server/features/envelopes/progress.ts";
import type { JobType } from "../../server/kernel/jobs.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { movableClock } from "../harness/clock.ts";
import { auditOf, enter, envelopeOf, ok, publishTemplate, recipientOf, send, submission } from "../harness/scenario.ts";

// The command takes the real time, so the appliance must not lag behind it.
const clock = movableClock(new Date().toISOString());
let app: TestAppliance;
let template: string;

beforeAll(async () => {
  app = await startAppliance({ clock });
  template = await publishTemplate(app, {
    roles: [
      { name: "Tenant", order: 1, verification: "none" },
      { name: "Landlord", order: 2, verification: "none" },
    ],
  });
});
afterAll(async () => app.stop());

async function signet(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  let out = "";
  let err = "";
  const code = await runCli(
    args,
    { SIGNET_DATA_DIR: app.folder, SIGNET_LOG_LEVEL: "silent" },
    {
      stdout: (text) => {
        out += text;
      },
      stderr: (text) => {
        err += text;
      },
      stdin: (async function* () {})(),
      interactive: false,
      onSignal: () => undefined,
    },
  );
  return { code, out, err };
}

const Stuck = z.object({
  data: z.array(z.object({ id: z.string(), name: z.string(), state: z.string(), cause: z.string() })),
});
async function deadJob(name: string): Promise<string> {
  const { data } = Stuck.parse(JSON.parse((await signet("jobs", "list", "--json")).out));
  const found = data.filter((job) => job.name === name && job.state === "failed");
  expect(found).toHaveLength(1);
  return found[0]?.id ?? "";
}

/** Lets the job fail until it is dead. */
async function exhaust({ maxAttempts, backoffMs }: Pick<JobType<never>, "maxAttempts" | "backoffMs">): Promise<void> {
  await app.jobs.idle();
  for (let attempt = 1; attempt < maxAttempts; attempt += 1) {
    clock.advance(backoffMs(attempt));
    app.jobs.wake();
    await app.jobs.idle();
  }
}

async function opened(email: string) {
  const bearer = await enter(app, email);
  return { key: { bearer }, json: await submission(app, bearer) };
}

/** Takes a revision's file away. @returns what brings it back */
async function without(envelope: string, number: number): Promise<() => Promise<void>> {
  const revision = (await loadEnvelope(app.deps.db.read, envelope))?.revisions[number]?.sha256 ?? "";
  const file = path.join(app.folder, "blobs", revision.slice(0, 2), revision.slice(2, 4), revision);
  await rename(file, `${file}.away`);
  return () => rename(`${file}.away`, file);
}

async function mailed(envelope: string, kind: string) {
  return (await app.mail()).filter((mail) => mail.envelope === envelope && mail.kind === kind);
}

test("a signature that cannot be drawn is shown with the envelope and told to the sender; a retry goes on", async () => {
  const { id } = await send(app, template);
  const signing = await opened("ada@example.com");
  const bringBack = await without(id, 0);
  await ok(app, 200, "/v1/signing/submit", signing);
  await exhaust(storeRevision);
  const stuck = await envelopeOf(app, id);
  expect(stuck).toMatchObject({ status: "sent", failure: { stage: "render", code: "revision-failed" } });
  expect(recipientOf(stuck, "Landlord").status).toBe("pending");
  expect((await mailed(id, "stalled")).map(({ to }) => to.email)).toEqual([app.owner.email]);
  const job = await deadJob(storeRevision.name);
  await bringBack();
  expect(await signet("jobs", "retry", job)).toMatchObject({ code: 0, err: "" });
  app.jobs.wake();
  await app.jobs.idle();
  const moved = await envelopeOf(app, id);
  expect(moved.failure).toBeNull();
  expect(recipientOf(moved, "Landlord").status).toBe("sent");
  expect((await signet("jobs", "list")).out).toBe("Nothing is stuck.\n");
});

test("a seal that failed waits again after a retry, and nobody is mailed a second time", async () => {
  // Later than the mails of the test before, so that the newest link is the one meant.
  clock.advance(60_000);
  const { id } = await send(app, template, { envelope: { cc: [{ email: "cc@example.com" }] } });
  await ok(app, 200, "/v1/signing/submit", await opened("ada@example.com"));
  await app.jobs.idle();
  const signing = await opened("ben@example.com");
  const bringBack = await without(id, 1);
  await ok(app, 200, "/v1/signing/submit", signing);
  await exhaust(sealEnvelope);
  expect(await envelopeOf(app, id)).toMatchObject({ status: "completed", seal: "failed", failure: { stage: "seal" } });
  const told = await mailed(id, "completed");
  expect(told).toHaveLength(4);
  const job = await deadJob(sealEnvelope.name);
  // As long as the cause is there, a retry is given up again, and told to nobody.
  expect((await signet("jobs", "retry", job)).code).toBe(0);
  expect((await envelopeOf(app, id)).seal).toBe("pending");
  app.jobs.wake();
  await exhaust(sealEnvelope);
  expect((await envelopeOf(app, id)).seal).toBe("failed");
  await bringBack();
  expect((await signet("jobs", "retry", job)).code).toBe(0);
  app.jobs.wake();
  await app.jobs.idle();
  expect(await envelopeOf(app, id)).toMatchObject({ seal: "sealed", failure: null });
  expect(await mailed(id, "completed")).toHaveLength(4);
  const types = (await auditOf(app, id)).data.map(({ type }) => type);
  expect(types.filter((type) => type === "envelope.sealed")).toHaveLength(1);
  expect(types.filter((type) => type === "cc.notified")).toHaveLength(1);
  // It is not dead any more.
  expect((await signet("jobs", "retry", job)).code).toBe(1);
});

test("wrong calls", async () => {
  expect((await signet("jobs")).code).toBe(2);
  expect((await signet("jobs", "retry")).code).toBe(2);
  expect((await signet("jobs", "retry", "job_unknown")).code).toBe(1);
});
