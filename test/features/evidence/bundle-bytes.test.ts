import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { inflateRawSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { examinePdf, examineToken } from "../../../apps/shared/validation/examine.ts";
import { toHex } from "../../../server/features/evidence/anchors/anchor.ts";
import { type BundleReport, checkBundle, type Pins } from "../../../server/features/evidence/bundle/check.ts";
import { bundleFiles, type Files } from "../../../server/features/evidence/bundle/contents.ts";
import { pemsIn } from "../../../server/features/evidence/bundle/read.ts";
import { readZip, zipParts } from "../../../server/features/evidence/bundle/zip.ts";
import { Anchor } from "../../../server/features/evidence/contract.ts";
import { saidStep, sha256 } from "../../../server/features/evidence/verify.ts";
import { evidenceWords, verifyBundle } from "../../../server/features/evidence/verify-file.ts";
import { rotateAuthority } from "../../../server/features/keys/authority.ts";
import { rotateKey } from "../../../server/features/keys/ceremony.ts";
import { AnchorKeys } from "../../../server/features/keys/contract.ts";
import { canonicalize } from "../../../server/kernel/canonical.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { type Authority, makeAuthority } from "../../harness/authority.ts";
import { pinsFrom, sealedEnvelope } from "../../harness/bundles.ts";
import { movableClock } from "../../harness/clock.ts";
import { ok, publishTemplate } from "../../harness/scenario.ts";
import { forgedTimestamp } from "../../harness/tsa-faults.ts";

/**
 * Every file of a real bundle, and every member of its JSON, changed or left out: each change is noticed under pinned keys, or
 * what was changed is on the list of what proves nothing (docs/decisions/024). The page and the command run this one check.
 */

// An outside authority stamps by the machine's own clock.
const clock = movableClock(new Date(Date.now() - 240_000).toISOString());
let outside: Authority;
let server: Server;
let app: TestAppliance;
let files: Files;
let pins: Pins;

beforeAll(async () => {
  outside = makeAuthority({ name: "Outside", seal: "ec-p256" });
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => response.writeHead(200).end(forgedTimestamp(Buffer.concat(chunks), outside)));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  app = await startAppliance({
    clock,
    env: {
      SIGNET_ANCHOR_TIMESTAMP: "true",
      SIGNET_TSA_URLS: `http://127.0.0.1:${port}/tsa`,
      SIGNET_OUTBOUND_ALLOW: `tsa=127.0.0.1:${port}`,
      SIGNET_CA_FILE: outside.caPem,
    },
  });
  const template = await publishTemplate(app);
  await sealedEnvelope(app, clock, template);
  // Keys and an authority of before are in the bundle, and its anchor is not the first.
  await rotateKey(app.deps, { use: "anchor", fresh: {} });
  await rotateAuthority(app.deps);
  clock.advance(1000);
  const id = await sealedEnvelope(app, clock, template);
  // The anchor's own time stamp.
  await app.jobs.idle();
  const zip = Buffer.from(await (await app.call(`/v1/envelopes/${id}/evidence`)).arrayBuffer());
  files = new Map(await readZip(zip, async (bytes) => inflateRawSync(bytes))).set(
    bundleFiles.verifier,
    Buffer.from("<!doctype html><title>Check</title>"),
  );
  const { keys } = AnchorKeys.parse((await ok(app, 200, "/.well-known/svc/keys.json", { key: null })).body);
  pins = { ...(await pinsFrom(app)), kids: [], keys };
}, 120_000);
afterAll(async () => {
  await app?.stop();
  server?.close();
  outside?.close();
});

/** The PDFs stay the same under most changes; what the real check said of them is kept. */
const examined = new WeakMap<Uint8Array, Map<string, ReturnType<typeof examinePdf>>>();
const pdf: typeof examinePdf = (bytes, trusted, at) => {
  const under = [...trusted.seals, new Uint8Array(0), ...trusted.timestamps].map((one) => toHex(sha256(one))).join(" ");
  const known = examined.get(bytes) ?? new Map<string, ReturnType<typeof examinePdf>>();
  const report = known.get(under) ?? examinePdf(bytes, trusted, at);
  examined.set(bytes, known.set(under, report));
  return report;
};
const check = (changed: Files, under = pins): Promise<BundleReport> =>
  checkBundle(changed, under, { pdf, token: examineToken, at: clock.ts() });

const put = (name: string, bytes: Uint8Array): Files => new Map(files).set(name, bytes);
const bytesOf = (name: string): Uint8Array => {
  const bytes = files.get(name);
  if (!bytes) throw new Error(`no ${name}`);
  return bytes;
};
const names = () => [...files.keys()];
/** Small, and looked at in little time: under other authorities the PDFs are checked anew. */
const isQuick = (file: string, bytes: Uint8Array) => bytes.length < 800 && !file.endsWith(".pem");

/** What nothing proves, of the bundle as it came: the whole list. */
const expected = [
  { file: "README.txt", part: null, reason: "unproven-explains" },
  { file: "verify.html", part: null, reason: "unproven-explains" },
  { file: "anchor.json", part: "consistency", reason: "unproven-consistency" },
  { file: "anchor.json", part: "timestampToken", reason: "unproven-token-certificates" },
];

/** Noticed, or on the list. @param part the JSON member that was changed */
async function expectNoticed(where: string, changed: Files, { file, part }: { file: string; part?: string }) {
  const report = await check(changed);
  if (report.verdict !== "valid") return;
  const named = report.unproven.find((one) => one.file === file && (one.part === null || one.part === part));
  const added = report.unproven.find((one) => one.file === file && !expected.some((known) => sameEntry(known, one)));
  expect(named ?? added, `${where} was changed, and nobody noticed`).toBeDefined();
}
const sameEntry = (a: { file: string; part: string | null }, b: { file: string; part: string | null }) =>
  a.file === b.file && a.part === b.part;

test("as it came it is proven, and all that proves nothing is named", async () => {
  const report = await check(files);
  expect(report.verdict).toBe("valid");
  expect(report.unproven).toEqual(expected);
  const notes = report.steps.filter(({ ok: holds, name }) => holds === null && name === "files");
  expect(notes.map(({ code, values: { file, part } }) => ({ file, part, reason: code }))).toEqual(expected);
  const entries = [...files].map(([name, bytes]) => ({ name, bytes }));
  const zip = Buffer.concat(zipParts(entries, clock.ts()));
  const told = await verifyBundle({ pool: app.deps.pool, clock }, zip, pins);
  expect(told).toMatchObject({ verdict: "valid", exitCode: 0, unproven: expected });
  expect(told.steps).toEqual(report.steps.map((step) => saidStep(evidenceWords(), step)));
});

describe("a byte of", () => {
  test("every file", async () => {
    for (const file of names()) {
      const bytes = bytesOf(file);
      const step = isQuick(file, bytes) ? 1 : Math.ceil(bytes.length / (file.endsWith(".pdf") ? 6 : 40));
      for (let place = 0; place < bytes.length; place += step) {
        const changed = Uint8Array.from(bytes);
        changed[place] = (changed[place] ?? 0) ^ (place % 2 === 0 ? 1 : 2);
        // The member is judged below, where it is known which it is.
        await expectNoticed(`byte ${place} of ${file}`, put(file, changed), {
          file,
          ...(file === bundleFiles.anchor ? { part: "consistency" } : {}),
        });
      }
    }
  }, 300_000);
});

type Place = { path: (string | number)[]; value: z.core.util.JSONType };
function* members(value: z.core.util.JSONType, path: Place["path"] = []): Generator<Place> {
  yield { path, value };
  if (Array.isArray(value)) for (const [index, one] of value.entries()) yield* members(one, [...path, index]);
  else if (value !== null && typeof value === "object")
    for (const [name, one] of Object.entries(value)) yield* members(one, [...path, name]);
}

/** Other values of the same kind, so that a schema alone does not refuse them. */
function others(value: z.core.util.JSONType): z.core.util.JSONType[] {
  if (typeof value === "number") return [value + 1];
  if (typeof value === "boolean") return [!value];
  if (value === null) return ["2026-11-21T12:00:00.000Z", "AAAA"];
  if (typeof value === "string") return [shifted(value, 0), shifted(value, value.length - 1), ""];
  if (Array.isArray(value)) return [[...value, ...value.slice(-1)], value.slice(1)];
  return [{ ...value, another: 1 }];
}
function shifted(text: string, place: number): string {
  const at = text.slice(place).search(/[0-9a-zA-Z]/) + place;
  const before = text.slice(0, at);
  const one = text[at] ?? "a";
  const next =
    one === "9"
      ? "8"
      : one === "f"
        ? "e"
        : one === "z"
          ? "y"
          : one === "Z"
            ? "Y"
            : String.fromCharCode(one.charCodeAt(0) + 1);
  return `${before}${next}${text.slice(at + 1)}`;
}
function replaced(value: z.core.util.JSONType, path: Place["path"], by: z.core.util.JSONType): z.core.util.JSONType {
  const [first, ...rest] = path;
  if (first === undefined) return by;
  if (Array.isArray(value)) return value.map((one, index) => (index === first ? replaced(one, rest, by) : one));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, name === first ? replaced(one, rest, by) : one]),
  );
}

describe("a member of", () => {
  test.each([bundleFiles.audit, bundleFiles.leaf, bundleFiles.proof, bundleFiles.anchor, bundleFiles.keys])(
    "%s changed",
    async (file) => {
      const whole = z.json().parse(JSON.parse(Buffer.from(bytesOf(file)).toString()));
      let count = 0;
      for (const { path, value } of members(whole)) {
        // A trail has many members of the same kind.
        for (const other of file === bundleFiles.audit ? others(value).slice(0, 1) : others(value)) {
          const text = canonicalize(replaced(whole, path, other));
          if (text === canonicalize(whole)) continue;
          count += 1;
          const part = String(path[0]);
          await expectNoticed(`${file} ${path.join(".")}`, put(file, Buffer.from(text)), { file, part });
        }
      }
      expect(count).toBeGreaterThan(8);
    },
    300_000,
  );

  test("keys.json that contradicts the keys of elsewhere, or does not belong to its own thumbprint, is wrong", async () => {
    const { keys } = AnchorKeys.parse(JSON.parse(Buffer.from(bytesOf(bundleFiles.keys)).toString()));
    expect(keys).toHaveLength(2);
    for (const at of [0, 1])
      for (const change of [
        { x: shifted(keys[at]?.x ?? "", 0) },
        { kid: shifted(keys[at]?.kid ?? "", 0) },
        { validFrom: "2020-01-01T00:00:00.000Z" },
      ]) {
        const list = keys.map((key, index) => (index === at ? { ...key, ...change } : key));
        const report = await check(put(bundleFiles.keys, Buffer.from(canonicalize({ keys: list }))));
        expect(report.verdict, `${at} ${Object.keys(change)}`).toBe("invalid");
      }
  });
});

describe("a list of", () => {
  const text = (file: string) => Buffer.from(bytesOf(file)).toString();
  const pems = (file: string) => text(file).split(/(?<=-----END CERTIFICATE-----\n)/);
  const print = (pem: string) => toHex(sha256(pemsIn(pem)[0] ?? new Uint8Array(0)));
  const withPems = (list: readonly string[]) => put(bundleFiles.authorities, Buffer.from(list.join("")));
  /** What is named beyond the bundle as it came, which is valid as that was. */
  const named = async (changed: Files, under?: Pins) => {
    const report = await check(changed, under);
    expect(report.verdict).toBe("valid");
    expect(report.unproven).toEqual(expect.arrayContaining(expected));
    return report.unproven.filter((one) => !expected.some((known) => sameEntry(known, one)));
  };
  const file = bundleFiles.authorities;

  test("authorities holds each once, in one order, and nobody who is trusted for something else", async () => {
    const own = pems(file);
    const [stamping = ""] = pems(bundleFiles.timestampAuthorities);
    expect(own.map(print)).toEqual(own.map(print).sort());
    expect(own).toHaveLength(2);
    // As older versions may have written it.
    expect(await named(withPems([...own].reverse()))).toEqual([{ file, part: "order", reason: "unproven-order" }]);
    for (const list of [
      [...own, ...own],
      [...own, stamping],
    ])
      expect((await check(withPems(list))).verdict).toBe("invalid");
    expect((await check(put(bundleFiles.timestampAuthorities, Buffer.of()))).verdict).toBe("invalid");
    const merged = new Map(withPems([...own, stamping].sort((a, b) => (print(a) < print(b) ? -1 : 1))));
    merged.delete(bundleFiles.timestampAuthorities);
    expect(await named(merged)).toEqual([{ file, part: print(stamping), reason: "unproven-authority" }]);
  });

  test("authorities lacks none that is known from elsewhere without a word", async () => {
    const left = await Promise.all(
      pems(file).map(async (pem, index, all) => {
        const changed = withPems(all.filter((_, at) => at !== index));
        const missing = { file, part: print(pem), reason: "unproven-authority-missing" };
        const report = await check(changed);
        expect(report.unproven).toContainEqual(missing);
        return report.verdict;
      }),
    );
    // The seal leads to one of them; nothing depends on that of before.
    expect(left.sort()).toEqual(["invalid", "valid"]);
    const more = "ab".repeat(32);
    expect(await named(files, { ...pins, timestamps: [...(pins.timestamps ?? []), more] })).toEqual([
      { file: bundleFiles.timestampAuthorities, part: more, reason: "unproven-authority-missing" },
    ]);
  });

  test("keys stands in one order", async () => {
    const { keys } = AnchorKeys.parse(JSON.parse(text(bundleFiles.keys)));
    const changed = put(bundleFiles.keys, Buffer.from(canonicalize({ keys: [...keys].reverse() })));
    expect(await named(changed)).toEqual([{ file: bundleFiles.keys, part: "order", reason: "unproven-order" }]);
  });

  test("members of the anchor may lack its time stamp, or hold that of a stranger, and each is named", async () => {
    const anchor = Anchor.parse(JSON.parse(text(bundleFiles.anchor)));
    const token = Buffer.from(anchor.timestampToken ?? "", "base64");
    const stampedAs = (timestampToken: string | null) =>
      put(bundleFiles.anchor, Buffer.from(canonicalize({ ...anchor, timestampToken })));
    const reasonOf = ({ unproven }: BundleReport) => unproven.find(({ part }) => part === "timestampToken")?.reason;
    const without = await check(stampedAs(null));
    expect([without.verdict, reasonOf(without)]).toEqual(["valid", "unproven-token-missing"]);
    // The seals lead to the same authority here, so that nothing is proven without it.
    expect(reasonOf(await check(files, { ...pins, timestamps: [] }))).toBe("unproven-token");
    // What it stamps, when, and the signature over that.
    const stamped = token.indexOf(Buffer.from(anchor.anchorHash, "hex"));
    for (const place of [stamped, stamped + 40, token.length - 20]) {
      const changed = Buffer.from(token);
      changed[place] = (changed[place] ?? 0) ^ 1;
      expect((await check(stampedAs(changed.toString("base64")))).verdict).toBe("invalid");
    }
  });
});

test("every file left out is noticed, or named as missing", async () => {
  for (const file of names()) {
    const report = await check(new Map([...files].filter(([name]) => name !== file)));
    const listed = report.unproven.find((one) => one.file === file);
    if (report.verdict === "valid") expect(listed, file).toEqual({ file, part: null, reason: "unproven-missing" });
  }
  const without = await check(new Map([...files].filter(([name]) => name !== bundleFiles.checkpoint)));
  expect(without.steps.find(({ values }) => values.file === bundleFiles.checkpoint)).toMatchObject({
    code: "unproven-missing",
    values: { file: "checkpoint.txt" },
  });
});
