import { createHash } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { anchorNow } from "../../../server/features/evidence/anchors/signing.ts";
import {
  appendLeaf,
  consistencyProof,
  inclusionProof,
  rootOf,
} from "../../../server/features/evidence/anchors/tree.ts";
import type { Leaf } from "../../../server/features/evidence/contract.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { movableClock } from "../../harness/clock.ts";

/** The tree as the database keeps it, judged by the verifiers of RFC 9162, written here from its text alone. */

const count = 90;
const clock = movableClock();
let app: TestAppliance;

const sha = (...parts: Uint8Array[]) => Buffer.from(createHash("sha256").update(Buffer.concat(parts)).digest());
const join = (left: Uint8Array, right: Uint8Array) => sha(Buffer.of(1), left, right);
const leafOf = (n: number): Leaf => ({
  v: 1,
  type: "svc.leaf",
  envelope: `env_${String(n).padStart(24, "0")}`,
  documentSha256: createHash("sha256").update(`document ${n}`).digest("hex"),
  auditHash: createHash("sha256").update(`audit ${n}`).digest("hex"),
  sealedAt: "2026-11-21T10:00:00.000Z",
  testMode: false,
});
const append = (n: number) => app.deps.db.tx((tx) => appendLeaf(tx, leafOf(n)));

/** §2.1.3.2, step by step. */
function included(leaf: Buffer, index: number, size: number, path: Buffer[], root: Buffer): boolean {
  if (index >= size) return false;
  let [fn, sn, r] = [index, size - 1, leaf];
  for (const p of path) {
    if (sn === 0) return false;
    if ((fn & 1) === 1 || fn === sn) {
      r = join(p, r);
      if ((fn & 1) === 0) {
        do {
          fn >>= 1;
          sn >>= 1;
        } while ((fn & 1) === 0 && fn !== 0);
      }
    } else r = join(r, p);
    fn >>= 1;
    sn >>= 1;
  }
  return sn === 0 && r.equals(root);
}

/** §2.1.4.2, step by step. */
function consistent(first: number, second: number, from: Buffer, to: Buffer, proof: Buffer[]): boolean {
  if (proof.length === 0) return false;
  const path = (first & (first - 1)) === 0 ? [from, ...proof] : [...proof];
  let [fn, sn] = [first - 1, second - 1];
  while ((fn & 1) === 1) {
    fn >>= 1;
    sn >>= 1;
  }
  const start = path.shift() ?? Buffer.alloc(0);
  let [fr, sr] = [start, start];
  for (const c of path) {
    if (sn === 0) return false;
    if ((fn & 1) === 1 || fn === sn) {
      fr = join(c, fr);
      sr = join(c, sr);
      while ((fn & 1) === 0 && fn !== 0) {
        fn >>= 1;
        sn >>= 1;
      }
    } else sr = join(sr, c);
    fn >>= 1;
    sn >>= 1;
  }
  return sn === 0 && fr.equals(from) && sr.equals(to);
}

beforeAll(async () => {
  app = await startAppliance({ clock, env: { SIGNET_ANCHOR_INTERVAL_SECONDS: "86400" } });
  for (let n = 0; n < count; n += 1) expect(await append(n)).toBe(n);
});
afterAll(() => app?.stop());

const pairs = fc
  .integer({ min: 2, max: count })
  .chain((size) => fc.tuple(fc.integer({ min: 1, max: size - 1 }), fc.constant(size)));

test("proofs from stored nodes hold for random trees, and for no other root, place or size", async () => {
  const { read } = app.deps.db;
  const rows = await read.selectFrom("leaves").selectAll().orderBy("leaf_index").execute();
  const rootAt = async (size: number) => Buffer.from(await rootOf(read, size));
  await fc.assert(
    fc.asyncProperty(pairs, async ([earlier, size]) => {
      const row = rows[earlier];
      const [root, before] = [await rootAt(size), await rootAt(earlier)];
      if (row && earlier < size) {
        const proof = await inclusionProof(read, row, size);
        const path = proof.path.map((hash) => Buffer.from(hash, "hex"));
        const leaf = Buffer.from(proof.leafHash, "hex");
        expect(path.length).toBeLessThanOrEqual(Math.ceil(Math.log2(size)));
        expect(included(leaf, earlier, size, path, root)).toBe(true);
        expect(included(leaf, earlier, size, path, before)).toBe(false);
        expect(included(leaf, earlier - 1, size, path, root)).toBe(false);
      }
      const proof = (await consistencyProof(read, earlier, size)).map((hash) => Buffer.from(hash));
      expect(proof.length).toBeLessThanOrEqual(Math.ceil(Math.log2(size)) + 1);
      expect(consistent(earlier, size, before, root, proof)).toBe(true);
      expect(consistent(earlier, size, root, root, proof)).toBe(false);
      expect(consistent(earlier, size, before, before, proof)).toBe(false);
    }),
    { numRuns: 60 },
  );
});

test("a tree of n leaves has fewer than 2n nodes, so that none is stored twice or in vain", async () => {
  const { nodes } = await app.deps.db.read
    .selectFrom("merkle_nodes")
    .select(({ fn }) => fn.countAll<number>().as("nodes"))
    .executeTakeFirstOrThrow();
  expect(nodes).toBeGreaterThan(count);
  expect(nodes).toBeLessThan(2 * count);
});

test("a clock that jumps ahead and back: no anchor goes back in time, and the next one comes when time has", async () => {
  const hour = 3_600_000;
  const first = await anchorNow(app.deps);
  expect(first?.treeSize).toBe(count);
  clock.advance(24 * hour);
  await append(count);
  const ahead = await anchorNow(app.deps);
  expect(ahead?.createdAt).toBe(clock.ts());
  clock.advance(-23 * hour);
  await append(count + 1);
  await expect(anchorNow(app.deps)).rejects.toMatchObject({ name: "RetryLater" });
  const { anchors } = await app.deps.db.read
    .selectFrom("anchors")
    .select(({ fn }) => fn.countAll<number>().as("anchors"))
    .executeTakeFirstOrThrow();
  expect(anchors).toBe(2);
  clock.advance(23 * hour);
  const caughtUp = await anchorNow(app.deps);
  expect(caughtUp?.sequence).toBe(3);
  expect(Date.parse(caughtUp?.createdAt ?? "")).toBeGreaterThanOrEqual(Date.parse(ahead?.createdAt ?? ""));
});
