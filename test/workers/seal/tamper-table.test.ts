/**
 * Every way in which a sealed file is altered that we know of, and who notices: the verifier that we ship (in the worker
 * and in the pages), `signet verify`, which also looks for the exact bytes in an anchor, and each judge where it can. A judge
 * that notices more than stands here does no harm.
 */
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { examinePdf } from "../../../apps/shared/validation/examine.ts";
import { judgeSealedPdf } from "../../../server/commands/demo/judges.ts";
import { type Known, verifyFile } from "../../../server/features/evidence/verify-file.ts";
import { openPool, type Pool } from "../../../server/kernel/pool.ts";
import { name, PdfDict, type PdfObject, PdfRaw, PdfRef, PdfStream, textString } from "../../../workers/pdf/objects.ts";
import { openPdf } from "../../../workers/pdf/reader.ts";
import { beginRevision, type Revision } from "../../../workers/pdf/revision.ts";
import type { SealLevel } from "../../../workers/protocol.ts";
import { extend } from "../../../workers/seal/extend.ts";
import { prepareSignature } from "../../../workers/seal/placeholder.ts";
import { seal } from "../../../workers/seal/seal.ts";
import { type SealReport, verifySealedPdf } from "../../../workers/seal/verify.ts";
import { type Authority, makeAuthority } from "../../harness/authority.ts";
import { samplePdf } from "../../harness/pdfs.ts";
import { appended, changed, contentOf, flip, otherDigit, pageOf, sealOf, setForm, writing } from "./tampering.ts";

const at = new Date(Date.now() + 60_000).toISOString();
let folder: string;
let authority: Authority;
let stranger: Authority;
let pool: Pool;
/** What the first page showed before it was written anew, still in the file. */
let hidden: { num: number; offset: number };
/** Sealed at B-LTA and at B-T. */
let lasting: Buffer;
let plain: Buffer;
/** Before the seal. */
let unsealed: Buffer;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "signet-tamper-"));
  pool = openPool({ threads: 1 });
  authority = makeAuthority({ seal: "ec-p256", timestamp: "ec-p256" });
  stranger = makeAuthority({ seal: "ec-p256", timestamp: "ec-p256", name: "Stranger" });
  const first = await samplePdf({ pages: 2, form: true });
  const content = contentOf(openPdf(first));
  hidden = { num: content.num, offset: Buffer.from(first).indexOf(`${content.num} 0 obj`) };
  const base = appended(first, (revision) => {
    revision.set(content, new PdfStream(new PdfDict(), Buffer.from("BT ET")));
  });
  unsealed = base;
  lasting = await sealed(base, "B-LTA");
  plain = await sealed(base, "B-T");
}, 60_000);
afterAll(async () => {
  await pool.close();
  authority.close();
  stranger.close();
  rmSync(folder, { recursive: true, force: true });
});

async function sealed(pdf: Uint8Array, level: SealLevel, by = authority, fieldName = "Seal"): Promise<Buffer> {
  const about = { at, name: "Acme", reason: "Completed", location: null, fieldName, level, key: "ec-p256" } as const;
  const result = await seal({ ...about, pdf, pages: null, certificates: by.seal.certificates }, by.ports(at));
  if (!result.ok) throw new Error(result.error.message);
  expect(result.value).toMatchObject({ level, shortfall: null });
  return Buffer.concat([pdf, result.value.tail]);
}

const verify = (pdf: Uint8Array): SealReport => verifySealedPdf(pdf, { trusted: [authority.ca], at });

/** As `signet verify` does it where the two files that were sealed are known, and no other. */
async function verdictOn(pdf: Uint8Array): Promise<{ verdict: string; exitCode: number }> {
  const known = [lasting, plain].map((file) => createHash("sha256").update(file).digest("hex"));
  const about = { id: "env_1", title: "Lease", testMode: false, organization: "Acme", pageCount: 2, signers: [] };
  const envelope = { ...about, status: "completed", createdAt: at, completedAt: at, sealedAt: at } as const;
  const leaf = { v: 1, type: "svc.leaf", envelope: "env_1", auditHash: "", sealedAt: at, testMode: false } as const;
  const lookUp = async (sha256: string): Promise<Known> => {
    const nothing = { sha256, proof: null, anchor: null };
    if (!known.includes(sha256)) return { ...nothing, status: "unknown", envelope: null, leaf: null };
    return { ...nothing, status: "pending", envelope, leaf: { ...leaf, documentSha256: sha256 } };
  };
  const deps = { pool, clock: { now: () => Date.parse(at), ts: () => at } };
  const pins = { kids: [], certificates: [createHash("sha256").update(authority.ca).digest("hex")] };
  return await verifyFile(
    deps,
    pdf,
    { lookUp, keys: [], authorities: { seals: [authority.ca], timestamps: [] } },
    pins,
  );
}

/** Of the first signature or the last one: where the digits of /Contents begin and end, and which of its bytes is signed. */
function contentsIn(pdf: Buffer, which: "first" | "last") {
  const report = verify(pdf).signatures.at(which === "first" ? 0 : -1);
  const [, length = 0, resume = 0, rest = 0] = report?.byteRange ?? [];
  const der = Buffer.from(pdf.subarray(length + 1, resume - 1).toString("latin1"), "hex");
  // The value of the attribute message-digest (RFC 5652 §11.2), which is signed: the first one is the signer's own.
  const digest = der.indexOf(Buffer.from("06092a864886f70d010904", "hex")) + 15;
  return { start: length + 1, end: resume - 1, digest, resume, rest };
}

function withUpperCase(pdf: Buffer, which: "first" | "last"): Buffer {
  const { start, end } = contentsIn(pdf, which);
  const copy = Buffer.from(pdf);
  copy.write(copy.subarray(start, end).toString("latin1").toUpperCase(), start, "latin1");
  return copy;
}

/** Our signature holds over bytes that were moved: what stands between them is the attacker's. */
function wrapped(pdf: Buffer): Buffer {
  const { start, resume, rest } = contentsIn(pdf, "first");
  const moved = pdf.subarray(resume, resume + rest);
  const range = (at: number) => new PdfRaw(Buffer.from(`[0 ${start - 1} ${at} ${rest}]`.padEnd(80)));
  const attempt = (at: number): Buffer =>
    appended(pdf, (revision) => {
      const { value, dict } = sealOf(revision);
      revision.add(new PdfStream(new PdfDict(), moved));
      revision.set(contentOf(revision.base), new PdfStream(new PdfDict(), writing("You owe me")));
      revision.set(value, dict.clone().set("ByteRange", range(at)));
    });
  return attempt(attempt(0).indexOf(moved, pdf.length));
}
/** An attacker changes the page and has the result stamped. */
async function restamped(pdf: Buffer, by: Authority): Promise<Buffer> {
  const file = appended(pdf, (revision) => {
    revision.set(contentOf(revision.base), new PdfStream(new PdfDict(), writing("You owe me")));
  });
  const about = { fieldName: "Later", entries: [["SubFilter", name("ETSI.RFC3161")]] as const, capacity: 8192 };
  const prepared = prepareSignature(beginRevision(openPdf(file)), about, createHash("sha256").update(file));
  return Buffer.concat([file, prepared.close(await by.ports(at).timestamp(prepared.digest))]);
}

async function extended(pdf: Buffer, goal: "B-LT" | "B-LTA", renew: boolean): Promise<Buffer> {
  const archive = { kind: "built-in" as const, certificates: [], policy: "", serial: "" };
  const result = await extend({ pdf, trusted: [authority.ca], goal, renew, archive, at }, authority.ports(at));
  if (!result.ok) throw new Error(result.error.message);
  return Buffer.concat([pdf, result.value.tail]);
}

/** One digit of a signature's /Contents is another. */
function inContents(which: "first" | "last", byte: (found: ReturnType<typeof contentsIn>) => number): Buffer {
  const found = contentsIn(lasting, which);
  return changed(lasting, found.start + 2 * byte(found), otherDigit);
}

type Entry = [string, PdfObject];
/** The dictionary of the seal is written anew behind it, with other entries. */
function redone(entries: (seal: { range: number[]; contents: string }) => Entry[]): Buffer {
  return appended(plain, (revision) => {
    const { value, dict } = sealOf(revision);
    const { start, end } = contentsIn(plain, "first");
    const range = verify(plain).signatures[0]?.byteRange ?? [];
    const next = dict.clone();
    for (const [key, to] of entries({ range, contents: plain.subarray(start, end).toString("latin1") })) {
      if (to === null) next.delete(key);
      else next.set(key, to);
    }
    revision.set(value, next);
  });
}

/** Only a table that points to the page's content as it was before the last revision but the seal's. */
function resurrected(pdf: Buffer): Buffer {
  const { startXref, size, catalogRef } = openPdf(pdf);
  const place = `${String(hidden.offset).padStart(10, "0")} 00000 n \n`;
  const trailer = `trailer\n<</Size ${size}/Root ${catalogRef.num} 0 R/Prev ${startXref}>>`;
  const tail = `xref\n${hidden.num} 1\n${place}${trailer}\nstartxref\n${pdf.length}\n%%EOF\n`;
  return Buffer.concat([pdf, Buffer.from(tail, "latin1")]);
}

type Judge = "qpdf" | "pdfsig" | "mutool" | "openssl cms" | "openssl ts";
/** `null`: the file is what it claims to be, so that only its hash tells it from the one that was anchored. */
type Row = [what: string, make: () => Buffer | Promise<Buffer>, problem: string | null, judges: readonly Judge[]];

const overwritten = (change: (revision: Revision) => void) => (): Buffer => appended(lasting, change);
/** The end of the n-th revision that was appended to the file. */
const endOf = (pdf: Buffer, signature: number): number => verify(pdf).signatures[signature]?.coveredTo ?? 0;

const rows: Row[] = [
  // In place.
  [
    "a byte of the content",
    () => changed(lasting, lasting.indexOf("endstream") - 3, flip),
    "digest-mismatch",
    ["pdfsig", "mutool", "openssl cms", "openssl ts"],
  ],
  [
    "a byte of /M",
    () => changed(lasting, lasting.indexOf("/M (D:") + 8, flip),
    "digest-mismatch",
    ["pdfsig", "mutool", "openssl cms", "openssl ts"],
  ],
  [
    "the last end-of-file byte",
    () => changed(lasting, lasting.length - 1, () => 0x20),
    "timestamp-invalid",
    ["openssl ts"],
  ],
  ["a missing last byte", () => lasting.subarray(0, -1), "byte-range-wrong", ["pdfsig", "openssl ts"]],
  [
    "a byte of the CMS",
    () => inContents("first", ({ digest }) => digest),
    "signature-invalid",
    ["pdfsig", "mutool", "openssl cms", "openssl ts"],
  ],
  [
    "the padding of the seal's /Contents",
    () => inContents("first", ({ end, start }) => (end - start) / 2 - 2),
    "padding-changed",
    ["openssl ts"],
  ],
  [
    "a byte of the signature's /ByteRange",
    () => changed(lasting, lasting.indexOf("/ByteRange [0 ") + 14, flip),
    "byte-range-wrong",
    ["pdfsig", "mutool", "openssl cms", "openssl ts"],
  ],
  [
    "a byte of a stored certificate",
    () => changed(lasting, endOf(lasting, 0) + 400, flip),
    "timestamp-invalid",
    ["openssl ts"],
  ],
  [
    "a byte of the document timestamp",
    () => inContents("last", ({ digest }) => digest),
    "timestamp-invalid",
    ["openssl ts"],
  ],
  [
    "the padding of the document timestamp",
    () => inContents("last", ({ end, start }) => (end - start) / 2 - 2),
    "padding-changed",
    ["pdfsig"],
  ],
  ["the letter case of the seal's digits", () => withUpperCase(plain, "first"), null, []],
  ["the letter case of the document timestamp's digits", () => withUpperCase(lasting, "last"), "changed-after", []],
  [
    "the letter case of the seal's digits under a document timestamp",
    () => withUpperCase(lasting, "first"),
    "timestamp-invalid",
    ["openssl ts"],
  ],

  // Cut off.
  [
    "everything from the seal on is cut off",
    () => lasting.subarray(0, unsealed.length),
    "no-seal",
    ["pdfsig", "mutool"],
  ],
  ["store and document timestamp are cut off", () => lasting.subarray(0, endOf(lasting, 0)), null, []],

  // Appended.
  ["a comment", () => Buffer.concat([lasting, Buffer.from("% nothing\n")]), "bytes-after-seal", ["pdfsig"]],
  ["an empty line", () => Buffer.concat([lasting, Buffer.from("\n")]), "bytes-after-seal", ["pdfsig"]],
  [
    "another content of the page",
    overwritten((revision) =>
      revision.set(contentOf(revision.base), new PdfStream(new PdfDict(), writing("You owe me"))),
    ),
    "bytes-after-seal",
    ["pdfsig"],
  ],
  [
    "another content of the page, where the seal stands alone",
    () =>
      appended(plain, (revision) =>
        revision.set(contentOf(revision.base), new PdfStream(new PdfDict(), writing("You owe me"))),
      ),
    "bytes-after-seal",
    ["pdfsig", "mutool"],
  ],
  [
    "a form field's value",
    overwritten((revision) => {
      const fields = revision.array(revision.dict(revision.catalog.get("AcroForm"))?.get("Fields")) ?? [];
      // Named in two parts: the value stands in the kid.
      const parent = revision.dict(fields[0]);
      const [kid] = revision.array(parent?.get("Kids")) ?? [fields[0]];
      if (!(kid instanceof PdfRef)) throw new Error("no field");
      revision.set(kid, (revision.dict(kid) ?? new PdfDict()).clone().set("V", textString("a million")));
    }),
    "bytes-after-seal",
    ["pdfsig"],
  ],
  [
    "an annotation over the page",
    overwritten((revision) => {
      const { ref, dict } = pageOf(revision.base);
      const note = revision.add(
        new PdfDict([
          ["Type", name("Annot")],
          ["Subtype", name("FreeText")],
          ["Rect", [0, 0, 500, 500]],
          ["Contents", textString("void")],
        ]),
      );
      revision.set(ref, dict.clone().set("Annots", [...(revision.array(dict.get("Annots")) ?? []), note]));
    }),
    "bytes-after-seal",
    ["pdfsig"],
  ],
  [
    "another /AcroForm without the seal",
    overwritten((revision) => setForm(revision, () => new PdfDict([["Fields", []]]))),
    "no-seal",
    ["pdfsig", "mutool"],
  ],
  [
    "another page in the seal's place",
    overwritten((revision) => {
      const { ref, dict } = pageOf(revision.base);
      revision.set(ref, dict.clone().set("Contents", revision.addStream(new PdfDict(), writing("You owe me"))));
    }),
    "bytes-after-seal",
    ["pdfsig"],
  ],
  [
    "a cross-reference table alone that brings back an earlier content",
    () => resurrected(lasting),
    "bytes-after-seal",
    ["pdfsig"],
  ],
  [
    "a cross-reference table alone, where the seal stands alone",
    () => resurrected(plain),
    "bytes-after-seal",
    ["pdfsig", "mutool"],
  ],
  [
    "a store that is written as nobody here writes it",
    () =>
      appended(plain, (revision) => {
        const store = new PdfDict([["Certs", [revision.addStream(new PdfDict([["X", 1]]), authority.ca)]]]);
        revision.set(revision.base.catalogRef, revision.catalog.clone().set("DSS", revision.add(store)));
      }),
    "bytes-after-seal",
    ["pdfsig", "mutool"],
  ],
  ["nothing but a store as it is written here", () => extended(plain, "B-LT", false), null, ["pdfsig", "mutool"]],
  ["one more document timestamp of the same authority", () => extended(lasting, "B-LTA", true), null, []],

  // Signatures that are not what they seem.
  [
    "the seal's dictionary with a gap around other bytes",
    () => wrapped(plain),
    "byte-range-wrong",
    ["pdfsig", "mutool"],
  ],
  [
    "the seal's dictionary with a range that begins later",
    () => redone(({ range: [, length = 0, resume = 0, rest = 0] }) => [["ByteRange", [8, length - 8, resume, rest]]]),
    "byte-range-wrong",
    ["pdfsig", "mutool"],
  ],
  [
    "the seal's dictionary with a negative range",
    () => redone(({ range: [, length = 0, resume = 0, rest = 0] }) => [["ByteRange", [0, length, resume, -rest]]]),
    "byte-range-wrong",
    ["pdfsig", "mutool", "openssl cms"],
  ],
  [
    "the seal's dictionary with a range of six numbers",
    () => redone(({ range }) => [["ByteRange", [...range, 0, 0]]]),
    "byte-range-wrong",
    ["pdfsig", "mutool"],
  ],
  [
    "the seal's dictionary with a range that overlaps itself",
    () => redone(({ range: [, length = 0, , rest = 0] }) => [["ByteRange", [0, length, length - 10, rest]]]),
    "byte-range-wrong",
    ["pdfsig", "mutool", "openssl cms"],
  ],
  [
    "the seal's dictionary without /ByteRange",
    () => redone(() => [["ByteRange", null]]),
    "byte-range-wrong",
    ["pdfsig", "mutool"],
  ],
  [
    "the seal's dictionary without /Contents",
    () => redone(() => [["Contents", null]]),
    "byte-range-wrong",
    ["pdfsig", "mutool"],
  ],
  [
    "the seal's dictionary with empty /Contents",
    () => redone(() => [["Contents", new PdfRaw(Buffer.from("<>"))]]),
    "byte-range-wrong",
    ["pdfsig", "mutool"],
  ],
  [
    "the seal's dictionary with /Contents twice",
    () => redone(({ contents }) => [["Contents", new PdfRaw(Buffer.from(`<00> /Contents <${contents}>`))]]),
    "bytes-after-seal",
    ["qpdf", "pdfsig", "mutool"],
  ],
  [
    "the seal's dictionary under another /SubFilter",
    () => redone(() => [["SubFilter", name("adbe.pkcs7.detached")]]),
    "no-seal",
    ["pdfsig", "mutool"],
  ],
  [
    "a second field that shows the same signature",
    overwritten((revision) => {
      const { field } = sealOf(revision);
      const twin = revision.add((revision.dict(field) ?? new PdfDict()).clone().set("T", textString("Seal 2")));
      setForm(revision, (form) => form.set("Fields", [...(revision.array(form.get("Fields")) ?? []), twin]));
    }),
    "bytes-after-seal",
    ["pdfsig", "mutool"],
  ],
  [
    "a stranger's signature over everything",
    () => sealed(lasting, "B-T", stranger, "Stranger"),
    "untrusted",
    ["pdfsig", "mutool", "openssl cms", "openssl ts"],
  ],
  [
    "another content under a stranger's document timestamp",
    () => restamped(plain, stranger),
    "untrusted",
    ["mutool", "openssl ts"],
  ],
  [
    "another content under a document timestamp of our own authority",
    () => restamped(plain, authority),
    "changed-after",
    ["mutool"],
  ],
];

async function judgesThatObject(pdf: Buffer): Promise<string[]> {
  const path = join(folder, "tampered.pdf");
  writeFileSync(path, pdf);
  const verdicts = await judgeSealedPdf(path, authority.caPem);
  const unhappy = verdicts.filter(({ ok }) => !ok).map(({ judge }) => judge);
  return ["qpdf", "pdfsig", "mutool", "openssl cms", "openssl ts"].filter((judge) =>
    unhappy.some((one) => one.startsWith(judge)),
  );
}

describe("who notices", () => {
  test("nobody objects to the files as they were sealed", async () => {
    expect([verify(lasting), verify(plain)]).toMatchObject([{ valid: true }, { valid: true }]);
    expect(await verdictOn(lasting)).toMatchObject({ verdict: "not-anchored" });
    expect([await judgesThatObject(lasting), await judgesThatObject(plain)]).toEqual([[], []]);
  });

  test.each(rows)("%s", async (_, make, problem, judges) => {
    const pdf = await make();
    const report = verify(pdf);
    const found = [
      ...report.problems,
      ...report.signatures.flatMap((one) => [...one.problems, ...(one.timestamp?.problems ?? [])]),
    ];
    const objecting = await judgesThatObject(pdf);
    // The anchor binds the bytes: to it every one of them is another file.
    expect(await verdictOn(pdf)).toMatchObject({ verdict: "unknown", exitCode: 1 });
    expect(await examinePdf(pdf, { seals: [authority.ca], timestamps: [authority.ca] }, at)).toEqual(report);
    expect(report.valid).toBe(problem === null);
    if (problem === null) expect(found).toEqual([]);
    else expect(found).toContain(problem);
    expect(objecting).toEqual(expect.arrayContaining([...judges]));
  });
});
