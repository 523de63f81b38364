import { hash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inspect } from "../../workers/inspect.ts";
import { endingOf } from "../../workers/pdf/content.ts";
import { openPdf } from "../../workers/pdf/reader.ts";
import type { Drawing } from "../../workers/protocol.ts";
import { stamp } from "../../workers/stamp.ts";
import { type Authority, makeAuthority } from "../harness/authority.ts";
import { rawPdf, samplePdf, whole } from "./pdf/samples.ts";
import { stampFixtures } from "./stamp-fixtures.ts";
import { judgeStamp, mupdf, poppler } from "./stamp-judging.ts";

/** What pages leave open does not hide what is stamped on them; `npm run test:judges -- stamps` takes all pages and two more renderers. */

const AT = new Date(Date.now() + 3_600_000).toISOString();
const fixtures = stampFixtures();
let authority: Authority;
beforeAll(() => {
  authority = makeAuthority({ seal: "ec-p256", timestamp: "ec-p256" });
});
afterAll(() => authority.close());

test("there are as many pages as were promised, all different", () => {
  expect(fixtures.length).toBeGreaterThanOrEqual(40);
  expect(new Set(fixtures.map(({ name }) => name)).size).toBe(fixtures.length);
  expect(new Set(fixtures.map(({ pdf }) => hash("sha256", pdf))).size).toBe(fixtures.length);
});

test.each([
  "string",
  "array with operators",
  "hidden layers in one another",
  "text object in a hidden layer",
  "soft mask",
  "inline image",
  "inline image that is too short",
  "rotated by 180, a layer",
  "ASCII85 and deflated",
  "a string in the last of several streams",
  "a stamp annotation over the page",
  "content in a filter for pictures",
])("poppler and MuPDF show the stamp on a page with: %s", async (name) => {
  const fixture = fixtures.find((one) => one.name === name);
  if (!fixture) throw new Error(`no fixture is called ${name}`);
  expect((await judgeStamp(fixture, [poppler, mupdf], authority, AT)).problems).toEqual([]);
});

const page = (content: string, entries = ""): Uint8Array =>
  rawPdf({
    1: "<</Type/Catalog/Pages 2 0 R>>",
    2: "<</Type/Pages/Kids[3 0 R]/Count 1>>",
    3: `<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R${entries}>>`,
    4: `<</Length ${content.length}>>\nstream\n${content}\nendstream`,
    5: "<</Length 20>>\nstream\n1 0 0 rg 0 0 9 9 re f\nendstream",
    6: "<</Length 20>>\nstream\n/Tx BMC (a) Tj EMC  \nendstream",
  });

function ending(content: string) {
  const file = openPdf(page(content));
  const [first] = file.pages();
  if (!first) throw new Error("no page");
  const { completed, ...rest } = endingOf(file, first);
  return { ...rest, completed: completed && Buffer.from(completed).toString("latin1") };
}

async function stamped(pdf: Uint8Array, ...drawings: Drawing[]) {
  const result = await stamp({ pdf, drawings, watermark: null, at: AT });
  if (!result.ok) throw new Error(result.error.message);
  return { ...result.value, pdf: whole(pdf, result.value.tail) };
}

describe("what a page leaves open", () => {
  const clean = { open: 0, extra: 0, closing: "", completed: null, pictureLost: false };

  test.each([
    ["q 1 0 0 1 0 0 cm (Q \\) q) <5151> /Q [ (q) Q ] << /A [ q ] >> BI /W 1 /H 1 /BPC 8 /CS /G ID q EI % q", {}],
    ["q Q Q q q", { open: 2, extra: 1 }],
    ["BT /OC /A BDC BMC EMC EMC EMC BMC BX 1 2 m W", { closing: "n ET EMC EX " }],
    ["% no line ends here", { closing: "\n" }],
    ["(a (b \\", { completed: "(a (b \\\n))\n\n" }],
    ["[ << /A [ (b", { completed: "[ << /A [ (b\n)\n] >> ]\n" }],
    ["[ ] ] >> > } Q", { extra: 1 }],
    ["BI /W 2 /H 1 /BPC 8 /CS /G ID ab", { completed: "BI /W 2 /H 1 /BPC 8 /CS /G ID ab\nEI\n\n" }],
    ["f BI /W 2 /H 2 /BPC 8 /CS /G ID a", { completed: "f ", pictureLost: true }],
    ["BI /W 4 /H 1 /BPC 8 /CS /G ID  EI  EI Q", { extra: 1 }],
    ["BI /W 4 /F /Fl ID x EI \x01\x02\x03 EI Q Q", { extra: 2 }],
    [`S ${"[".repeat(300)} Q`, { completed: "S " }],
  ])("%s", (content, expected) => {
    const found = ending(content);
    if (content.startsWith("q 1 0")) expect(found).toEqual({ ...clean, open: 1, closing: "\n" });
    else expect(found).toEqual({ ...clean, ...expected });
  });

  test("takes no longer for content that was made to take long", () => {
    for (const part of ["BI /W 1 ID x EI \x01 ", "BI ", "[ ", "(", "<< /A ", "BI ID "]) {
      const content = part.repeat(2_000_000 / part.length);
      const started = process.cpuUsage().user;
      ending(content);
      ending(`BI /W 1 ID ${content}`);
      expect(process.cpuUsage().user - started, part).toBeLessThan(2_000_000);
    }
  });
});

test("an ordinary page gets two small streams around its content and nothing else", async () => {
  const out = await stamped(await samplePdf(), { kind: "check", page: 1, x: 20, y: 20, width: 20, height: 20 });
  const file = openPdf(out.pdf);
  const [only] = file.pages();
  expect(file.array(only?.dict.get("Contents"))).toHaveLength(3);
  expect(file.dict(only?.resources?.get("ExtGState"))?.map.size).toBe(0);
  expect(out.tail.length).toBeLessThan(1200);
});

test("content that must be completed is written once, not with each stamp", async () => {
  const drawing: Drawing = { kind: "dot", page: 1, x: 20, y: 20, width: 20, height: 20 };
  const first = await stamped(page(`${"0 0 m 9 9 l S\n".repeat(2000)}(`), drawing);
  const second = await stamped(first.pdf, drawing);
  const before = openPdf(first.pdf).pages()[0];
  const after = openPdf(second.pdf).pages()[0];
  const refs = (dict: typeof before) => openPdf(second.pdf).array(dict?.dict.get("Contents")) ?? [];
  expect(refs(after).slice(1, -1)).toEqual(refs(before));
});

describe("annotations in front of what is stamped", () => {
  const box = { kind: "dot" as const, page: 1, x: 50, y: 50, width: 40, height: 40 };
  const warned = async (annotation: string) => {
    const { warnings } = await stamped(page("", `/Annots[<</Type/Annot${annotation}>>]`), box, { ...box, x: 150 });
    return warnings.map(({ code, page: number, count }) => [code, number, count]);
  };

  test.each([
    ["a filled one that covers one of two", "/Subtype/Stamp/Rect[40 100 100 160]/AP<</N 5 0 R>>", 1],
    ["a form field with a background", "/Subtype/Widget/Rect[0 0 200 200]/AP<</N<</On 5 0 R>>>>/AS/On", 2],
    ["a form field of text only", "/Subtype/Widget/Rect[0 0 200 200]/AP<</N 6 0 R>>", 0],
    ["one that is hidden", "/Subtype/Stamp/Rect[0 0 200 200]/AP<</N 5 0 R>>/F 2", 0],
    ["one beside them", "/Subtype/Stamp/Rect[0 0 200 60]/AP<</N 5 0 R>>", 0],
    ["a highlight", "/Subtype/Highlight/Rect[0 0 200 200]/AP<</N 5 0 R>>", 0],
  ])("%s", async (_name, annotation, count) => {
    expect(await warned(annotation)).toEqual(count === 0 ? [] : [["annotation-in-front", 1, count]]);
  });

  test("an upload is warned of those that cover much of a page", async () => {
    const codes = async (rect: string) => {
      const pdf = page("", `/Annots[<</Type/Annot/Subtype/FreeText/Rect[${rect}]/AP<</N 5 0 R>>>>]`);
      const found = await inspect({ pdf, maxPages: 10 });
      return found.ok && found.value.warnings.map(({ code, page: number }) => [code, number]);
    };
    expect(await codes("0 0 200 150")).toEqual([["annotation-over-page", 1]]);
    expect(await codes("0 0 200 50")).toEqual([]);
  });
});
