import { createHash, createPrivateKey, sign } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import {
  anchorBytes,
  fromBase64,
  fromHex,
  leafBytes,
  thumbprintBytes,
  toBase64Url,
  toHex,
} from "../../../server/features/evidence/anchors/anchor.ts";
import { anchorHolds } from "../../../server/features/evidence/anchors/check.ts";
import { foldNodes, inclusionRanges, leafHash, nodesOf } from "../../../server/features/evidence/anchors/merkle.ts";
import { signAnchor } from "../../../server/features/evidence/anchors/signing.ts";
import { sha256 } from "../../../server/features/evidence/anchors/tree.ts";
import type { Anchor, Leaf } from "../../../server/features/evidence/contract.ts";
import { type Evidence, verifyEvidence } from "../../../server/features/evidence/verify.ts";
import type { AnchorKey } from "../../../server/features/keys/contract.ts";
import { toTs } from "../../../server/kernel/clock.ts";

/** Test vectors of contract §17. */

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
const leafOf = (n: number): Leaf => ({
  v: 1,
  type: "svc.leaf",
  envelope: `env_00000000000000000000000${n}`,
  documentSha256: hash(`doc${n}`),
  auditHash: hash(`audit${n}`),
  sealedAt: `2026-11-21T09:1${n}:00.000Z`,
  testMode: false,
});
const leaves = [leafOf(1), leafOf(2), leafOf(3)];
const leafHashes = leaves.map((leaf) => leafHash(sha256, leafBytes(leaf)));
const subtree = (start: number, end: number): Uint8Array => {
  // Three leaves: the only joined node is that of the first two.
  const places = nodesOf({ start, end });
  return foldNodes(
    sha256,
    places.map(({ level, index }) =>
      level === 0
        ? (leafHashes[index] ?? new Uint8Array(0))
        : foldNodes(sha256, leafHashes.slice(index * 2, index * 2 + 2)),
    ),
  );
};

const rootHash = "4b7fbfdc3bfd5c87ca5762867a270936c6026d022e2d62f1742a09bbb079b3d5";
const kid = "1IG2tMH7J2wbJZnOf8LJzQitKf7LMvoAElsuDMVM54Y";
const key: AnchorKey = {
  kty: "OKP",
  crv: "Ed25519",
  x: "A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg",
  kid,
  use: "sig",
  alg: "EdDSA",
  validFrom: "2026-11-21T09:00:00.000Z",
  validUntil: null,
};
const anchor: Anchor = {
  v: 1,
  type: "svc.anchor",
  sequence: 1,
  treeSize: 3,
  rootHash,
  previousAnchorHash: null,
  createdAt: "2026-11-21T09:20:00.000Z",
  kid,
  anchorHash: "1873c75b37d7a312e2d234c0dfc9d1182e20e5ca02ed38ed408c6a7e4626b163",
  signature: "Sf/ScuqEOOP7IeEXNF69iofWSpIzO7ERl+x+BWjmRzMLLAIgTWXmds7IVhDnyh2X5tAfZyftyFljmW9uy/TMAQ==",
  consistency: [],
  timestampToken: null,
};

// PKCS#8 of the seed 00 01 … 1f (RFC 8410 §7).
const seed = Buffer.from(Array.from({ length: 32 }, (_, index) => index));
const privateKey = createPrivateKey({
  key: Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed]),
  format: "der",
  type: "pkcs8",
});
const signer = { kid, sign: async (bytes: Uint8Array) => sign(null, bytes, privateKey) };

describe("the test vectors of the contract", () => {
  test("leaf and its hash", () => {
    expect(Buffer.from(leafBytes(leafOf(1))).toString()).toBe(
      '{"auditHash":"837d256f26f731c28b89485251590fb308ea26ca9e71c3b3dcd04752ca76e603","documentSha256":"c63ebdcbe00c06b7d93143056be2bb37d7edc77c5076c1dd3b1c9931f36ddb8a","envelope":"env_000000000000000000000001","sealedAt":"2026-11-21T09:11:00.000Z","testMode":false,"type":"svc.leaf","v":1}',
    );
    expect(toHex(leafHash(sha256, leafBytes(leafOf(1))))).toBe(
      "dfa43ed811852a291a985eb8380a181e0c320cfc2b4ac90fe04208e5c6b2d4e3",
    );
  });

  test("root and paths", () => {
    expect(toHex(subtree(0, 3))).toBe(rootHash);
    const pathOf = (index: number) => inclusionRanges(index, 3).map(({ start, end }) => toHex(subtree(start, end)));
    expect(pathOf(0)).toEqual([
      "b53c3308386816c61c7dd31bc9cbb5935cbafb05926f72282931fe292888dc4b",
      "d438e1cedd75b81ce213535e3ffa952d6648a32828a27ffe5739c22d524ae367",
    ]);
    expect(pathOf(2)).toEqual(["dbce5fd30ef611f27269685086cd0b7f4efae207c63e5616fb940bcf44f9cb3d"]);
  });

  test("key, anchor and signature", async () => {
    expect(toBase64Url(sha256(thumbprintBytes(key.x)))).toBe(kid);
    expect(Buffer.from(anchorBytes(anchor)).toString()).toBe(
      `{"createdAt":"2026-11-21T09:20:00.000Z","kid":"${kid}","previousAnchorHash":null,"rootHash":"${rootHash}","sequence":1,"treeSize":3,"type":"svc.anchor","v":1}`,
    );
    expect(anchorHolds(anchor, [key])).toBe(true);
    const clock = { now: () => Date.parse(anchor.createdAt), ts: () => anchor.createdAt };
    expect(
      await signAnchor({ signer, keys: [key], clock }, null, { size: 3, root: fromHex(rootHash), proof: [] }),
    ).toEqual(anchor);
  });
});

describe("the signer of anchors", () => {
  const root4 = foldNodes(sha256, [...[subtree(0, 2)], foldNodes(sha256, leafHashes.slice(1, 3))]);
  const at = (ms: number) => ({ now: () => ms, ts: () => toTs(ms) });
  const later = at(Date.parse(anchor.createdAt) + 1000);

  test("does not sign a tree that is not the old one with more leaves", async () => {
    const tree = { size: 4, root: root4, proof: [subtree(2, 3), subtree(2, 3), subtree(0, 2)] };
    await expect(signAnchor({ signer, keys: [key], clock: later }, anchor, tree)).rejects.toThrow("does not begin");
    await expect(
      signAnchor({ signer, keys: [key], clock: later }, anchor, { size: 3, root: subtree(0, 3), proof: [] }),
    ).rejects.toThrow("nothing new");
  });

  test("does not sign after a previous anchor that was changed", async () => {
    const tree = { size: 4, root: root4, proof: [] };
    const forged = { ...anchor, rootHash: toHex(root4) };
    await expect(signAnchor({ signer, keys: [key], clock: later }, forged, tree)).rejects.toThrow("does not verify");
  });

  test("waits while the clock stands before the previous anchor", async () => {
    const earlier = at(Date.parse(anchor.createdAt) - 1);
    const tree = { size: 4, root: root4, proof: [] };
    await expect(signAnchor({ signer, keys: [key], clock: earlier }, anchor, tree)).rejects.toMatchObject({
      name: "RetryLater",
      delayMs: 1,
    });
  });

  test("waits while the clock stands before the beginning of its key, and calls no such anchor sound", async () => {
    const young = { ...key, validFrom: toTs(Date.parse(anchor.createdAt) + 1001) };
    const tree = { size: 3, root: subtree(0, 3), proof: [] };
    await expect(signAnchor({ signer, keys: [young], clock: later }, null, tree)).rejects.toMatchObject({
      name: "RetryLater",
      delayMs: 1,
    });
    expect(anchorHolds(anchor, [young])).toBe(false);
    expect(anchorHolds(anchor, [{ ...key, validUntil: toTs(Date.parse(anchor.createdAt) - 1) }])).toBe(false);
  });

  test("does not let a wrong signature out", async () => {
    const broken = { kid, sign: async () => Buffer.alloc(64) };
    const tree = { size: 3, root: subtree(0, 3), proof: [] };
    await expect(signAnchor({ signer: broken, keys: [key], clock: later }, null, tree)).rejects.toThrow("new anchor");
  });
});

describe("verification without the server", () => {
  let good: Evidence;
  beforeAll(() => {
    const path = inclusionRanges(1, 3).map(({ start, end }) => toHex(subtree(start, end)));
    const leaf = leafOf(2);
    good = {
      sha256: leaf.documentSha256,
      leaf,
      proof: { leafIndex: 1, treeSize: 3, leafHash: toHex(leafHashes[1] ?? new Uint8Array(0)), path },
      anchor,
      keys: [key],
      pinnedKids: [kid],
    };
  });
  const failing = (evidence: Evidence): string[] =>
    verifyEvidence(evidence)
      .steps.filter(({ ok }) => !ok)
      .map(({ name }) => name);

  test("shows each step with its bytes", () => {
    const report = verifyEvidence(good);
    expect(report).toMatchObject({ valid: true, pinned: true });
    expect(report.steps.map(({ name }) => name)).toEqual(["document", "leaf", "path", "anchor", "signature", "key"]);
    const path = report.steps[2]?.bytes ?? [];
    expect(path.at(-1)?.value).toBe(rootHash);
    expect(path.at(-2)?.value).toBe(rootHash);
  });

  test("without a pinned key it says so", () => {
    expect(verifyEvidence({ ...good, pinnedKids: [] })).toMatchObject({ valid: true, pinned: false });
    expect(verifyEvidence({ ...good, pinnedKids: undefined })).toMatchObject({ valid: true, pinned: false });
  });

  test("finds each lie at its step", () => {
    const { proof } = good;
    const [first = "", ...rest] = proof.path;
    expect(failing({ ...good, sha256: hash("another file") })).toEqual(["document"]);
    expect(failing({ ...good, leaf: { ...good.leaf, envelope: "env_other" } })).toEqual(["leaf", "path"]);
    // The second says that the document was made in test mode.
    expect(failing({ ...good, leaf: { ...good.leaf, testMode: true } })).toEqual(["leaf", "leaf", "path"]);
    expect(failing({ ...good, proof: { ...proof, leafIndex: 0 } })).toEqual(["path"]);
    expect(failing({ ...good, proof: { ...proof, treeSize: 4 } })).toEqual(["path"]);
    expect(failing({ ...good, proof: { ...proof, path: [hash(first), ...rest] } })).toEqual(["path"]);
    expect(failing({ ...good, proof: { ...proof, path: ["zz"] } })).toEqual(["path"]);
    expect(failing({ ...good, anchor: { ...anchor, sequence: 2 } })).toEqual(["anchor", "signature"]);
    expect(failing({ ...good, anchor: { ...anchor, rootHash: hash("other") } })).toEqual([
      "path",
      "anchor",
      "signature",
    ]);
    expect(failing({ ...good, anchor: { ...anchor, signature: Buffer.alloc(64).toString("base64") } })).toEqual([
      "signature",
    ]);
    expect(failing({ ...good, anchor: { ...anchor, signature: "!" } })).toEqual(["signature"]);
    expect(failing({ ...good, keys: [] })).toEqual(["signature", "key"]);
    expect(failing({ ...good, keys: [{ ...key, validFrom: "2026-11-22T00:00:00.000Z" }] })).toEqual(["key"]);
    expect(failing({ ...good, keys: [{ ...key, validUntil: "2026-11-21T09:19:59.999Z" }] })).toEqual(["key"]);
    const other = Buffer.from(fromBase64(key.x));
    other[0] = (other[0] ?? 0) ^ 1;
    expect(failing({ ...good, keys: [{ ...key, x: other.toString("base64url") }] })).toEqual(["signature", "key"]);
  });
});
