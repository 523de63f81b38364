import { afterAll, beforeAll, expect, test } from "vitest";
import { fsck } from "../../../server/features/evidence/fsck/fsck.ts";
import { changeRetention } from "../../../server/features/retention/service.ts";
import { permissions } from "../../../server/kernel/wire.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { movableClock } from "../../harness/clock.ts";
import { browser } from "../../harness/people.ts";
import { dayMs, runNow, signAll } from "../../harness/retention.ts";
import { auditOf, envelopeOf, ok, publishTemplate, send } from "../../harness/scenario.ts";

/** Random envelopes, ends, holds, settings and runs: whatever was deleted, what proves it stands. */

const seed = Number(process.env.SIGNET_TEST_SEED ?? 20261121);
const rounds = Number(process.env.SIGNET_TEST_ROUNDS ?? 8);

function random(start: number) {
  let state = start >>> 0;
  return (below: number): number => {
    // Mulberry32.
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const clock = movableClock();
const advance = (ms: number) => clock.advance(ms);
let app: TestAppliance;
beforeAll(async () => {
  app = await startAppliance({ clock });
});
afterAll(() => app.stop());

test(`after random runs every chain, leaf, proof and anchor that is left holds (seed ${seed})`, {
  timeout: 300_000,
}, async () => {
  const pick = random(seed);
  const template = await publishTemplate(app);
  const envelopes: string[] = [];
  const sealed = new Map<string, string>();
  const caller = {
    kind: "user" as const,
    id: app.owner.id,
    organization: app.organization,
    testMode: null,
    permissions: new Set(permissions),
    actor: { type: "user" as const, id: app.owner.id, name: "Olive", email: app.owner.email },
    signedInAt: null,
    session: null,
  };
  for (let round = 0; round < rounds; round += 1) {
    const { id } = await send(app, template, { envelope: { title: `Envelope ${round}` } });
    envelopes.push(id);
    const end = round === 0 ? 0 : pick(4);
    if (end <= 1) {
      await signAll(app, advance);
      sealed.set(id, (await envelopeOf(app, id)).sealedSha256 ?? "");
    } else if (end === 2) {
      await ok(app, 200, `/v1/envelopes/${id}/void`, { json: { reason: "no" } });
    }
    if (end === 3) await ok(app, 200, `/v1/envelopes/${id}/void`, { json: { reason: "two open links" } });
    const owner = browser(app, await app.signIn());
    const target = envelopes[pick(envelopes.length)] ?? id;
    await owner(
      pick(2) === 0 ? "PUT" : "DELETE",
      `/auth/envelopes/${target}/hold`,
      pick(2) ? { reason: "r" } : undefined,
    );
    if (pick(2) === 0 || round === rounds - 1)
      await changeRetention(app.deps, caller, { keepDays: 1 + pick(20), ifMatch: null, ip: "127.0.0.1" });
    advance((1 + pick(12)) * dayMs);
    await app.jobs.idle();
    if (pick(3) > 0 || round === rounds - 1) await runNow(app);
    if (pick(4) === 0) await app.restart();
  }
  let deleted = 0;
  for (const id of envelopes) {
    const { data, verification } = await auditOf(app, id);
    expect(verification).toMatchObject({ valid: true });
    if (data.some(({ type }) => type === "envelope.documents_deleted")) deleted += 1;
  }
  expect(deleted).toBeGreaterThan(0);
  for (const sha256 of sealed.values())
    expect((await ok(app, 200, "/v1/public/verify", { key: null, json: { sha256 } })).body).toMatchObject({
      status: "anchored",
    });
  expect(await fsck(app.deps)).toMatchObject({ ok: true, problems: [] });
});
