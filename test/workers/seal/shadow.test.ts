/** Uploads that would lose, gain or poison something once they are sealed, and revisions that hide behind a trusted time. */
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inspect } from "../../../workers/inspect.ts";
import { name, PdfDict, PdfRaw, PdfRef, PdfStream } from "../../../workers/pdf/objects.ts";
import { openPdf } from "../../../workers/pdf/reader.ts";
import { beginRevision, type Revision } from "../../../workers/pdf/revision.ts";
import type { SealPorts } from "../../../workers/protocol.ts";
import { addToStore } from "../../../workers/seal/dss.ts";
import { extend } from "../../../workers/seal/extend.ts";
import { prepareSignature } from "../../../workers/seal/placeholder.ts";
import { seal } from "../../../workers/seal/seal.ts";
import { type SealReport, verifySealedPdf } from "../../../workers/seal/verify.ts";
import { stamp } from "../../../workers/stamp.ts";
import { type Authority, makeAuthority } from "../../harness/authority.ts";
import { CLAUSE, contract, lengthChain, shown, stream } from "../../harness/hostile-pdfs.ts";
import { textOf } from "../../harness/rendering.ts";

const at = new Date(Date.now() + 3_600_000).toISOString();
let authority: Authority;
let ports: SealPorts;
beforeAll(() => {
  authority = makeAuthority({ seal: "ec-p256", timestamp: "ec-p256" });
  const list = authority.revocationList();
  ports = { ...authority.ports(at), revocationList: async () => list };
});
afterAll(() => authority.close());

const verify = (pdf: Uint8Array): SealReport => verifySealedPdf(pdf, { trusted: [authority.ca], at });

async function sealed(pdf: Uint8Array, pages: Uint8Array | null = null, fieldName = "Seal"): Promise<Buffer> {
  const { certificates } = authority.seal;
  const about = { at, name: "Acme", reason: "Completed", location: null, fieldName, certificates } as const;
  const result = await seal({ ...about, pdf, pages, key: "ec-p256", level: "B-LTA" }, ports);
  if (!result.ok) throw new Error(result.error.message);
  return Buffer.concat([pdf, result.value.tail]);
}

/** What the upload becomes, and its warnings; the code when it is refused. */
async function uploaded(pdf: Uint8Array): Promise<{ pdf: Uint8Array; warnings: string[] } | string> {
  const result = await inspect({ pdf, maxPages: 10 });
  if (!result.ok) return result.error.code;
  return { pdf: result.value.pdf ?? pdf, warnings: result.value.warnings.map(({ code }) => code) };
}

const field = (value: string, title = "a"): string => `<</FT/Sig/T(${title})/V${value}>>`;
const form = (fields: string): Record<number, string> => ({
  1: `<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[${fields}]>>>>`,
});
const first = (contents: string): Record<number, string> => ({
  3: `<</Type/Page/Parent 2 0 R/Contents ${contents}>>`,
});
const NEW_OBJECTS = [8, 9, 10, 11, 12, 500];
const REMOVED = ["repaired", "signatures-removed", "form-fields"];

const uploads: [string, Uint8Array, "damaged" | "too-complex" | string[]][] = [
  ["nothing wrong", contract(), []],
  [
    "annotations that are another page's content",
    contract({ 3: "<</Type/Page/Parent 2 0 R/Contents 5 0 R/Annots 6 0 R>>" }),
    "damaged",
  ],
  ["a form that is another page's content", contract({ 1: "<</Type/Catalog/Pages 2 0 R/AcroForm 6 0 R>>" }), "damaged"],
  [
    "fields of a form that are another page's content",
    contract({ 1: "<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields 6 0 R>>>>" }),
    "damaged",
  ],
  [
    "an array shared by annotations and another page's content",
    contract({
      3: "<</Type/Page/Parent 2 0 R/Contents 5 0 R/Annots 9 0 R>>",
      4: "<</Type/Page/Parent 2 0 R/Contents 9 0 R>>",
      9: "[6 0 R]",
    }),
    [],
  ],
  ...NEW_OBJECTS.map((num): [string, Uint8Array, "damaged"] => [
    `content in object ${num}, which does not exist yet`,
    contract(first(`[5 0 R ${num} 0 R]`)),
    "damaged",
  ]),
  [
    "a note that does not exist yet",
    contract({ 3: "<</Type/Page/Parent 2 0 R/Contents 5 0 R/Annots[9 0 R]>>" }),
    ["repaired"],
  ],
  [
    "the same in a key that stands twice",
    contract({ 3: "<</Type/Page/Parent 2 0 R/Contents[5 0 R 11 0 R]/Contents 5 0 R>>" }),
    ["repaired"],
  ],
  [
    "a timestamp that speaks of bytes behind the end",
    contract(form(field("<</SubFilter/ETSI.RFC3161/ByteRange[0 1 2 99999999]/Contents<00>>>"))),
    REMOVED,
  ],
  ["as many signatures as are judged", contract(form(field("<<>>").repeat(32))), ["form-fields"]],
  ["more signatures than are judged", contract(form(field("<<>>").repeat(33))), ["repaired", "form-fields"]],
  [
    "a signature whose name needs thousands of others",
    contract({ ...form(field("<</SubFilter/x/Name 10 0 R>>")), ...lengthChain(10, 5000) }),
    ["form-fields"],
  ],
  [
    "a store with more certificates than are read",
    contract({ 1: `<</Type/Catalog/Pages 2 0 R/DSS<</Certs[${"6 0 R ".repeat(1001)}]>>>>` }),
    "too-complex",
  ],
];

describe("an upload with", () => {
  const added = contract({ 5: shown("LATER"), 6: shown("LATER") });

  test.each(uploads)("%s", async (_, pdf, expected) => {
    const taken = await uploaded(pdf);
    if (typeof taken === "string") {
      expect(taken).toBe(expected);
      return;
    }
    expect(taken.warnings).toEqual(expected);
    const done = await sealed(taken.pdf, added);
    expect(verify(done)).toMatchObject({ valid: true, level: "B-LTA" });
    expect([textOf(done, 1).trim(), textOf(done, 2).trim()]).toEqual(["Cover page", CLAUSE]);
    const archive = { kind: "built-in" as const, certificates: [], policy: "", serial: "1" };
    const about = { trusted: [authority.ca], goal: "B-LTA" as const, renew: true, at, archive };
    const renewed = await extend({ ...about, pdf: done }, ports);
    expect(renewed.ok && verify(Buffer.concat([done, renewed.value.tail])).valid).toBe(true);
  });

  // Arrays of nothing cost three units each.
  const large = (units: number): Uint8Array => {
    const half = `/FT/Tx/X[${"[]".repeat(units / 6)}]>>`;
    return contract({ ...form("9 0 R 10 0 R"), 9: `<</T(a)${half}`, 10: `<</T(b)${half}` });
  };

  test("nearly as many objects as can be, which leaves room for what is added and for verifying it for ever", async () => {
    const taken = await uploaded(large(3_400_000));
    if (typeof taken === "string") throw new Error(taken);
    expect(taken.warnings).toEqual(["form-fields"]);
    const done = await sealed(taken.pdf, added);
    expect(verify(done)).toMatchObject({ valid: true, level: "B-LTA" });
  });

  test("more objects than that", async () => {
    expect(await uploaded(large(3_600_000))).toBe("too-complex");
  });

  test("far more, which was sealed when there was no such bound, goes on being valid and can be renewed", async () => {
    const done = await sealed(large(6_600_000), added);
    expect(verify(done)).toMatchObject({ valid: true, level: "B-LTA" });
    const archive = { kind: "built-in" as const, certificates: [], policy: "", serial: "1" };
    const about = { trusted: [authority.ca], goal: "B-LTA" as const, renew: true, at, archive };
    const renewed = await extend({ ...about, pdf: done }, ports);
    expect(renewed.ok && verify(Buffer.concat([done, renewed.value.tail])).valid).toBe(true);
  });

  test("a first page with far more on it, likewise", async () => {
    const page = `<</Type/Page/Parent 2 0 R/Contents 5 0 R/X[${"[]".repeat(1_000_000)}]>>`;
    const done = await sealed(contract({ 3: page }), added);
    expect(verify(done)).toMatchObject({ valid: true, level: "B-LTA" });
  });

  test("information that is a page's content keeps it when it is stamped", async () => {
    const text = contract().toString("latin1").replace("/Root 1 0 R", "/Root 1 0 R/Info 6 0 R");
    const pdf = Buffer.from(text, "latin1");
    const drawings = [{ kind: "dot" as const, page: 1, x: 10, y: 10, width: 10, height: 10 }];
    const result = await stamp({ pdf, drawings, watermark: null, at });
    if (!result.ok) throw new Error(result.error.message);
    expect(textOf(Buffer.concat([pdf, result.value.tail]), 2).trim()).toBe(CLAUSE);
  });

  test("a seal of ours, that is changed and sealed anew, is vouched for by the new seal alone", async () => {
    const once = await sealed(contract());
    const taken = await uploaded(once);
    expect(taken).toMatchObject({ pdf: once, warnings: ["already-signed", "form-fields"] });
    const twice = await sealed(once, added, "Seal 2");
    const report = verify(twice);
    expect(report).toMatchObject({ valid: true, level: "B-LTA" });
    expect(report.signatures.map(({ foreign }) => foreign)).toEqual([true, true, false, false]);
    const copy = Buffer.from(twice);
    copy[twice.indexOf("Cover")] = 0x63;
    expect(verify(copy).valid).toBe(false);
  });
});

describe("behind a seal, under a trusted timestamp,", () => {
  const evil = "BT /F1 30 Tf 40 600 Td (The buyer pays 1000000) Tj ET";

  async function stamped(pdf: Uint8Array, tail: Uint8Array): Promise<Buffer> {
    const all = Buffer.concat([pdf, tail]);
    const about = { entries: [["SubFilter", name("ETSI.RFC3161")]] as const, fieldName: "T9", capacity: 8000 };
    const made = prepareSignature(beginRevision(openPdf(all)), about, createHash("sha256").update(all));
    return Buffer.concat([all, made.close(await ports.archiveTimestamp(made.digest))]);
  }
  const revision = (pdf: Uint8Array, change: (revision: Revision) => void): Uint8Array => {
    const begun = beginRevision(openPdf(pdf));
    change(begun);
    return begun.finish().bytes;
  };
  /** Object 6 twice in one section of the cross-reference. */
  const twice = (pdf: Uint8Array, order: readonly [number, number]): Uint8Array => {
    const bodies = [shown(CLAUSE), stream(evil)].map((body) => `6 0 obj\n${body}\nendobj\n`);
    const starts = [pdf.length, pdf.length + (bodies[0]?.length ?? 0)];
    const rows = order.map((which) => `6 1\n${String(starts[which]).padStart(10, "0")} 00000 n \n`).join("");
    const { size, startXref } = openPdf(pdf);
    const trailer = `trailer\n<</Size ${size}/Root 1 0 R/Prev ${startXref}>>\n`;
    const xref = pdf.length + bodies.join("").length;
    return Buffer.from(`${bodies.join("")}xref\n${rows}${trailer}startxref\n${xref}\n%%EOF\n`, "latin1");
  };

  const revisions: [string, (pdf: Uint8Array) => Uint8Array][] = [
    [
      "an object that a page has always referred to",
      (pdf) => revision(pdf, (begun) => begun.set(new PdfRef(500), new PdfStream(new PdfDict(), Buffer.from(evil)))),
    ],
    [
      "a key that stands twice in the catalog",
      (pdf) =>
        revision(pdf, (begun) => {
          const pages = new PdfRaw(Buffer.from("7 0 R\n/Pages 2 0 R"));
          begun.set(begun.base.catalogRef, begun.catalog.clone().set("Pages", pages));
        }),
    ],
    [
      "validation data with an object besides",
      (pdf) =>
        revision(pdf, (begun) => {
          addToStore(begun, { certificates: [Buffer.from("x")], lists: [] });
          begun.set(new PdfRef(500), new PdfStream(new PdfDict(), Buffer.from(evil)));
        }),
    ],
    ["an object that stands twice, the true one first", (pdf) => twice(pdf, [0, 1])],
    ["an object that stands twice, the true one last", (pdf) => twice(pdf, [1, 0])],
  ];
  test.each(revisions)("%s is a change", async (_, tail) => {
    const pdf = await sealed(contract(first("[5 0 R 500 0 R]")));
    expect(verify(pdf).valid).toBe(true);
    const report = verify(await stamped(pdf, tail(pdf)));
    expect(report.valid).toBe(false);
    expect(report.signatures[0]?.problems).toContain("changed-after");
  });
});
