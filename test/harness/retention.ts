import { runRetention } from "../../server/features/retention/jobs.ts";
import { enqueue } from "../../server/kernel/jobs.ts";
import type { TestAppliance } from "./appliance.ts";
import { enter, ok, submission } from "./scenario.ts";

export const dayMs = 86_400_000;

/** What the daily timer does, and waits for its end. */
export async function runNow(app: TestAppliance): Promise<void> {
  // Without its key: the one that is planned at the start waits for its time.
  await app.deps.db.tx((tx) => enqueue(tx, runRetention, {}));
  await app.jobs.idle();
}

/** Everybody signs; the envelope is sealed afterwards. */
export async function signAll(app: TestAppliance, advance: (ms: number) => void): Promise<void> {
  for (const email of ["ada@example.com", "ben@example.com"]) {
    advance(60_000);
    const bearer = await enter(app, email);
    await ok(app, 200, "/v1/signing/submit", { key: { bearer }, json: await submission(app, bearer) });
    await app.jobs.idle();
  }
}

export async function blobsOf(app: TestAppliance): Promise<string[]> {
  const names = [];
  for await (const name of app.deps.blobs.list()) names.push(name);
  return names;
}
