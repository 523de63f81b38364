/** Every row of the tamper table, by our own verifier and by the judges where they can. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { judgeSealedPdf } from "../../../server/commands/demo/judges.ts";
import { seal } from "../../../workers/seal/seal.ts";
import { type SealReport, verifySealedPdf } from "../../../workers/seal/verify.ts";
import { type Authority, makeAuthority } from "../../harness/authority.ts";
import { samplePdf } from "../pdf/samples.ts";

const at = new Date(Date.now() + 60_000).toISOString();
let authority: Authority;
let folder: string;
let pdf: Buffer;
/** The hexadecimal digits of /Contents begin and end here. */
let hexStart = 0;
let hexEnd = 0;
let derLength = 0;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "signet-tamper-"));
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
afterAll(() => {
  authority.close();
  rmSync(folder, { recursive: true, force: true });
});

const verify = (bytes: Uint8Array): SealReport => verifySealedPdf(bytes, { trusted: [authority.ca], at });

function changed(index: number, to: (byte: number) => number): Buffer {
  const copy = Buffer.from(pdf);
  copy[index] = to(copy[index] ?? 0);
  return copy;
}
const otherDigit = (byte: number): number => (byte === 0x30 ? 0x31 : 0x30);

async function unhappyJudges(bytes: Uint8Array): Promise<string[]> {
  const path = join(folder, "tampered.pdf");
  writeFileSync(path, bytes);
  const verdicts = await judgeSealedPdf(path, authority.caPem);
  return verdicts.filter(({ ok }) => !ok).map(({ judge }) => judge);
}

describe("caught by us and by a judge", () => {
  const rows: [string, () => Buffer][] = [
    ["a content byte", () => changed(pdf.indexOf("endstream") - 20, (byte) => byte ^ 1)],
    ["a byte of /M", () => changed(pdf.indexOf("/M (D:") + 8, (byte) => byte ^ 1)],
    ["the last end-of-file byte", () => changed(pdf.length - 1, () => 0x20)],
    ["a byte of the CMS", () => changed(hexStart + 2 * (derLength >> 1), otherDigit)],
    ["an appended comment", () => Buffer.concat([pdf, Buffer.from("% nothing\n")])],
    ["the padding of /Contents", () => changed(hexEnd - 3, otherDigit)],
    ["a missing last byte", () => pdf.subarray(0, pdf.length - 1)],
    ["a byte behind /Contents", () => changed(hexEnd + 1, () => 0x20)],
  ];
  test.each(rows)("%s", async (_, tampered) => {
    const bytes = tampered();
    expect(verify(pdf).valid).toBe(true);
    expect(verify(bytes).valid).toBe(false);
    expect(await unhappyJudges(bytes)).not.toEqual([]);
  });
});

test("only the exact-byte anchor catches the letter case of the hex", async () => {
  const copy = Buffer.from(pdf);
  copy.write(copy.subarray(hexStart, hexEnd).toString("latin1").toUpperCase(), hexStart, "latin1");
  expect(copy.equals(pdf)).toBe(false);
  expect(verify(copy).valid).toBe(true);
  expect(verify(copy).sha256).not.toBe(verify(pdf).sha256);
  expect(await unhappyJudges(copy)).toEqual([]);
});

test("no byte of the CMS can change unnoticed", { timeout: 60_000 }, () => {
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
    if (verify(changed(index, (byte) => byte ^ 1)).valid) unnoticed.push(index);
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
