/** What acts in an upload and what is attached to it: found wherever it stands, and treated as the operator decided. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { inspect } from "../../workers/inspect.ts";
import { mayHoldActiveContent } from "../../workers/pdf/active-content.ts";
import { openPdf } from "../../workers/pdf/reader.ts";
import type { ActiveContentPolicy } from "../../workers/protocol.ts";
import { seal } from "../../workers/seal/seal.ts";
import { type Authority, makeAuthority } from "../harness/authority.ts";
import { CLAUSE, contract, stream } from "../harness/hostile-pdfs.ts";
import { faultsOf, qpdf, render, textOf } from "../harness/rendering.ts";

const look = (pdf: Uint8Array, activeContent?: ActiveContentPolicy) =>
  inspect({ pdf, maxPages: 10, ...(activeContent !== undefined && { activeContent }) });

async function accepted(pdf: Uint8Array, activeContent?: ActiveContentPolicy) {
  const result = await look(pdf, activeContent);
  if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`);
  return result.value;
}

type Objects = Readonly<Record<number, string>>;

const catalog = (more: string): Objects => ({ 1: `<</Type/Catalog/Pages 2 0 R${more}>>` });
const page = (more: string): Objects => ({ 3: `<</Type/Page/Parent 2 0 R/Contents 5 0 R${more}>>` });
const annotation = (body: string): Objects => page(`/Annots[<</Type/Annot/Rect[100 100 200 200]${body}>>]`);
const link = (action: string): Objects => annotation(`/Subtype/Link/A ${action}`);
const FILE = "<</Type/Filespec/F(PAYLOAD.txt)/EF<</F 20 0 R>>>>";
const files: Objects = { 20: stream("PAYLOAD") };
const picture: Objects = {
  21: "<</Type/XObject/Subtype/Form/BBox[0 0 100 100]/Length 20>>\nstream\n0 0 100 100 re f    \nendstream",
};

const script = "<</S/JavaScript/JS(PAYLOAD)>>";
const launch = "<</S/Launch/F(PAYLOAD.exe)>>";
const to = (uri: string): string => `<</S/URI/URI(${uri})>>`;
const address = to("https://PAYLOAD.example");
const layers = `/OCProperties<</OCGs[22 0 R 23 0 R]/D<</ON[22 0 R]/OFF[23 0 R]/Order[22 0 R 23 0 R]/AS[<</Event/Print/Category[/Print]/OCGs[22 0 R]>>]>>>>`;
const layered: Objects = {
  22: "<</Type/OCG/Name(Walls)/Usage<</Print<</PrintState/ON>>>>>>",
  23: "<</Type/OCG/Name(Pipes)>>",
};
const form = (more: string): Objects => ({
  ...page("/Resources<</Font<</F1 7 0 R>>/XObject<</X 21 0 R>>>>"),
  21: `<</Type/XObject/Subtype/Form/BBox[0 0 100 100]/Length 20${more}>>\nstream\n0 0 100 100 re f    \nendstream`,
});

/** Each with a payload that must be gone where it is removed. */
const kinds: [kind: string, place: string, objects: Objects, count?: number][] = [
  ["javascript", "opening", catalog(`/OpenAction ${script}`)],
  ["javascript", "opening, behind references", { ...catalog("/OpenAction 10 0 R"), 10: "11 0 R", 11: script }],
  ["javascript", "the catalog's triggers", catalog(`/AA<</WC ${script}/DP ${script}>>`)],
  ["javascript", "a page's triggers", page(`/AA<</O ${script}>>`)],
  ["javascript", "a link", link(script)],
  ["javascript", "a link, its name written in hexadecimal", link("<</S/Java#53cript/JS(PAYLOAD)>>")],
  ["javascript", "a script in a stream", { ...link("<</S/JavaScript/JS 20 0 R>>"), ...files }],
  ["javascript", "an annotation's triggers", annotation(`/Subtype/Link/AA<</E ${script}>>`)],
  ["javascript", "behind another action", link(`<</S/GoTo/D[4 0 R/Fit]/Next ${script}>>`)],
  [
    "javascript",
    "in a list behind two other actions",
    link(`<</S/GoTo/D[4 0 R/Fit]/Next<</S/Named/N/NextPage/Next[<</S/GoTo/D[3 0 R/Fit]>>${script}]>>>>`),
  ],
  [
    "javascript",
    "a field and the field above it",
    {
      ...catalog("/AcroForm<</Fields[10 0 R]/CO[11 0 R]>>"),
      10: `<</T(sum)/FT/Tx/Kids[11 0 R]/AA<</C ${script}>>>>`,
      11: `<</Parent 10 0 R/Subtype/Widget/Rect[0 0 9 9]/A ${script}>>`,
    },
    2,
  ],
  [
    "javascript",
    "a bookmark below another",
    {
      ...catalog("/Outlines 10 0 R"),
      10: "<</Type/Outlines/First 11 0 R/Last 11 0 R/Count 1>>",
      11: "<</Title(One)/Parent 10 0 R/First 12 0 R/Last 12 0 R/Count 1>>",
      12: `<</Title(Two)/Parent 11 0 R/A ${script}>>`,
    },
  ],
  [
    "javascript",
    "the names of the document",
    { ...catalog("/Names<</JavaScript<</Kids[10 0 R]>>>>"), 10: `<</Limits[(a)(a)]/Names[(a)${script}]>>` },
  ],
  ["javascript", "a step of a presentation", page(`/PresSteps<</Type/NavNode/NA ${script}/Dur 1>>`)],
  ["javascript", "an address", link(to("javascript:PAYLOAD"))],
  ["javascript", "an address, in disguise", link(to(" Java\\\nScr\\tipt :PAYLOAD"))],
  ["javascript", "an address in UTF-16", link("<</S/URI/URI<FEFF006A006100760061007300630072006900700074003A0031>>>")],
  [
    "javascript",
    "an address in an object of its own",
    { ...link("<</S/URI/URI 10 0 R>>"), 10: "(javascript:PAYLOAD)" },
  ],
  ["javascript", "an address for another browser", link(to("vbscript:PAYLOAD"))],
  [
    "javascript",
    "an address that a bookmark opens",
    {
      ...catalog("/Outlines 10 0 R"),
      10: "<</Type/Outlines/First 11 0 R/Last 11 0 R/Count 1>>",
      11: `<</Title(One)/Parent 10 0 R/A ${to("javascript:PAYLOAD")}>>`,
    },
  ],
  ["javascript", "an address that is opened without a click", catalog(`/OpenAction ${to("javascript:PAYLOAD")}`)],
  [
    "javascript",
    "what addresses are relative to",
    { ...catalog("/URI<</Base(javascript:PAYLOAD)>>"), ...link(to("x")) },
  ],
  ["launch", "a link", link(launch)],
  ["launch", "an address of a file", link(to("file:///C|/PAYLOAD.exe"))],
  [
    "launch",
    "an address of a file, behind another action",
    link(`<</S/GoTo/D[4 0 R/Fit]/Next ${to("FILE:PAYLOAD")}>>`),
  ],
  ["launch", "an address of a file in another computer", link(to("\\\\\\\\server\\\\PAYLOAD"))],
  ["launch", "an address of a drive", link(to("c:/PAYLOAD.exe"))],
  ["launch", "an address of a program's own", link(to("ms-msdt:/id PAYLOAD"))],
  ["launch", "an address that is a document", link(to("data:text/html,PAYLOAD"))],
  ["launch", "what addresses are relative to", { ...catalog("/URI 10 0 R"), 10: "<</Base(file://PAYLOAD/share/)>>" }],
  ["launch", "opening", catalog(`/OpenAction<</S/Launch/Win<</F(PAYLOAD.exe)>>>>`)],
  ["submit-form", "a link", link("<</S/SubmitForm/F<</FS/URL/F(https://PAYLOAD.example)>>>>")],
  ["reset-form", "a link", link("<</S/ResetForm/Fields[(PAYLOAD)]>>")],
  ["import-data", "a link", link("<</S/ImportData/F(PAYLOAD.fdf)>>")],
  ["remote-link", "a link", link("<</S/GoToR/F(PAYLOAD.pdf)/D[0/Fit]>>")],
  ["remote-link", "opening", catalog("/OpenAction<</S/GoToR/F(//PAYLOAD/share)/D[0/Fit]>>")],
  ["remote-link", "a thread", link("<</S/Thread/F(PAYLOAD.pdf)/D 0>>")],
  ["remote-link", "a thread, opening", catalog("/OpenAction<</S/Thread/F<</Type/Filespec/F(PAYLOAD.pdf)>>/D 0>>")],
  ["automatic-link", "opening", catalog(`/OpenAction ${address}`)],
  ["automatic-link", "opening, in an object of its own", { ...catalog("/OpenAction 10 0 R"), 10: address }],
  ["automatic-link", "opening, behind another action", catalog(`/OpenAction<</S/GoTo/D[4 0 R/Fit]/Next ${address}>>`)],
  [
    "automatic-link",
    "opening, in a list behind two other actions",
    {
      ...catalog("/OpenAction<</S/GoTo/D[4 0 R/Fit]/Next 10 0 R>>"),
      10: `<</S/Named/N/NextPage/Next[<</S/GoTo/D[3 0 R/Fit]/Next 10 0 R>>${address}]>>`,
    },
  ],
  ["automatic-link", "the catalog's triggers", catalog(`/AA<</WC ${address}/DP ${address}>>`)],
  ["automatic-link", "a page's triggers", page(`/AA<</O ${address}>>`)],
  ["automatic-link", "a page's triggers, to what is relative", page(`/AA<</C ${to("/PAYLOAD")}>>`)],
  [
    "automatic-link",
    "an annotation's triggers",
    annotation(`/Subtype/Link/AA<</U<</S/Named/N/NextPage>>/E ${address}>>`),
  ],
  ["automatic-link", "behind another action of triggers", page(`/AA<</O<</S/Named/N/NextPage/Next[${address}]>>>>`)],
  [
    "automatic-link",
    "a field",
    { ...catalog("/AcroForm<</Fields[10 0 R]>>"), 10: `<</T(sum)/FT/Tx/AA<</F ${address}>>>>` },
  ],
  ["automatic-link", "a step of a presentation", page(`/PresSteps<</Type/NavNode/NA ${address}/Dur 1>>`)],
  [
    "automatic-link",
    "one that a link opens, too",
    {
      ...page("/AA<</O 10 0 R>>/Annots[<</Subtype/Link/Rect[0 0 9 9]/A 11 0 R>>]"),
      10: address,
      11: to("https://a.example"),
    },
  ],
  [
    "set-layers",
    "a link",
    { ...catalog(layers), ...layered, ...link("<</S/SetOCGState/State[/OFF 22 0 R/ON 23 0 R]/X(PAYLOAD)>>") },
  ],
  [
    "set-layers",
    "opening",
    { ...catalog(`${layers}/OpenAction<</S/SetOCGState/State[/Toggle 22 0 R]/X(PAYLOAD)>>`), ...layered },
  ],
  ["hide", "a link", link("<</S/Hide/T(PAYLOAD)>>")],
  ["hide", "a page's triggers", page("/AA<</O<</S/Hide/T[(PAYLOAD)]/H false>>>>")],
  ["transition", "a link", link("<</S/Trans/Trans<</S/Wipe/X(PAYLOAD)>>>>")],
  ["embedded-link", "a link", link("<</S/GoToE/F(PAYLOAD.pdf)/D[0/Fit]>>")],
  ["rendition", "a link", link("<</S/Rendition/OP 0/R<</S/MR/N(PAYLOAD)>>>>")],
  ["rendition", "a screen", annotation("/Subtype/Screen/T(PAYLOAD)")],
  ["movie", "an annotation", annotation("/Subtype/Movie/Movie<</F(PAYLOAD.avi)>>")],
  ["movie", "an action", link("<</S/Movie/T(PAYLOAD)>>")],
  ["sound", "an annotation", { ...annotation("/Subtype/Sound/Sound 20 0 R"), ...files }],
  ["sound", "an action", { ...link("<</S/Sound/Sound 20 0 R>>"), ...files }],
  ["rich-media", "an annotation", annotation("/Subtype/RichMedia/RichMediaContent<</Assets(PAYLOAD)>>")],
  ["rich-media", "an action", link("<</S/RichMediaExecute/CMD<</C(PAYLOAD)>>>>")],
  ["3d", "an annotation", { ...annotation("/Subtype/3D/3DD 20 0 R"), ...files }],
  ["3d", "an action", link("<</S/GoTo3DView/V(PAYLOAD)>>")],
  [
    "projection",
    "an annotation",
    annotation("/Subtype/Projection/Contents(PAYLOAD)/ExData<</Type/ExData/Subtype/3DM>>"),
  ],
  ["external-content", "a form", form("/Ref<</F(PAYLOAD.pdf)/Page 0>>")],
  ["external-content", "a form, in an object of its own", { ...form("/Ref 10 0 R"), 10: "<</F(PAYLOAD.pdf)/Page 0>>" }],
  ["external-content", "a stream", form("/F(PAYLOAD.bin)")],
  ["external-content", "a stream, at an address", form("/F<</FS/URL/F(https://PAYLOAD.example)>>/FFilter/FlateDecode")],
  [
    "embedded-files",
    "the names of the document",
    { ...catalog("/Names<</EmbeddedFiles<</Kids[10 0 R]>>>>"), 10: `<</Limits[(a)(a)]/Names[(a)${FILE}]>>`, ...files },
  ],
  ["file-attachment", "a page", { ...annotation(`/Subtype/FileAttachment/FS ${FILE}`), ...files }],
  ["associated-files", "the catalog", { ...catalog(`/AF[${FILE}]`), ...files }],
  ["associated-files", "a page", { ...page(`/AF ${FILE}`), ...files }],
];
const Words = z.object({ warning: z.record(z.string(), z.string()) });
const wordsIn = (language: string) =>
  Words.parse(JSON.parse(readFileSync(`locales/${language}/templates.json`, "utf8"))).warning;
const english = wordsIn("en");
const german = wordsIn("de");
const attached = new Set(["embedded-files", "file-attachment", "associated-files"]);
const policies = [undefined, "warn", "remove", "refuse"] as const;
const table = kinds.flatMap(([kind, place, objects, count]) =>
  policies.map((policy) => ({ kind, place, policy, objects, count: count ?? 1 })),
);

describe("an upload with", () => {
  test.each(table)("$kind in $place, setting $policy", async ({ kind, policy, objects, count }) => {
    const upload = contract(objects);
    if (policy === "refuse") {
      expect(await look(upload, policy)).toMatchObject({ ok: false, error: { code: "active-content" } });
      return;
    }
    const { pdf, pageCount, warnings } = await accepted(upload, policy);
    const removed = policy === "remove" || (policy === undefined && !attached.has(kind));
    const told = warnings.filter(({ code }) => code !== "form-fields");
    const code = removed ? `${kind}-removed` : kind;
    expect(told).toEqual([{ code, message: english[code], count }]);
    expect(german[code]).toMatch(removed ? /^Das Dokument enthielt .*entfernt\.$/ : /^Das Dokument enthält .*\.$/);
    expect(pageCount).toBe(2);
    if (!removed) {
      expect(pdf).toBeNull();
      return;
    }
    const kept = pdf ?? new Uint8Array();
    expect(Buffer.from(kept).toString("latin1")).not.toContain("PAYLOAD");
    expect(textOf(kept, 2).trim()).toBe(CLAUSE);
    expect(faultsOf(kept)).toBe("");
    // Nothing is left to be found.
    expect((await accepted(kept, "refuse")).pdf).toBeNull();
  });

  test("several kinds, in objects that are packed: each has its warning", async () => {
    const upload = qpdf(
      contract({
        ...catalog(`/OpenAction ${script}/Names<</EmbeddedFiles<</Names[(a)${FILE}]>>>>`),
        ...link(launch),
        ...files,
      }),
      "--object-streams=generate",
    );
    expect((await accepted(upload)).warnings.map(({ code }) => code)).toEqual([
      "javascript-removed",
      "launch-removed",
      "embedded-files",
    ]);
    expect(await look(upload, "refuse")).toMatchObject({
      error: {
        message: expect.stringMatching(/scripts \(JavaScript\), actions that open programs or files, attached files/),
      },
    });
  });

  test.each<[string, Objects]>([
    ["an action that is also taken for triggers", { ...catalog("/AA 10 0 R"), ...link("10 0 R"), 10: script }],
    [
      "a list that is also taken for files",
      { ...catalog("/AF 10 0 R"), ...link("<</S/GoTo/Next 10 0 R>>"), 10: `[${script}]` },
    ],
  ])("%s: it is found where it acts", async (_, objects) => {
    const { pdf, warnings } = await accepted(contract(objects));
    expect(warnings.map(({ code }) => code)).toEqual(["javascript-removed"]);
    expect((await accepted(pdf ?? new Uint8Array(), "refuse")).pdf).toBeNull();
  });

  test("media that has a picture keeps it", async () => {
    const media = "/Subtype/RichMedia/RichMediaContent<</Assets(PAYLOAD)>>/F 4/AP<</N 21 0 R>>";
    const { pdf } = await accepted(contract({ ...annotation(media), ...picture }));
    expect(render(pdf ?? new Uint8Array(), 1).at(150, 792 - 150)).toBe(0);
  });

  test("a portfolio that loses its files is its cover", async () => {
    const names = `/Collection<</View/T>>/Names<</EmbeddedFiles<</Names[(a)${FILE}]>>>>`;
    const upload = contract({ ...catalog(names), ...files });
    expect((await accepted(upload)).warnings.map(({ code }) => code)).toEqual(["embedded-files", "portfolio"]);
    expect((await accepted(upload, "remove")).warnings.map(({ code }) => code)).toEqual(["embedded-files-removed"]);
  });

  test("nothing of the kind is left alone, whatever names it uses", async () => {
    const upload = contract({
      ...catalog("/OpenAction[3 0 R/Fit]/StructTreeRoot 10 0 R/Names<</Dests<</Names[(JavaScript)[3 0 R/Fit]]>>>>"),
      10: "<</Type/StructTreeRoot/K 11 0 R/RoleMap<</Sound/P/Launch/P>>>>",
      11: "<</Type/StructElem/S/Sound/P 10 0 R/A<</O/Layout/Placement/Block>>/K[12 0 R]>>",
      12: "<</Type/StructElem/S/Launch/P 11 0 R>>",
      3: `<</Type/Page/Parent 2 0 R/Contents 5 0 R/Resources<</Font<</F1 7 0 R/AF 7 0 R/JavaScript 7 0 R/A 7 0 R>>>>/Annots[${[
        "<</S/URI/URI(https://example.com)>>",
        "<</S/GoTo/D[4 0 R/Fit]/Next<</S/Named/N/LastPage>>>>",
        "<</S/Thread/D 0>>",
      ]
        .map((action) => `<</Subtype/Link/Rect[0 0 9 9]/A ${action}>>`)
        .join("")}]>>`,
    });
    for (const policy of policies) expect(await accepted(upload, policy)).toMatchObject({ pdf: null, warnings: [] });
  });

  test("ordinary links are left alone, and not even looked for", async () => {
    const addresses = [
      "https://example.com/?next=javascript:alert%281%29",
      "HTTP://example.com",
      "mailto:a@example.com",
      "tel:+49301234",
      "ftp://example.com",
      "example.com/a:b",
      "www.example.com:8080/a",
      "intranet:8080/a",
      "whatsapp://send?text=x",
      "webcal://example.com/a.ics",
      "URL:http://example.com",
      "E-Mail: a@example.com",
      "#page=2",
      "",
    ];
    const links = addresses.map((uri) => `<</Subtype/Link/Rect[0 0 9 9]/A ${to(uri)}>>`).join("");
    const opening = "/OpenAction<</S/GoTo/D[3 0 R/XYZ 0 0 0]/Next<</S/Named/N/LastPage>>>>/URI(https://example.com)";
    const upload = contract({ ...catalog(opening), ...page(`/Annots[${links}]`) });
    for (const policy of policies) expect(await accepted(upload, policy)).toMatchObject({ pdf: null, warnings: [] });
    const file = openPdf(upload);
    file.isSelfContained();
    expect(mayHoldActiveContent(file)).toBe(false);
  });

  test("a click is a click, whichever trigger it has", async () => {
    const upload = contract(
      annotation(`/Subtype/Link/AA<</D ${to("https://a.example")}/U ${to("https://b.example")}>>`),
    );
    for (const policy of policies) expect(await accepted(upload, policy)).toMatchObject({ pdf: null, warnings: [] });
  });

  test("a layered drawing stays as it is, and so do transitions of pages, filters by their short name and structure", async () => {
    const upload = contract({
      ...catalog(`${layers}/StructTreeRoot 10 0 R`),
      ...layered,
      ...form("/OC 22 0 R"),
      4: "<</Type/Page/Parent 2 0 R/Contents 6 0 R/Trans<</S/Wipe/D 1>>/Dur 5>>",
      10: "<</Type/StructTreeRoot/K 11 0 R/Data 24 0 R>>",
      11: "<</Type/StructElem/S/P/P 10 0 R/Ref[12 0 R]/K[12 0 R]>>",
      12: "<</Type/StructElem/S/P/P 11 0 R>>",
      24: "<</F/AHx/Length 2>>\nstream\n0>\nendstream",
    });
    for (const policy of policies) expect(await accepted(upload, policy)).toMatchObject({ pdf: null, warnings: [] });
  });

  test("a form that loses its pages of another file keeps its own content", async () => {
    const drawn = { ...form("/Ref<</F(PAYLOAD.pdf)/Page 0>>"), 5: stream("q 1 0 0 1 100 100 cm /X Do Q") };
    const { pdf } = await accepted(contract(drawn));
    expect(render(pdf ?? new Uint8Array(), 1).at(150, 792 - 150)).toBe(0);
  });
});

describe("a document that others signed", () => {
  let authority: Authority;
  beforeAll(() => {
    authority = makeAuthority({ seal: "ec-p256", timestamp: "ec-p256" });
  });
  afterAll(() => authority.close());

  test.each(policies)("is never altered (setting %s)", async (policy) => {
    const { certificates } = authority.seal;
    const opening = `/OpenAction ${script}/AF[${FILE}]/AA<</WC ${address}>>`;
    const pdf = contract({ ...catalog(opening), ...form("/Ref<</F(PAYLOAD)>>"), ...files });
    const about = {
      at: new Date(Date.now() + 3_600_000).toISOString(),
      name: "A",
      reason: "B",
      location: null,
    } as const;
    const input = { ...about, pdf, pages: null, certificates, key: "ec-p256", level: "B-B", fieldName: "S" } as const;
    const made = await seal(input, authority.ports());
    if (!made.ok) throw new Error(made.error.message);
    const upload = Buffer.concat([pdf, made.value.tail]);
    if (policy === "refuse") {
      expect(await look(upload, policy)).toMatchObject({ ok: false, error: { code: "active-content" } });
      return;
    }
    const { pdf: rewritten, warnings } = await accepted(upload, policy);
    expect(rewritten).toBeNull();
    expect(warnings.map(({ code }) => code)).toEqual([
      "javascript",
      "automatic-link",
      "external-content",
      "associated-files",
      ...(policy === "warn" ? [] : ["active-content-kept"]),
      "already-signed",
      "form-fields",
    ]);
    // What cost it its signatures anyway costs it the rest, too.
    if (policy === "warn") return;
    const codes = (await accepted(upload.subarray(0, upload.length - 20), policy)).warnings.map(({ code }) => code);
    const file = policy === "remove" ? "associated-files-removed" : "associated-files";
    const acts = ["javascript-removed", "automatic-link-removed", "external-content-removed"];
    expect(codes).toEqual(["repaired", "signatures-removed", ...acts, file, "form-fields"]);
  });
});

/** With a form of these fields, the tenth object a signature field whose value leaves out just its own contents. */
function withSignatureOf(contents: string, more: string, fields = "10 0 R"): Buffer {
  const blank = "0000000000";
  const text = contract({
    ...catalog(`/AcroForm<</Fields[${fields}]>>${more}`),
    10: `<</FT/Sig/T(s)/V<</Type/Sig/ByteRange[0 ${blank} ${blank} ${blank}]/Contents<${contents}>>>>>`,
  }).toString("latin1");
  const before = text.indexOf(`<${contents}>`);
  const after = before + contents.length + 2;
  const range = [before, after, text.length - after].map((place) => String(place).padStart(blank.length)).join(" ");
  return Buffer.from(text.replace([blank, blank, blank].join(" "), range), "latin1");
}

/** Codes besides the one about its form. */
const codesOf = (warnings: readonly { code: string }[]): string[] =>
  warnings.map(({ code }) => code).filter((code) => code !== "form-fields");

test("usage rights that are lost are named, a signature field without a signature is not", async () => {
  const cut = (pdf: Uint8Array): Uint8Array => pdf.subarray(0, pdf.length - 20);
  const rights = contract(catalog("/Perms<</UR3<</Type/Sig/ByteRange[0 10 20 30]/Contents<3000>>>>>>"));
  expect(codesOf((await accepted(cut(rights))).warnings)).toEqual(["repaired", "signatures-removed"]);
  const empty = contract(catalog("/AcroForm<</Fields[<</FT/Sig/T(s)/V<</Type/Sig>>>>]>>"));
  expect(codesOf((await accepted(cut(empty))).warnings)).toEqual(["repaired"]);
});

test("what a reference with a wrong generation seems to lead to is looked at all the same", async () => {
  const upload = contract({ ...catalog("/X[3 1 R]"), ...page(`/AA<</O ${script}>>`) });
  expect(await look(upload, "refuse")).toMatchObject({ ok: false, error: { code: "active-content" } });
  const { pdf, warnings } = await accepted(upload);
  expect(codesOf(warnings)).toContain("javascript-removed");
  expect(Buffer.from(pdf ?? upload).toString("latin1")).not.toContain("PAYLOAD");
});

test("a signature that its form lists with a wrong generation as well is not taken out silently", async () => {
  const opening = `/OpenAction ${script}`;
  expect(codesOf((await accepted(withSignatureOf("3003020100", opening))).warnings)).toEqual([
    "javascript",
    "active-content-kept",
    "already-signed",
  ]);
  const { pdf, warnings } = await accepted(withSignatureOf("3003020100", opening, "10 0 R 10 1 R"));
  expect(codesOf(warnings)).toContain(pdf === null ? "active-content-kept" : "signatures-removed");
});

test("a page that lacks a font loses its scripts and nothing else", async () => {
  const upload = contract({ ...page(`/Resources<</Font<</F1 7 0 R/F2 8 0 R>>>>/AA<</O ${script}>>`), 8: "null" });
  const { pdf, warnings } = await accepted(upload);
  expect(codesOf(warnings)).toContain("javascript-removed");
  expect(textOf(pdf ?? new Uint8Array(), 2).trim()).toBe(CLAUSE);
});

test.each([
  "/AcroForm<</Fields[]/SigFlags 1>>",
  "/AcroForm<</Fields[<</FT/Sig/T(s)/V<</Type/Sig/ByteRange[0]>>>>]>>",
  "/AcroForm<</Fields[<</FT/Sig/T(s)/V<</Type/Sig/ByteRange[0 10 40 60]/Contents<3003020100>>>>>]>>",
  "/Perms<</X<</ByteRange[7]>>>>",
  "/AcroForm<</Fields[<</FT/Sig/T(here)>>]/SigFlags 3>>",
  "/Perms<</DocMDP<<>>>>",
])("a document that only says that it is signed is altered like any other: %s", async (entries) => {
  const upload = contract(catalog(`/OpenAction ${script}${entries}`));
  const { pdf, warnings } = await accepted(upload, "remove");
  expect(Buffer.from(pdf ?? "").toString("latin1")).not.toContain("/JavaScript");
  expect(pdf).not.toBeNull();
  // What says which bytes it signs is named when it goes, though it signs nothing.
  expect(codesOf(warnings).filter((code) => code !== "signatures-removed")).toEqual(["javascript-removed"]);
});

describe("costs no more than its size deserves:", () => {
  const MANY = 20_000;
  const chain: Record<number, string> = { ...link("10 0 R") };
  for (let num = 10; num < 10 + MANY; num++) {
    chain[num] = `<</S/JavaScript/JS(x)/Next ${num + 1 < 10 + MANY ? num + 1 : 10} 0 R>>`;
  }
  const hostile: [string, Uint8Array][] = [
    ["a ring of actions", contract(chain)],
    [
      "one list of many actions behind many",
      contract({ ...link(`<</S/GoTo/Next[${"10 0 R ".repeat(MANY)}]>>`), 10: script }),
    ],
    [
      "lists of each other",
      contract({
        ...link("<</S/GoTo/Next 10 0 R>>"),
        ...Object.fromEntries(
          Array.from({ length: 300 }, (_, n) => [
            10 + n,
            `<</S/GoTo/Next[${Array.from({ length: 300 }, (_, k) => `${10 + k} 0 R`).join(" ")}]>>`,
          ]),
        ),
        310: script,
      }),
    ],
    [
      "many places that share a long list",
      contract({
        ...page(`/Annots[${"<</Subtype/Link/Rect[0 0 9 9]/A<</S/GoTo/Next 10 0 R>>/AF 11 0 R>>".repeat(MANY)}]`),
        10: `[${"12 0 R ".repeat(MANY)}13 0 R]`,
        11: `[${"12 0 R ".repeat(MANY)}]`,
        12: "<</S/GoTo/D[4 0 R/Fit]>>",
        13: script,
      }),
    ],
    [
      "a list of itself",
      contract({ ...link("<</S/GoTo/Next 10 0 R>>"), 10: `[10 0 R 11 0 R ${script}]`, 11: "[10 0 R]" }),
    ],
    ["nesting", contract(link(`${"<</S/GoTo/Next".repeat(120)}${script}${">>".repeat(120)}`))],
    [
      "many triggers of long chains",
      contract({
        ...page(
          `/Annots[${"<</Subtype/Link/Rect[0 0 9 9]/AA<</E<</Next 10 0 R>>/X<</Next 11 0 R>>>>>>".repeat(MANY)}]`,
        ),
        ...Object.fromEntries(Array.from({ length: MANY }, (_, n) => [12 + n, `<</S/Named/N/A/Next ${13 + n} 0 R>>`])),
        10: "12 0 R",
        11: `[${"12 0 R ".repeat(60)}]`,
        [12 + MANY]: address,
      }),
    ],
    [
      "many addresses that are one long string",
      contract({
        ...page(`/Annots[${"<</Subtype/Link/Rect[0 0 9 9]/A<</S/URI/URI 10 0 R>>>>".repeat(MANY)}]`),
        10: `(${" ".repeat(5_000_000)}javascript:1)`,
      }),
    ],
    [
      "many attached files on one list",
      contract({
        ...page(`/Annots[${"10 0 R ".repeat(MANY)}]`),
        10: `<</Subtype/FileAttachment/Rect[0 0 9 9]/FS ${FILE}>>`,
        ...files,
      }),
    ],
  ];
  test.each(hostile)("%s", async (_, upload) => {
    for (const policy of [undefined, "remove"] as const) {
      const start = performance.now();
      const result = await look(upload, policy);
      expect(performance.now() - start).toBeLessThan(10_000);
      if (result.ok && policy === "remove") expect((await look(result.value.pdf ?? upload, "refuse")).ok).toBe(true);
    }
  });
});
