import { createHash } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { signAnchorNow } from "../../../server/features/evidence/anchors/managed.ts";
import { AnchorOvertaken, anchorNow, signNextAnchor } from "../../../server/features/evidence/anchors/signing.ts";
import { appendLeaf } from "../../../server/features/evidence/anchors/tree.ts";
import { anchorLeaves } from "../../../server/features/evidence/jobs.ts";
import { findLive } from "../../../server/kernel/job-store.ts";
import { systemActor } from "../../../server/kernel/wire.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { createEnvelope, publishTemplate } from "../../harness/envelopes.ts";

/** Two that sign the next anchor at once: one is stored, the other is told so or has nothing left to do. */

let app: TestAppliance;
let envelope: string;
beforeAll(async () => {
  app = await startAppliance({ env: { SIGNET_ANCHOR_INTERVAL_SECONDS: "86400" } });
  envelope = (await createEnvelope(app, await publishTemplate(app))).id;
  await app.jobs.idle();
});
afterAll(() => app.stop());

/** A leaf for which no job was queued. */
const leaf = (n: number) =>
  app.deps.db.tx((tx) =>
    appendLeaf(tx, {
      v: 1,
      type: "svc.leaf",
      envelope,
      documentSha256: createHash("sha256").update(`document ${n}`).digest("hex"),
      auditHash: createHash("sha256").update(`entry ${n}`).digest("hex"),
      sealedAt: app.deps.clock.ts(),
      testMode: false,
    }),
  );

test("of two anchors that were signed at once the second is not stored, and says why", async () => {
  await leaf(1);
  const [first, second] = await Promise.all([signNextAnchor(app.deps), signNextAnchor(app.deps)]);
  if (!first || !second) throw new Error("a leaf waits");
  await app.deps.db.tx(first);
  await expect(app.deps.db.tx(second)).rejects.toThrow(AnchorOvertaken);
});

test("whoever asks for an anchor while another is signed gets an answer", async () => {
  await leaf(2);
  const asked = await Promise.all([1, 2, 3].map(() => signAnchorNow(app.deps, systemActor)));
  expect(asked.map(({ sequence }) => sequence).sort()).toEqual([2, null, null]);
  await leaf(3);
  const signed = await Promise.all([1, 2, 3].map(() => anchorNow(app.deps)));
  expect(signed.map((anchor) => anchor?.sequence)).toEqual([3, 3, 3]);
});

test("leaves for which no anchor is planned get one planned at the next start", async () => {
  await leaf(4);
  const planned = async () => (await findLive(app.deps.db.read, anchorLeaves)).length > 0;
  expect(await planned()).toBe(false);
  await app.restart();
  await app.jobs.idle();
  expect(await planned()).toBe(true);
});
