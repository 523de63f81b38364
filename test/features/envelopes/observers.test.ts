import { afterAll, beforeAll, expect, test } from "vitest";
import type { Observers } from "../../../server/feature.ts";
import { appendAudit } from "../../../server/features/envelopes/audit.ts";
import type { Noted } from "../../../server/features/envelopes/observers.ts";
import type { Deps } from "../../../server/kernel/deps.ts";
import { systemActor } from "../../../server/kernel/wire.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { publishTemplate, sentEnvelope, trailOf } from "../../harness/envelopes.ts";
import { watchTransactions } from "../../harness/transactions.ts";

/** What observers of the trail are told, and what they may do to it. */

let app: TestAppliance;
let envelope: string;
beforeAll(async () => {
  app = await startAppliance();
  envelope = (await sentEnvelope(app, await publishTemplate(app))).id;
});
afterAll(() => app.stop());

const observed = (...audit: Observers["audit"]): Deps => ({
  ...app.deps,
  observers: async () => ({ ...(await app.deps.observers()), audit }),
});
const note = (deps: Deps) =>
  deps.db.tx((tx) =>
    appendAudit(tx, deps, envelope, [{ type: "envelope.downloaded", actor: systemActor, data: { by: "test" } }]),
  );

test("each hears of the entries in order, and the envelope is read once, as the entries leave it", async () => {
  const heard: string[] = [];
  const reads: number[] = [];
  watchTransactions(app.deps.db, (watched) => {
    reads.push(watched.reads.filter((text) => / from "envelopes" where "envelopes"."id" = \?/.test(text)).length);
  });
  const hear =
    (name: string) =>
    async (_tx: unknown, _deps: unknown, { entries, record, beside }: Noted) => {
      const { envelope: row } = await record();
      expect(row.audit_head).toBe(entries.at(-1)?.hash);
      expect(beside).toEqual({ notify: true });
      heard.push(`${name}: ${entries.map(({ type, data }) => `${type} ${JSON.stringify(data)}`).join()}`);
    };
  await note(observed(hear("first"), hear("second")));
  expect(heard).toEqual(['first: envelope.downloaded {"by":"test"}', 'second: envelope.downloaded {"by":"test"}']);
  expect(reads).toContain(1);
  expect(Math.max(...reads)).toBe(1);
});

test("what an observer throws undoes the entries", async () => {
  const before = await trailOf(app, envelope);
  const failing = observed(async () => {
    throw new Error("no room");
  });
  await expect(note(failing)).rejects.toThrow("no room");
  expect((await trailOf(app, envelope)).data).toEqual(before.data);
});
