import { rename } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sealEnvelope, storeRevision } from "../../../server/features/envelopes/jobs.ts";
import { loadEnvelope } from "../../../server/features/envelopes/progress.ts";
import { listAdminActs } from "../../../server/features/identity/admin-audit.ts";
import { createOrganization } from "../../../server/features/identity/service.ts";
import type { JobType } from "../../../server/kernel/jobs.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { movableClock } from "../../harness/clock.ts";
import {
  enter,
  envelopeOf,
  ok,
  publishTemplate,
  recipientOf,
  refusal,
  send,
  submission,
} from "../../harness/scenario.ts";

const clock = movableClock();
let app: TestAppliance;
let template: string;
let headers: Record<string, string>;

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

/** Lets the job fail until it is dead. */
async function exhaust({ maxAttempts, backoffMs }: Pick<JobType<never>, "maxAttempts" | "backoffMs">): Promise<void> {
  await app.jobs.idle();
  for (let attempt = 1; attempt < maxAttempts; attempt += 1) {
    clock.advance(backoffMs(attempt));
    app.jobs.wake();
    await app.jobs.idle();
  }
}

/** Takes a revision's file away. @returns what brings it back */
async function without(envelope: string, number: number): Promise<() => Promise<void>> {
  const revision = (await loadEnvelope(app.deps.db.read, envelope))?.revisions[number]?.sha256 ?? "";
  const file = path.join(app.folder, "blobs", revision.slice(0, 2), revision.slice(2, 4), revision);
  await rename(file, `${file}.away`);
  return () => rename(`${file}.away`, file);
}

async function opened(email: string) {
  const bearer = await enter(app, email);
  return { key: { bearer }, json: await submission(app, bearer) };
}

async function asOwner() {
  headers = { cookie: await app.signIn(), origin: app.url };
  return { key: null, method: "POST", headers };
}
const retry = (id: string) => `/auth/envelopes/${id}/retry`;

test("a signature that cannot be drawn shows why at once, and goes on when it is tried again", async () => {
  const { id } = await send(app, template);
  const signing = await opened("ada@example.com");
  const bringBack = await without(id, 0);
  await ok(app, 200, "/v1/signing/submit", signing);
  await app.jobs.idle();
  expect((await envelopeOf(app, id)).failure).toMatchObject({ stage: "render", code: "revision-delayed" });
  expect(await refusal(app, retry(id), await asOwner())).toEqual({ status: 409, code: "conflict" });
  await exhaust(storeRevision);
  expect((await envelopeOf(app, id)).failure).toMatchObject({ code: "revision-failed" });
  await bringBack();
  await ok(app, 200, retry(id), await asOwner());
  await app.jobs.idle();
  const moved = await envelopeOf(app, id);
  expect(moved.failure).toBeNull();
  expect(recipientOf(moved, "Landlord").status).toBe("sent");
  const [act] = await listAdminActs(app.deps.db.read, app.organization, { limit: 1, before: null });
  expect(act).toMatchObject({ action: "envelope.retried", target: id, data: '{"jobs":["signing.revision"]}' });
  expect(await refusal(app, retry(id), await asOwner())).toEqual({ status: 409, code: "conflict" });
});

test("a failed seal waits again, and is there once its cause is repaired", async () => {
  clock.advance(60_000);
  const { id } = await send(app, template);
  await ok(app, 200, "/v1/signing/submit", await opened("ada@example.com"));
  await app.jobs.idle();
  const signing = await opened("ben@example.com");
  const bringBack = await without(id, 1);
  await ok(app, 200, "/v1/signing/submit", signing);
  await exhaust(sealEnvelope);
  expect((await envelopeOf(app, id)).seal).toBe("failed");
  await bringBack();
  const { body } = await ok(app, 200, retry(id), await asOwner());
  expect(body).toMatchObject({ id, seal: "pending" });
  await app.jobs.idle();
  expect(await envelopeOf(app, id)).toMatchObject({ seal: "sealed", failure: null });
});

test("strangers, keys and those who may not manage cannot", async () => {
  const { id } = await send(app, template);
  const other = await createOrganization(app.deps, {
    name: "Other Ltd",
    owner: { email: "other@example.com", name: "Otto Other", password: null },
  });
  const cookie = await app.signIn(other.user);
  const call = { key: null, method: "POST", headers: { cookie, origin: app.url } };
  expect((await refusal(app, retry(id), call)).status).toBe(404);
  expect((await refusal(app, retry(id), { method: "POST" })).status).toBeGreaterThanOrEqual(401);
});
