import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { deflateSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Problem } from "../../server/kernel/problem.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";

/** Each bad input gets a 4xx problem, quickly; memory stays flat and the service answers afterwards as before. */

const fixture = path.resolve(import.meta.dirname, "../fixtures/pdf/lecture.pdf");
const quickMs = 30_000;
let appliance: TestAppliance;
let template: string;

let bombBytes: Buffer;
beforeAll(async () => {
  // Deflating a gigabyte holds this process up for seconds, in which the server would give up on open connections.
  bombBytes = bomb();
  appliance = await startAppliance();
  const { body } = await appliance.json("/v1/templates", { json: { name: "Bad input" } });
  template = Reflect.get(Object(body), "id");
  // The worker is warm before memory is looked at.
  expect((await upload(await readFile(fixture))).status).toBe(201);
});
afterAll(() => appliance.stop());

function upload(bytes: Uint8Array, type = "application/pdf"): Promise<Response> {
  return appliance.call(`/v1/templates/${template}/files`, {
    body: Buffer.from(bytes),
    headers: { "content-type": type },
  });
}

/** A minimal PDF whose objects are given; the cross-reference table is right. */
function pdfOf(objects: readonly (string | Buffer)[]): Buffer {
  const parts: Buffer[] = [Buffer.from("%PDF-1.7\n")];
  const offsets: number[] = [];
  let length = parts[0]?.length ?? 0;
  const add = (part: Buffer) => {
    parts.push(part);
    length += part.length;
  };
  objects.forEach((object, index) => {
    offsets.push(length);
    add(Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), Buffer.from(object), Buffer.from("\nendobj\n")]));
  });
  const start = length;
  const rows = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  add(
    Buffer.from(
      `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}trailer\n<</Size ${objects.length + 1}/Root 1 0 R>>\nstartxref\n${start}\n%%EOF\n`,
    ),
  );
  return Buffer.concat(parts);
}

function manyPages(count: number): Buffer {
  const kids = Array.from({ length: count }, (_, i) => `${i + 3} 0 R`).join(" ");
  const page = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Resources<<>>>>";
  return pdfOf([
    "<</Type/Catalog/Pages 2 0 R>>",
    `<</Type/Pages/Count ${count}/Kids[${kids}]>>`,
    ...Array.from({ length: count }, () => page),
  ]);
}

/** An object stream of a few megabytes that would inflate to gigabytes: zeros of zeros, deflated twice. */
function bomb(): Buffer {
  const gigabyteOfSpaces = deflateSync(Buffer.alloc(1024 ** 3, 0x20), { level: 9 });
  const stream = Buffer.concat([
    Buffer.from(`<</Type/ObjStm/N 1/First 4/Filter/FlateDecode/Length ${gigabyteOfSpaces.length}>>\nstream\n`),
    gigabyteOfSpaces,
    Buffer.from("\nendstream"),
  ]);
  const content = Buffer.concat([
    Buffer.from(`<</Filter/FlateDecode/Length ${gigabyteOfSpaces.length}>>\nstream\n`),
    gigabyteOfSpaces,
    Buffer.from("\nendstream"),
  ]);
  return pdfOf([
    "<</Type/Catalog/Pages 2 0 R>>",
    "<</Type/Pages/Count 1/Kids[3 0 R]>>",
    "<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 5 0 R/Resources<<>>>>",
    stream,
    content,
  ]);
}

async function expectProblem(response: Response, status: number, code: string): Promise<Problem> {
  const problem = Problem.parse(await response.json());
  expect({ status: response.status, code: problem.code }).toEqual({ status, code });
  expect(response.headers.get("content-type")).toContain("application/problem+json");
  expect(problem.detail.length).toBeGreaterThan(10);
  return problem;
}

async function quickly<T>(run: () => Promise<T>): Promise<T> {
  const started = performance.now();
  const value = await run();
  expect(performance.now() - started).toBeLessThan(quickMs);
  return value;
}

describe("documents", () => {
  test("a text file", async () => {
    await expectProblem(
      await quickly(() => upload(Buffer.from("This is no PDF.\n".repeat(50)))),
      422,
      "invalid-document",
    );
  });

  test("a truncated PDF", async () => {
    const bytes = await readFile(fixture);
    await expectProblem(await quickly(() => upload(bytes.subarray(0, 20_000))), 422, "invalid-document");
  });

  test("an encrypted PDF", async () => {
    const encrypted = execFileSync("qpdf", ["--encrypt", "secret", "owner", "256", "--", fixture, "-"], {
      maxBuffer: 64 * 1024 * 1024,
    });
    const problem = await expectProblem(await quickly(() => upload(encrypted)), 422, "invalid-document");
    expect(problem.detail).toMatch(/password|encrypt/i);
  });

  test("a PDF without pages", async () => {
    const empty = pdfOf(["<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Count 0/Kids[]>>"]);
    await expectProblem(await quickly(() => upload(empty)), 422, "invalid-document");
  });

  test("ten thousand pages", async () => {
    const problem = await expectProblem(await quickly(() => upload(manyPages(10_000))), 422, "invalid-document");
    expect(problem.detail).toContain("500");
  });

  test("a stream that inflates to a gigabyte costs neither memory nor time", async () => {
    expect(bombBytes.length).toBeLessThan(4 * 1024 * 1024);
    const before = process.memoryUsage().rss;
    const response = await quickly(() => upload(bombBytes));
    // A content stream is not inflated by an upload, so the file may be taken; what may not happen is to pay for it.
    expect([201, 422]).toContain(response.status);
    expect(process.memoryUsage().rss - before).toBeLessThan(600 * 1024 * 1024);
  });

  test("26 MB are refused before they are read", async () => {
    await expectProblem(await quickly(() => upload(Buffer.alloc(26 * 1024 * 1024, 0x25))), 413, "payload-too-large");
  });
});

describe("JSON", () => {
  const raw = (body: string) =>
    appliance.call("/v1/envelopes", { body, headers: { "content-type": "application/json" } });

  test("invalid, cut, not UTF-8, deep", async () => {
    await expectProblem(await raw('{"template":'), 400, "malformed-request");
    await expectProblem(await raw("{'template': 1}"), 400, "malformed-request");
    const latin = await appliance.call("/v1/envelopes", {
      body: Buffer.from([0x22, 0xe4, 0x22]),
      headers: { "content-type": "application/json" },
    });
    await expectProblem(latin, 400, "malformed-request");
    await expectProblem(await quickly(() => raw("[".repeat(500_000))), 400, "malformed-request");
    await expectProblem(
      await quickly(() => raw(`${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`)),
      400,
      "malformed-request",
    );
  });

  test("wrong types everywhere are all named", async () => {
    const wrong = {
      template: 7,
      title: [],
      recipients: [
        { role: 1, name: null, email: "no address", order: "first", delivery: "pigeon", surprise: true },
        "nobody",
      ],
      cc: {},
      metadata: { "bad key!": 1 },
      expiresAt: "soon",
      dedupeOn: "everything",
      unknown: null,
    };
    const problem = await expectProblem(await raw(JSON.stringify(wrong)), 422, "validation-failed");
    const pointers = problem.errors?.map((error) => ("pointer" in error ? error.pointer : ""));
    expect(pointers).toEqual(
      expect.arrayContaining([
        "#/template",
        "#/title",
        "#/recipients/0/role",
        "#/recipients/0/email",
        "#/recipients/1",
        "#/cc",
        "#/expiresAt",
        "#/dedupeOn",
        "#/unknown",
      ]),
    );
  });
});

test("the service is unharmed", async () => {
  expect((await appliance.call("/readyz", { key: null })).status).toBe(200);
  expect((await upload(await readFile(fixture))).status).toBe(201);
});
