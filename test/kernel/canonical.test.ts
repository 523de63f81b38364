import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalize, type Json } from "../../server/kernel/canonical.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const zeros = "0".repeat(64);

const entry1 = {
  v: 1,
  seq: 1,
  id: "evt_000000000000000000000001",
  envelope: "env_000000000000000000000001",
  type: "envelope.created",
  at: "2026-11-21T09:10:00.000Z",
  actor: { type: "api_key", id: "key_000000000000000000000001", name: "CI", email: null },
  ip: "192.0.2.1",
  userAgent: null,
  data: { title: "Zürich — Vertrag" },
  prevHash: zeros,
};

test("audit entries of the contract's test vectors", () => {
  expect(canonicalize(entry1)).toBe(
    '{"actor":{"email":null,"id":"key_000000000000000000000001","name":"CI","type":"api_key"},"at":"2026-11-21T09:10:00.000Z","data":{"title":"Zürich — Vertrag"},"envelope":"env_000000000000000000000001","id":"evt_000000000000000000000001","ip":"192.0.2.1","prevHash":"0000000000000000000000000000000000000000000000000000000000000000","seq":1,"type":"envelope.created","userAgent":null,"v":1}',
  );
  const hash1 = sha256(canonicalize(entry1));
  expect(hash1).toBe("fddbf7b8ed60710cdf8e0edc6a6a1469899a04c798f358c577a929adf137a2a6");
  const entry2 = {
    ...entry1,
    seq: 2,
    id: "evt_000000000000000000000002",
    type: "envelope.ready",
    at: "2026-11-21T09:10:01.250Z",
    data: { documentSha256: sha256("%PDF-1.7") },
    prevHash: hash1,
  };
  expect(sha256(canonicalize(entry2))).toBe("0bb52b939d960413d76f6da00592c59760e7bdcb989ab219a7d3e9fe93476c04");
});

test("leaf and anchor of the contract's test vectors", () => {
  const leaf = {
    type: "svc.leaf",
    v: 1,
    envelope: "env_000000000000000000000001",
    documentSha256: "c63ebdcbe00c06b7d93143056be2bb37d7edc77c5076c1dd3b1c9931f36ddb8a",
    auditHash: "837d256f26f731c28b89485251590fb308ea26ca9e71c3b3dcd04752ca76e603",
    sealedAt: "2026-11-21T09:11:00.000Z",
    testMode: false,
  };
  const leafHash = createHash("sha256").update(Buffer.of(0)).update(canonicalize(leaf)).digest("hex");
  expect(leafHash).toBe("dfa43ed811852a291a985eb8380a181e0c320cfc2b4ac90fe04208e5c6b2d4e3");
  const anchor = {
    type: "svc.anchor",
    v: 1,
    sequence: 1,
    treeSize: 3,
    rootHash: "4b7fbfdc3bfd5c87ca5762867a270936c6026d022e2d62f1742a09bbb079b3d5",
    previousAnchorHash: null,
    kid: "1IG2tMH7J2wbJZnOf8LJzQitKf7LMvoAElsuDMVM54Y",
    createdAt: "2026-11-21T09:20:00.000Z",
  };
  expect(sha256(canonicalize(anchor))).toBe("1873c75b37d7a312e2d234c0dfc9d1182e20e5ca02ed38ed408c6a7e4626b163");
});

test("the examples of RFC 8785: numbers, escapes, order by UTF-16 code units", () => {
  expect(canonicalize([Number("333333333.33333329"), 1e30, 4.5, 2e-3, 0.000000000000000000000000001, -0, 1e21])).toBe(
    "[333333333.3333333,1e+30,4.5,0.002,1e-27,0,1e+21]",
  );
  expect(canonicalize('€$\u000f\nA\'B"\\\\"/')).toBe('"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"');
  const names = ["\u20ac", "\r", "\ufb33", "1", "\u{1f600}", "\u0080", "\u00f6"];
  expect(canonicalize(Object.fromEntries(names.map((name) => [name, 0])))).toBe(
    '{"\\r":0,"1":0,"\u0080":0,"\u00f6":0,"\u20ac":0,"\u{1f600}":0,"\ufb33":0}',
  );
});

test("it is valid JSON of the same value, whatever the order of the members", () => {
  const shuffle = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(shuffle);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([name, member]) => [name, shuffle(member)]),
    );
  };
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: "binary", maxDepth: 4 }), (value) => {
      fc.pre(JSON.stringify(value).isWellFormed() && !/\\ud[89a-f]/i.test(JSON.stringify(value)));
      const text = canonicalize(value as Json);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      expect(canonicalize(shuffle(value) as Json)).toBe(text);
    }),
  );
});

test("what JSON cannot hold is refused", () => {
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, "\ud800", { "\udc00": 1 }, undefined, [undefined], 1n]) {
    expect(() => canonicalize(value as Json)).toThrow(TypeError);
  }
  expect(() => canonicalize({ at: new Date() } as unknown as Json)).toThrow(TypeError);
});
