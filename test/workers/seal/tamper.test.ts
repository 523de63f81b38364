/** No byte counts for nothing: one after the other is changed. Every kind of alteration stands in `tamper-table.test.ts`. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { seal } from "../../../workers/seal/seal.ts";
import { type SealReport, verifySealedPdf } from "../../../workers/seal/verify.ts";
import { type Authority, makeAuthority } from "../../harness/authority.ts";
import { samplePdf } from "../../harness/pdfs.ts";
import { changed, flip } from "./tampering.ts";

const at = new Date(Date.now() + 60_000).toISOString();
let authority: Authority;
let pdf: Buffer;
/** The hexadecimal digits of /Contents begin and end here. */
let hexStart = 0;
let hexEnd = 0;
let derLength = 0;

beforeAll(async () => {
  authority = makeAuthority({ seal: "ec-p256", timestamp: "ec-p256" });
  const input = {
    pdf: await samplePdf({ pages: 2 }),
    pages: null,
    certificates: authority.seal.certificates,
    key: "ec-p256",
    at,
    name: "Signet",
    reason: "Completed",
    location: null,
    level: "B-T",
    fieldName: "Seal",
  } as const;
  const result = await seal(input, authority.ports());
  if (!result.ok) throw new Error(result.error.message);
  pdf = Buffer.concat([input.pdf, result.value.tail]);
  hexStart = pdf.indexOf("/Contents <", pdf.indexOf("/ByteRange")) + "/Contents <".length;
  hexEnd = pdf.indexOf(">", hexStart);
  const der = Buffer.from(pdf.subarray(hexStart, hexEnd).toString("latin1"), "hex");
  derLength = 4 + der.readUInt16BE(2);
});
afterAll(() => authority.close());

const verify = (bytes: Uint8Array): SealReport => verifySealedPdf(bytes, { trusted: [authority.ca], at });
test("no byte of the CMS can change unnoticed", { timeout: 120_000 }, () => {
  const unnoticed: number[] = [];
  const copy = Buffer.from(pdf);
  for (let index = 0; index < derLength; index++) {
    const at = hexStart + 2 * index;
    const digits = pdf.subarray(at, at + 2).toString("latin1");
    copy.write((Number.parseInt(digits, 16) ^ (1 << (index % 8))).toString(16).padStart(2, "0"), at, "latin1");
    if (verify(copy).valid) unnoticed.push(index);
    copy.write(digits, at, "latin1");
  }
  expect(unnoticed).toEqual([]);
});

test("no byte outside of the CMS can change unnoticed", () => {
  const step = 7;
  const unnoticed: number[] = [];
  for (let index = 0; index < pdf.length; index += step) {
    if (index >= hexStart && index < hexEnd) continue;
    if (verify(changed(pdf, index, flip)).valid) unnoticed.push(index);
  }
  expect(unnoticed).toEqual([]);
});

test("a seal by somebody else's authority is not trusted", () => {
  const stranger = makeAuthority({ seal: "ec-p256", name: "Test" });
  const report = verifySealedPdf(pdf, { trusted: [stranger.ca], at });
  stranger.close();
  expect(report.valid).toBe(false);
  expect(report.signatures[0]?.problems).toContain("untrusted");
  expect(report.signatures[0]?.timestamp?.problems).toContain("untrusted");
});

test("a file without a seal says so", async () => {
  expect(verify(await samplePdf())).toMatchObject({ valid: false, problems: ["no-seal"] });
  expect(verify(Buffer.from("hello"))).toMatchObject({ valid: false, problems: ["not-a-pdf"] });
});
