import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PDFDocument, PDFName } from "pdf-lib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { judgeSealedPdf } from "../../../server/commands/demo/judges.ts";
import { openPdf } from "../../../workers/pdf/reader.ts";
import { beginRevision } from "../../../workers/pdf/revision.ts";
import type { SealInput } from "../../../workers/protocol.ts";
import { laterChanges } from "../../../workers/seal/later-changes.ts";
import { signatureRevision } from "../../../workers/seal/placeholder.ts";
import { seal } from "../../../workers/seal/seal.ts";
import { verifySealedPdf } from "../../../workers/seal/verify.ts";
import { type Authority, makeAuthority } from "../../harness/authority.ts";
import { rawPdf, samplePdf, type Variant, variant, whole } from "../../harness/pdfs.ts";
import { faultsOf, textOf } from "../../harness/rendering.ts";

// Behind the beginning of the certificates that are about to be made.
const at = new Date(Date.now() + 3_600_000).toISOString();
let folder: string;
const authorities: Partial<Record<SealInput["key"], Authority>> = {};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "signet-seal-"));
  authorities.rsa = makeAuthority({ seal: "rsa-3072", timestamp: "rsa-3072" });
  authorities["ec-p256"] = makeAuthority({ seal: "ec-p256", timestamp: "ec-p256" });
}, 60_000);
afterAll(() => {
  for (const authority of Object.values(authorities)) authority.close();
  rmSync(folder, { recursive: true, force: true });
});

function authority(key: SealInput["key"]): Authority {
  const found = authorities[key];
  if (!found) throw new Error("no authority");
  return found;
}

function input(pdf: Uint8Array, key: SealInput["key"], changes: Partial<SealInput> = {}): SealInput {
  return {
    pdf,
    pages: null,
    certificates: authority(key).seal.certificates,
    key,
    at,
    name: "Acme, Inc. (Signet)",
    reason: "Completed by all parties",
    location: null,
    level: "B-T",
    fieldName: "Signet.Seal.1",
    ...changes,
  };
}

async function sealed(given: SealInput): Promise<Uint8Array> {
  const result = await seal(given, authority(given.key).ports());
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return whole(given.pdf, result.value.tail);
}

async function expectJudgesContent(pdf: Uint8Array, key: SealInput["key"]): Promise<void> {
  const path = join(folder, "judged.pdf");
  writeFileSync(path, pdf);
  const verdicts = await judgeSealedPdf(path, authority(key).caPem);
  expect(verdicts.filter(({ ok }) => !ok)).toEqual([]);
  expect(verdicts.length).toBeGreaterThanOrEqual(5);
}

test.each<Variant>(["table", "linearized-stream", "hybrid"])(
  "pages come under the signature in a revision of their own, on a %s file",
  async (kind) => {
    const base = await variant(kind, { pages: 2 });
    const pages = await samplePdf({ pages: 3 });
    const given = input(base, "rsa", { pages, level: "B-B" });
    const pdf = await sealed(given);
    await expectJudgesContent(pdf, "rsa");
    expect(textOf(pdf, 5)).toContain("Page 3");
    const cut = pdf.subarray(0, Buffer.from(pdf).indexOf("%%EOF\n", base.length) + 6);
    expect(faultsOf(cut)).toBe("");
    expect(openPdf(cut).pages()).toHaveLength(5);
    expect(openPdf(cut).catalog.has("AcroForm")).toBe(false);
    expect(Buffer.compare(await sealed({ ...given, pdf: cut, pages: null }), pdf)).toBe(0);
  },
);

test("a document that the project did not make", async () => {
  const base = readFileSync(new URL("../../fixtures/pdf/lecture.pdf", import.meta.url));
  const pdf = await sealed(input(base, "rsa"));
  await expectJudgesContent(pdf, "rsa");
  expect(verifySealedPdf(pdf, { trusted: [authority("rsa").ca], at }).valid).toBe(true);
});

test("names in every script come through, and parentheses and backslashes are escaped once", async () => {
  const names = ["Zoë Łódź", "Все (подписали)", "署名 \\ 完了", "توقيع", "(a\\b)\r\n)"];
  for (const name of names) {
    const pdf = await sealed(input(await samplePdf(), "ec-p256", { name, reason: name, location: name }));
    const [signature] = verifySealedPdf(pdf, { trusted: [authority("ec-p256").ca], at }).signatures;
    expect(signature).toMatchObject({ name, reason: name, location: name, problems: [] });
  }
});

test("existing form fields and annotations stay", async () => {
  for (const objectStreams of [true, false]) {
    const base = await samplePdf({ form: true, objectStreams });
    const pdf = await sealed(input(base, "ec-p256"));
    const file = openPdf(pdf);
    const form = file.dict(file.catalog.get("AcroForm"));
    const before = openPdf(base);
    const fields = (of: typeof file): number =>
      of.array(of.dict(of.catalog.get("AcroForm"))?.get("Fields"))?.length ?? 0;
    expect(fields(file)).toBe(fields(before) + 1);
    expect(file.number(form?.get("SigFlags"))).toBe(3);
    const reread = await PDFDocument.load(pdf);
    expect(reread.getForm().getTextField("existing.field").getText()).toBe("kept");
    expect(file.array(file.page(0)?.dict.get("Annots"))).toHaveLength(2);
    await expectJudgesContent(pdf, "ec-p256");
  }
});

describe("the form's defaults for fonts and text, without which PDFium shows no free text", () => {
  const withForm = (form: string): Uint8Array =>
    rawPdf({
      1: `<</Type/Catalog/Pages 2 0 R${form}>>`,
      2: "<</Type/Pages/Kids[3 0 R]/Count 1>>",
      3: "<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>",
      4: "<</Font<</F1 5 0 R>>>>",
      5: "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    });
  const defaultsOf = (pdf: Uint8Array) => {
    const file = openPdf(pdf);
    const form = file.dict(file.catalog.get("AcroForm"));
    const fonts = file.dict(file.dict(form?.get("DR"))?.get("Font"));
    const appearance = file.string(form?.get("DA"));
    return [fonts && [...fonts.map.keys()], appearance && Buffer.from(appearance.bytes).toString("latin1")];
  };

  test.each([
    ["no form", "", [[], "/Helv 0 Tf 0 g"]],
    ["a form without them", "/AcroForm<</Fields[]/DR<</XObject<<>>>>>>", [[], "/Helv 0 Tf 0 g"]],
    ["a form with both", "/AcroForm<</Fields[]/DR 4 0 R/DA(/F1 9 Tf)>>", [["F1"], "/F1 9 Tf"]],
    // Behind a signature only what must be is touched.
    ["a form with signatures", "/AcroForm<</Fields[]/SigFlags 3>>", [null, null]],
  ])("%s", async (_name, form, expected) => {
    const pdf = await sealed(input(withForm(form), "ec-p256"));
    expect(defaultsOf(pdf)).toEqual(expected);
    expect(verifySealedPdf(pdf, { trusted: [authority("ec-p256").ca], at }).valid).toBe(true);
    const { length } = withForm(form);
    const holding = new Map([[pdf.length, { field: "Signet.Seal.1", kind: "seal" as const }]]);
    expect(laterChanges(openPdf(pdf), length, holding)).toEqual(["seal"]);
  });

  test("a revision written before there were any counts as a seal, too", () => {
    const base = withForm("");
    const about = { entries: [], fieldName: "Signet.Seal.1", bareForm: true };
    const { bytes } = signatureRevision(beginRevision(openPdf(base)), about, Buffer.alloc(16));
    const pdf = whole(base, bytes);
    expect(defaultsOf(pdf)).toEqual([null, null]);
    const holding = new Map([[pdf.length, { field: "Signet.Seal.1", kind: "seal" as const }]]);
    expect(laterChanges(openPdf(pdf), base.length, holding)).toEqual(["seal"]);
    const other = Buffer.from(Buffer.from(pdf).toString("latin1").replace("/SigFlags 3", "/SigFlags 1"), "latin1");
    expect(laterChanges(openPdf(other), base.length, holding)).toEqual(["other"]);
  });
});

test("a second seal on top of the first leaves the first intact", async () => {
  const once = await sealed(input(await samplePdf(), "ec-p256"));
  const twice = await sealed(input(once, "ec-p256", { fieldName: "Signet.Seal.2" }));
  const report = verifySealedPdf(twice, { trusted: [authority("ec-p256").ca], at });
  expect(report.valid).toBe(true);
  expect(report.signatures.map(({ coveredTo }) => coveredTo)).toEqual([once.length, twice.length]);
});

describe("a file that somebody else had signed and certified", () => {
  let stranger: Authority;
  beforeAll(() => {
    stranger = makeAuthority({ seal: "ec-p256", timestamp: "ec-p256", name: "Stranger" });
  });
  afterAll(() => stranger.close());

  /** Certified against changes, and signed by the stranger in either form. */
  async function foreign(subFilter: string): Promise<Uint8Array> {
    const document = await PDFDocument.create();
    document.addPage();
    const certification = document.context.register(document.context.obj({ Type: "Sig" }));
    document.catalog.set(PDFName.of("Perms"), document.context.obj({ DocMDP: certification }));
    const base = await document.save({ useObjectStreams: false });
    const given = input(base, "ec-p256", { certificates: stranger.seal.certificates, fieldName: "Stranger" });
    const result = await seal(given, stranger.ports());
    if (!result.ok) throw new Error(result.error.message);
    const text = Buffer.from(whole(base, result.value.tail)).toString("latin1");
    return Buffer.from(text.replace("/ETSI.CAdES.detached", `/${subFilter}`), "latin1");
  }

  test.each(["ETSI.CAdES.detached", "adbe.pkcs7.detached"])("is valid under our seal: %s", async (subFilter) => {
    const base = await foreign(subFilter);
    const pdf = await sealed(input(base, "ec-p256"));
    const trust = { trusted: [authority("ec-p256").ca], at };
    const report = verifySealedPdf(pdf, trust);
    expect(report).toMatchObject({ valid: true, problems: [] });
    expect(report.signatures).toMatchObject([
      { field: "Stranger", foreign: true },
      { field: "Signet.Seal.1", foreign: false, problems: [] },
    ]);
    expect(openPdf(pdf).catalog.has("Perms")).toBe(false);
    // Alone, or on top, it proves nothing.
    expect(verifySealedPdf(base, trust)).toMatchObject({ valid: false, signatures: [{ foreign: false }] });
    const again = input(pdf, "ec-p256", { certificates: stranger.seal.certificates, fieldName: "Again" });
    const onTop = await seal(again, stranger.ports());
    if (!onTop.ok) throw new Error(onTop.error.message);
    expect(verifySealedPdf(whole(pdf, onTop.value.tail), trust)).toMatchObject({
      valid: false,
      signatures: [{ foreign: true }, { foreign: false }, { foreign: false }],
    });
  });
});

test("the same input and signature give the same bytes", async () => {
  const base = await samplePdf();
  const given = input(base, "rsa", { level: "B-B" });
  expect(Buffer.compare(await sealed(given), await sealed(given))).toBe(0);
});

describe("refusals", () => {
  test("a certificate that does not fit the key", async () => {
    const pdf = await samplePdf();
    const foreign = input(pdf, "rsa", { certificates: authority("ec-p256").seal.certificates });
    expect(await seal(foreign, authority("rsa").ports())).toMatchObject({
      ok: false,
      error: { code: "bad-certificate" },
    });
    const garbage = input(pdf, "rsa", { certificates: [Buffer.from("garbage")] });
    expect(await seal(garbage, authority("rsa").ports())).toMatchObject({ error: { code: "bad-certificate" } });
    expect(await seal(input(pdf, "rsa", { certificates: [] }), authority("rsa").ports())).toMatchObject({ ok: false });
    const other = makeAuthority({ seal: "ec-p256" });
    const result = await seal(input(pdf, "ec-p256"), other.ports());
    other.close();
    expect(result).toMatchObject({ ok: false, error: { code: "bad-certificate" } });
  });

  test("a token that does not fit", async () => {
    const key = "ec-p256";
    const stuffed: Uint8Array[] = Array.from({ length: 40 }, () => authority(key).ca);
    const result = await seal(input(await samplePdf(), key), authority(key).ports(at, stuffed));
    expect(result).toMatchObject({ ok: false, error: { code: "signature-too-large" } });
  });

  test("files that no revision can be appended to", async () => {
    const good = await samplePdf();
    const broken = [new Uint8Array(), Buffer.from("%PDF-1.7\n"), good.subarray(0, good.length - 200), Buffer.from("x")];
    for (const pdf of broken) {
      const result = await seal(input(pdf, "ec-p256"), authority("ec-p256").ports());
      expect(result).toMatchObject({ ok: false, error: { code: "damaged" } });
    }
  });

  test("what a port throws reaches the caller", async () => {
    const unreachable = async (): Promise<never> => {
      throw new Error("authority unreachable");
    };
    const ports = { ...authority("rsa").ports(), timestamp: unreachable };
    await expect(seal(input(await samplePdf(), "rsa"), ports)).rejects.toThrow("authority unreachable");
  });
});
