/** Uploads that others signed: their signatures stay where they can, and where they cannot nobody is told otherwise. */
import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inspect } from "../../workers/inspect.ts";
import { PdfRef } from "../../workers/pdf/objects.ts";
import { openPdf } from "../../workers/pdf/reader.ts";
import { seal } from "../../workers/seal/seal.ts";
import { verifySealedPdf } from "../../workers/seal/verify.ts";
import { stamp } from "../../workers/stamp.ts";
import { type Authority, makeAuthority } from "../harness/authority.ts";
import { contract } from "../harness/hostile-pdfs.ts";
import { withFile } from "../harness/pdfs.ts";
import { faultsOf, qpdf } from "../harness/rendering.ts";

const at = new Date(Date.now() + 3_600_000).toISOString();
let own: Authority;
let other: Authority;
beforeAll(() => {
  own = makeAuthority({ seal: "ec-p256", timestamp: "ec-p256" });
  other = makeAuthority({ seal: "ec-p256", timestamp: "ec-p256" });
});
afterAll(() => {
  own.close();
  other.close();
});

async function signedBy(authority: Authority, pdf: Uint8Array, level: "B-B" | "B-LTA", fieldName: string) {
  const { certificates } = authority.seal;
  const about = { at, name: "Acme", reason: "Agreed", location: null, fieldName, certificates } as const;
  const list = authority.revocationList();
  const ports = { ...authority.ports(at), revocationList: async () => list };
  const result = await seal({ ...about, pdf, pages: null, key: "ec-p256", level }, ports);
  if (!result.ok) throw new Error(result.error.message);
  return Buffer.concat([pdf, result.value.tail]);
}

/** Signed, with a trailer that refers to object `num`, which the file does not hold, as LibreOffice writes it. */
async function additionalStreams(num: number): Promise<Buffer> {
  const text = contract().toString("latin1");
  const trailer = `/Root 1 0 R/AdditionalStreams[/application#2Fvnd.oasis.opendocument.text ${num} 0 R]`;
  return await signedBy(other, Buffer.from(text.replace("/Root 1 0 R", trailer), "latin1"), "B-B", "Theirs");
}

async function accepted(pdf: Uint8Array) {
  const result = await inspect({ pdf, maxPages: 10 });
  if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`);
  return result.value;
}

const judged = (pdf: Uint8Array): string =>
  withFile(pdf, (path) => execFileSync("pdfsig", ["-nocert", path], { encoding: "utf8" }));

test.each([
  ["the number that comes next", 10],
  ["a number far behind the last", 4711],
])("a trailer that refers to %s keeps its signature, and the object never comes alive", async (_, num) => {
  const upload = await additionalStreams(num);
  if (num === 10) expect(openPdf(upload).size).toBe(num);
  const { pdf, warnings } = await accepted(upload);
  expect(pdf).toBeNull();
  expect(warnings.map(({ code }) => code)).toEqual(["already-signed", "form-fields"]);
  const drawings = [{ kind: "dot" as const, page: 1, x: 10, y: 10, width: 10, height: 10 }];
  const stamped = await stamp({ pdf: upload, drawings, watermark: null, at });
  if (!stamped.ok) throw new Error(stamped.error.message);
  const done = await signedBy(own, Buffer.concat([upload, stamped.value.tail]), "B-LTA", "Ours");
  expect(openPdf(done).get(new PdfRef(num))).toBeNull();
  expect(faultsOf(done)).toBe("");
  const report = verifySealedPdf(done, { trusted: [own.ca], at });
  expect(report).toMatchObject({ valid: true, level: "B-LTA" });
  expect(report.signatures.map(({ field, foreign }) => [field, foreign])).toEqual([
    ["Theirs", true],
    ["Ours", false],
    ["Ours T1", false],
  ]);
  expect(judged(done)).toContain("Signature #1:\n  - Signature Field Name: Theirs\n");
  expect(judged(done).match(/Signature Validation: Signature is Valid\./g)?.length).toBeGreaterThanOrEqual(2);
});

const REMOVED = /were removed\.$/;

test.each<[string, (signed: Uint8Array) => Uint8Array]>([
  ["decrypted", (signed) => qpdf(signed, "--encrypt", "", "owner", "256", "--")],
  ["repaired", (signed) => signed.subarray(0, signed.length - 20)],
])("a file that is %s says that its signatures were removed, and nothing else", async (why, change) => {
  const upload = change(await signedBy(other, contract(), "B-B", "Theirs"));
  const { pdf, warnings } = await accepted(upload);
  expect(warnings.map(({ code }) => code)).toEqual([why, "signatures-removed", "form-fields"]);
  expect(warnings[1]).toMatchObject({ message: expect.stringMatching(REMOVED), count: 1 });
  const bytes = Buffer.from(pdf ?? "").toString("latin1");
  for (const trace of ["/ByteRange", "/SigFlags", "/Perms"]) expect(bytes).not.toContain(trace);
  // Taken again it is a document that nobody signed.
  expect((await accepted(pdf ?? upload)).warnings.map(({ code }) => code)).toEqual(["form-fields"]);
});
