import { inflateRawSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { examinePdf, examineToken } from "../../../apps/shared/validation/examine.ts";
import { toHex } from "../../../server/features/evidence/anchor.ts";
import { type BundleReport, checkBundle, type Pins } from "../../../server/features/evidence/bundle.ts";
import { bundleFiles, type Files } from "../../../server/features/evidence/bundle-contents.ts";
import { sha256 } from "../../../server/features/evidence/verify.ts";
import { verifyBundle } from "../../../server/features/evidence/verify-file.ts";
import { readZip, zipParts } from "../../../server/features/evidence/zip.ts";
import { rotateAuthority } from "../../../server/features/keys/authority.ts";
import { rotateKey } from "../../../server/features/keys/ceremony.ts";
import { AnchorKeys } from "../../../server/features/keys/contract.ts";
import { canonicalize } from "../../../server/kernel/canonical.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { movableClock, ok, publishTemplate } from "../signing/flow.ts";
import { pinsFrom, sealedEnvelope } from "./bundle-support.ts";

/**
 * Every file of a real bundle, and every member of its JSON, changed or left out: each change is noticed under pinned keys, or
 * what was changed is on the list of what proves nothing (docs/decisions/024). The page and the command run this one check.
 */

const clock = movableClock();
let app: TestAppliance;
let files: Files;
let pins: Pins;

beforeAll(async () => {
  app = await startAppliance({ clock });
  const template = await publishTemplate(app);
  await sealedEnvelope(app, clock, template);
  // Keys and an authority of before are in the bundle, and its anchor is not the first.
  await rotateKey(app.deps, { use: "anchor", fresh: {} });
  await rotateAuthority(app.deps);
  clock.advance(60_000);
  const id = await sealedEnvelope(app, clock, template);
  const zip = Buffer.from(await (await app.call(`/v1/envelopes/${id}/evidence`)).arrayBuffer());
  files = new Map(await readZip(zip, async (bytes) => inflateRawSync(bytes))).set(
    bundleFiles.verifier,
    Buffer.from("<!doctype html><title>Check</title>"),
  );
  const { keys } = AnchorKeys.parse((await ok(app, 200, "/.well-known/svc/keys.json", { key: null })).body);
  pins = { ...(await pinsFrom(app)), kids: [], keys };
}, 120_000);
afterAll(async () => await app?.stop());

/** The PDFs stay the same under most changes; what the real check said of them is kept. */
const examined = new WeakMap<Uint8Array, Map<string, ReturnType<typeof examinePdf>>>();
const pdf: typeof examinePdf = (bytes, trusted, at) => {
  const under = [...trusted.seals, new Uint8Array(0), ...trusted.timestamps].map((one) => toHex(sha256(one))).join(" ");
  const known = examined.get(bytes) ?? new Map<string, ReturnType<typeof examinePdf>>();
  const report = known.get(under) ?? examinePdf(bytes, trusted, at);
  examined.set(bytes, known.set(under, report));
  return report;
};
const check = (changed: Files): Promise<BundleReport> =>
  checkBundle(changed, pins, { pdf, token: examineToken, at: clock.ts() });

const put = (name: string, bytes: Uint8Array): Files => new Map(files).set(name, bytes);
const bytesOf = (name: string): Uint8Array => {
  const bytes = files.get(name);
  if (!bytes) throw new Error(`no ${name}`);
  return bytes;
};
const names = () => [...files.keys()];
const isSmall = (bytes: Uint8Array) => bytes.length < 800;

/** What nothing proves, of the bundle as it came: the whole list. */
const expected = [
  { file: "README.txt", part: null, reason: "unproven-explains" },
  { file: "verify.html", part: null, reason: "unproven-explains" },
  { file: "anchor.json", part: "consistency", reason: "unproven-consistency" },
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
  expect(told.steps).toEqual(report.steps);
});

describe("a byte of", () => {
  test("every file", async () => {
    for (const file of names()) {
      const bytes = bytesOf(file);
      const step = isSmall(bytes) ? 1 : Math.ceil(bytes.length / (file.endsWith(".pdf") ? 6 : 40));
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

test("every file left out is noticed, or named as missing", async () => {
  for (const file of names()) {
    const report = await check(new Map([...files].filter(([name]) => name !== file)));
    const listed = report.unproven.find((one) => one.file === file);
    if (report.verdict === "valid") expect(listed, file).toEqual({ file, part: null, reason: "unproven-missing" });
  }
  const without = await check(new Map([...files].filter(([name]) => name !== bundleFiles.checkpoint)));
  expect(without.steps.find(({ values }) => values.file === bundleFiles.checkpoint)).toMatchObject({
    code: "unproven-missing",
    detail: expect.stringContaining("checkpoint.txt is missing"),
  });
});
