import { createHash, randomBytes } from "node:crypto";
import { readdir, readFile, readlink, writeFile } from "node:fs/promises";
import http from "node:http";
import path from "node:path";
import { inflateRawSync } from "node:zlib";
import { PDFDocument, PDFName } from "pdf-lib";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { readZip } from "../../../server/features/evidence/bundle/zip.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { sealedEnvelope } from "../../harness/bundles.ts";
import { movableClock } from "../../harness/clock.ts";
import { heldBytes } from "../../harness/memory.ts";
import { enter, envelopeOf, publishTemplate, refusal, send, submission } from "../../harness/scenario.ts";

/** Large documents over HTTP: sent as they are read, at the pace of who reads, and never held as a whole. */

vi.setConfig({ testTimeout: 180_000 });
const clock = movableClock();
let app: TestAppliance;
let envelope: string;
let sealedSha256: string;
/** Of somebody who signs another copy of the same document. */
let signer: string;
let cookie: string;

beforeAll(async () => {
  app = await startAppliance({ clock });
  const pdf = await PDFDocument.create();
  for (let page = 0; page < 2; page += 1) pdf.addPage([595, 842]);
  pdf.getPage(0).node.set(PDFName.of("PieceInfo"), pdf.context.register(pdf.context.stream(randomBytes(24e6))));
  const template = await publishTemplate(app, { pdf: await pdf.save({ useObjectStreams: false }) });
  envelope = await sealedEnvelope(app, clock, template);
  sealedSha256 = (await envelopeOf(app, envelope)).sealedSha256 ?? "";
  await send(app, template);
  signer = await enter(app, "ada@example.com");
  await submission(app, signer);
  cookie = await app.signIn();
});
afterAll(() => app?.stop());

const downloads = (): [string, Record<string, string>][] => [
  [`/v1/envelopes/${envelope}/evidence`, { authorization: `Bearer ${app.keys.live}` }],
  [`/v1/envelopes/${envelope}/evidence`, { cookie }],
  [`/v1/envelopes/${envelope}/document?version=sealed`, { authorization: `Bearer ${app.keys.live}` }],
  [`/v1/envelopes/${envelope}/document?version=sealed`, { cookie }],
  [`/v1/envelopes/${envelope}/document?version=original`, { cookie }],
  ["/v1/signing/document", { authorization: `Bearer ${signer}` }],
];

/** A reader that stops in the middle of the document; `rest` reads on, a piece at a time. */
async function stopInTheMiddle(target: string, headers: Record<string, string>) {
  const request = http.get(new URL(target, app.url), { headers, agent: false });
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    request.once("response", resolve).once("error", reject);
  });
  expect(response.statusCode).toBe(200);
  const pieces: Buffer[] = [];
  let bytes = 0;
  const more = response[Symbol.asyncIterator]();
  const next = async () => {
    const { done, value } = await more.next();
    if (done) return false;
    pieces.push(value);
    bytes += value.length;
    return true;
  };
  while (bytes < 2e6) await next();
  return {
    request,
    length: Number(response.headers["content-length"]),
    async rest() {
      while (await next());
      return Buffer.concat(pieces);
    },
  };
}

/** Files of the store that this process holds open. */
async function openBlobs(): Promise<number> {
  const names = await readdir("/proc/self/fd");
  const files = await Promise.all(names.map((name) => readlink(path.join("/proc/self/fd", name)).catch(() => "")));
  return files.filter((file) => file.startsWith(path.join(app.folder, "blobs") + path.sep)).length;
}

test("readers that stop in the middle hold a piece each; who reads on gets all, who goes away leaves nothing behind", async () => {
  expect(await openBlobs()).toBe(0);
  const before = await heldBytes();
  const readers = [];
  for (const [target, headers] of downloads()) readers.push(await stopInTheMiddle(target, headers));
  // Not each of them for certain: the system's own buffer of a connection may grow to take a whole document.
  expect(await openBlobs()).toBeGreaterThan(0);
  // Each of them was sent 2 MB of 24; held as wholes they would be 150 MB.
  const during = (await heldBytes()) - before - readers.length * 2e6;
  expect(during).toBeLessThan(15e6);

  const [bundle, , sealed, ...others] = readers;
  const document = await sealed?.rest();
  expect(document?.length).toBe(sealed?.length);
  expect(
    createHash("sha256")
      .update(document ?? "")
      .digest("hex"),
  ).toBe(sealedSha256);
  const files = await readZip((await bundle?.rest()) ?? Buffer.alloc(0), async (bytes) => inflateRawSync(bytes));
  const inside = [...files].find(([name]) => name === "document.pdf")?.[1] ?? Buffer.alloc(0);
  expect(createHash("sha256").update(inside).digest("hex")).toBe(sealedSha256);

  await expect.poll(openBlobs).toBeLessThanOrEqual(readers.length - 2);
  for (const { request } of [...readers.slice(1, 2), ...others]) request.destroy();
  await expect.poll(openBlobs).toBe(0);
  readers.length = 0;
});

test("nothing of it is left in memory", async () => {
  const before = await heldBytes();
  for (const [target, headers] of downloads()) {
    const { request } = await stopInTheMiddle(target, headers);
    request.destroy();
  }
  await expect.poll(openBlobs).toBe(0);
  await expect.poll(async () => (await heldBytes()) - before).toBeLessThan(5e6);
});

test("a range of a large document is that part of it, and what is known is not sent again", async () => {
  const target = `/v1/envelopes/${envelope}/document?version=sealed`;
  const whole = Buffer.from(await (await app.call(target)).arrayBuffer());
  for (const [range, from, to] of [
    ["bytes=0-99", 0, 100],
    ["bytes=262100-600000", 262_100, 600_001],
    [`bytes=${whole.length - 10}-`, whole.length - 10, whole.length],
    ["bytes=-300000", whole.length - 300_000, whole.length],
  ] as const) {
    const part = await app.call(target, { headers: { range } });
    expect([part.status, part.headers.get("content-length")]).toEqual([206, String(to - from)]);
    expect(Buffer.from(await part.arrayBuffer()).equals(whole.subarray(from, to))).toBe(true);
  }
  const known = await app.call(target, { headers: { "if-none-match": `"${sealedSha256}"` } });
  expect([known.status, await known.text()]).toEqual([304, ""]);
});

test("of a file that was damaged not one byte is sent, and a bundle with it is cut off", async () => {
  const file = path.join(app.folder, "blobs", sealedSha256.slice(0, 2), sealedSha256.slice(2, 4), sealedSha256);
  const bytes = await readFile(file);
  const broken = Buffer.from(bytes);
  const last = broken.length - 1000;
  broken[last] = (broken[last] ?? 0) ^ 1;
  await writeFile(file, broken);
  const target = `/v1/envelopes/${envelope}/document?version=sealed`;
  expect(await refusal(app, target)).toMatchObject({ status: 503, code: "service-unavailable" });
  const bundle = await app.call(`/v1/envelopes/${envelope}/evidence`);
  await expect(bundle.arrayBuffer()).rejects.toThrow();
  expect(await openBlobs()).toBe(0);
  await writeFile(file, bytes);
});
