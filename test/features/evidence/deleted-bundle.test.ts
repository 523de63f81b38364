import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { crc32, inflateRawSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { examinePdf, examineToken } from "../../../apps/shared/validation/examine.ts";
import { runCli } from "../../../server/cli.ts";
import { checkBundle, type Pins } from "../../../server/features/evidence/bundle/check.ts";
import { bundleFiles } from "../../../server/features/evidence/bundle/contents.ts";
import { readZip, zipParts, zipPieces } from "../../../server/features/evidence/bundle/zip.ts";
import { changeRetention } from "../../../server/features/retention/service.ts";
import { permissions } from "../../../server/kernel/wire.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { pinsFrom, sealedEnvelope } from "../../harness/bundles.ts";
import { movableClock } from "../../harness/clock.ts";
import { heldBytes } from "../../harness/memory.ts";
import { dayMs, runNow } from "../../harness/retention.ts";
import { publishTemplate } from "../../harness/scenario.ts";

/** What is left to prove a document that retention deleted, and how a bundle is made without holding it. */

const clock = movableClock();
let app: TestAppliance;
let folder: string;
let kept: Uint8Array;
let files: Map<string, Uint8Array>;
let pins: Pins;
const at = (name: string) => path.join(folder, name);

async function bundleOf(id: string): Promise<Buffer> {
  const response = await app.call(`/v1/envelopes/${id}/evidence`);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("application/zip");
  return Buffer.from(await response.arrayBuffer());
}
const unpack = (zip: Uint8Array) => readZip(zip, async (bytes) => inflateRawSync(bytes));

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "signet-deleted-"));
  app = await startAppliance({ clock });
  const id = await sealedEnvelope(app, clock, await publishTemplate(app));
  kept = (await unpack(await bundleOf(id))).get(bundleFiles.document) ?? new Uint8Array(0);
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
  await changeRetention(app.deps, caller, { keepDays: 1, ifMatch: null, ip: "127.0.0.1" });
  clock.advance(2 * dayMs);
  await runNow(app);
  const zip = await bundleOf(id);
  files = await unpack(zip);
  pins = await pinsFrom(app);
  await writeFile(at("evidence.zip"), zip);
  await writeFile(at("kept.pdf"), kept);
  await writeFile(at("changed.pdf"), Buffer.concat([kept, Buffer.from("\n")]));
});
afterAll(async () => {
  await app?.stop();
  await rm(folder, { recursive: true, force: true });
});

const check = (all: ReadonlyMap<string, Uint8Array>, held?: Uint8Array) =>
  checkBundle(all, pins, { pdf: examinePdf, token: examineToken, at: clock.ts() }, held);

test("the bundle of deleted documents holds their hashes, and proves a copy that somebody kept", async () => {
  const names = [...files.keys()];
  expect(names).not.toContain(bundleFiles.document);
  expect(names).not.toContain(bundleFiles.certificate);
  expect(names.filter((name) => name.startsWith("attachments/"))).toEqual([]);
  expect(Buffer.from(files.get(bundleFiles.readme) ?? []).toString()).toContain("were deleted on");
  expect((await check(files)).verdict).toBe("no-document");
  const proven = await check(files, kept);
  expect(proven.verdict).toBe("valid");
  expect(proven.steps.map(({ code }) => code)).toEqual(
    expect.arrayContaining(["document-fits", "attachments-deleted", "certificate-deleted", "pdf-sealed"]),
  );
  expect((await check(files, Uint8Array.of(...kept, 10))).verdict).toBe("invalid");
  // The trail ends with what the leaf fixes: the entry of the deletion would be anybody's. One file alone is missed.
  const trail = z
    .array(z.object({ type: z.string() }))
    .parse(JSON.parse(Buffer.from(files.get(bundleFiles.audit) ?? []).toString()));
  expect(trail.at(-1)?.type).toBe("envelope.sealed");
  const half = new Map([...files, [bundleFiles.document, kept]]);
  expect((await check(half)).verdict).toBe("invalid");
});

test("`signet verify` passes on the kept copy, by its hash and by the bundle", async () => {
  const verify = async (...args: string[]) => {
    let out = "";
    const env = { SIGNET_DATA_DIR: app.folder, SIGNET_LOG_LEVEL: "silent" };
    const code = await runCli(["verify", ...args], env, {
      stdout: (text) => {
        out += text;
      },
      stderr: (text) => {
        out += text;
      },
      stdin: (async function* () {
        yield "";
      })(),
      interactive: false,
      onSignal: () => undefined,
    });
    return { code, out };
  };
  expect(await verify(at("kept.pdf"))).toMatchObject({ code: 0 });
  expect(await verify(at("kept.pdf"), "--bundle", at("evidence.zip"))).toMatchObject({ code: 0 });
  expect(await verify(at("evidence.zip"))).toMatchObject({ code: 2 });
  // Several at once: a line of JSON for each, and the worst of their codes.
  const many = await verify(at("kept.pdf"), at("changed.pdf"), at("evidence.zip"), at("absent.pdf"), "--json");
  expect(many.code).toBe(1);
  const Line = z.object({ file: z.string(), verdict: z.string(), exitCode: z.int(), causes: z.array(z.string()) });
  const lines = many.out
    .trim()
    .split("\n")
    .map((line) => Line.parse(JSON.parse(line)));
  expect(lines.map(({ verdict, exitCode }) => [verdict, exitCode])).toEqual([
    ["valid", 0],
    ["unknown", 1],
    ["no-document", 2],
    ["unreadable", 1],
  ]);
  expect(lines[1]?.causes).toEqual(["document-unknown", "bytes-after-seal"]);
  expect(lines[3]?.causes).toEqual(["no-such-file"]);
});

test("of an archive that is read slowly, one file at a time is held", async () => {
  const size = 25 * 1024 * 1024;
  const names = ["document.pdf", "a.pdf", "b.pdf", "c.pdf", "d.pdf", "e.pdf"];
  const sources = names.map((name, index) => ({ name, content: async () => new Uint8Array(size).fill(index) }));
  const before = await heldBytes();
  let [most, length, pieces] = [0, 0, 0];
  for await (const piece of zipPieces(sources, "2026-11-21T12:00:00.000Z", crc32)) {
    length += piece.length;
    pieces += 1;
    if (pieces % 60 === 0) most = Math.max(most, (await heldBytes()) - before);
  }
  expect(length).toBeGreaterThan(names.length * size);
  // The one that is written, and the one before it while the next begins.
  expect(most).toBeLessThan(2.2 * size);
});

test("piece by piece it is the same archive", async () => {
  const entries = [
    { name: "a.txt", bytes: Buffer.from("hello") },
    { name: "ü/b.bin", bytes: Buffer.alloc(700_000, 7) },
  ];
  const sources = entries.map(({ name, bytes }) => ({ name, content: async () => bytes }));
  const pieces: Uint8Array[] = [];
  for await (const piece of zipPieces(sources, "2026-11-21T12:00:00.000Z")) pieces.push(piece);
  const parts = zipParts(entries, "2026-11-21T12:00:00.000Z");
  expect(Buffer.concat(pieces).equals(Buffer.concat(parts))).toBe(true);
});
