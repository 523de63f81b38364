import { hash } from "node:crypto";
import { deflateSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inspect } from "../../workers/inspect.ts";
import { endingOf } from "../../workers/pdf/content.ts";
import { openPdf } from "../../workers/pdf/reader.ts";
import type { Drawing } from "../../workers/protocol.ts";
import { stamp } from "../../workers/stamp.ts";
import { type Authority, makeAuthority } from "../harness/authority.ts";
import { rawPdf, samplePdf, whole } from "../harness/pdfs.ts";
import { lzw, stampFixtures } from "./stamp-fixtures.ts";
import { judgeStamp, mupdf, poppler } from "./stamp-judging.ts";

/** What pages leave open does not hide what is stamped on them; `npm run test:judges -- stamps` takes all pages and two more renderers. */

/** Seconds of computing each, at the limits of what is read: `npm run test:long` alone. */
const costly = test.runIf(process.env.SIGNET_TEST_FULL === "1");
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
  "a length that is too long by 3",
  "a length that ends in a string",
  "an inline image as large as a scan",
  "rows predicted as in pictures",
  "a form too large to be read that leaves a layer open",
])("poppler and MuPDF show the stamp on a page with: %s", async (name) => {
  const fixture = fixtures.find((one) => one.name === name);
  if (!fixture) throw new Error(`no fixture is called ${name}`);
  expect((await judgeStamp(fixture, [poppler, mupdf], authority, AT)).problems).toEqual([]);
});

const shape = (content: string): string =>
  `<</BBox[0 0 200 200]/Length ${content.length}>>\nstream\n${content}\nendstream`;
const page = (content: string, entries = ""): Uint8Array =>
  rawPdf({
    1: "<</Type/Catalog/Pages 2 0 R>>",
    2: "<</Type/Pages/Kids[3 0 R]/Count 1>>",
    3: `<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R${entries}>>`,
    4: `<</Length ${content.length}>>\nstream\n${content}\nendstream`,
    5: "<</Length 21>>\nstream\n1 0 0 rg 0 0 9 9 re f\nendstream",
    6: "<</Length 20>>\nstream\n/Tx BMC (a) Tj EMC  \nendstream",
    7: shape("700 w 0 100 m 200 100 l S"),
    8: shape("2 w 0 1 m 200 1 l S ".repeat(100)),
    9: shape("1 w 0 0 200 200 re s"),
  });

function ending(content: string) {
  const file = openPdf(page(content));
  const [first] = file.pages();
  if (!first) throw new Error("no page");
  const found = endingOf(file, first);
  if (typeof found === "string") throw new Error(found);
  const { completed, ...rest } = found;
  return { ...rest, completed: completed && Buffer.from(completed).toString("latin1") };
}

async function stamped(pdf: Uint8Array, ...drawings: Drawing[]) {
  const result = await stamp({ pdf, drawings, watermark: null, at: AT });
  if (!result.ok) throw new Error(result.error.message);
  return { ...result.value, pdf: whole(pdf, result.value.tail) };
}

describe("what a page leaves open", () => {
  const clean = { open: 0, extra: 0, closing: "", completed: null, pictureLost: false, unsureEnds: 0 };

  test.each([
    ["q 1 0 0 1 0 0 cm (Q \\) q) <5151> /Q [ (q) 1 ] << /A [ null ] >> BI /W 1 /H 1 /BPC 8 /CS /G ID q EI % q", {}],
    ["q Q Q q q", { open: 2, extra: 1 }],
    ["BT /OC /A BDC BMC EMC EMC EMC BMC BX 1 2 m W", { closing: "n ET EMC EX " }],
    ["% no line ends here", { closing: "\n" }],
    ["(a (b \\", { completed: "(a (b \\\n))\n\n" }],
    ["[ << /A [ (b", { completed: "[ << /A [ (b\n)\n] >> ]\n" }],
    ["[ ] ] >> > } Q", { extra: 1 }],
    ["BI /W 2 /H 1 /BPC 8 /CS /G ID ab", { completed: "BI /W 2 /H 1 /BPC 8 /CS /G ID ab\nEI\n\n" }],
    ["f BI /W 2 /H 2 /BPC 8 /CS /G ID a", { completed: "f ", pictureLost: true }],
    ["BI /W 4 /H 1 /BPC 8 /CS /G ID  EI  EI Q", { extra: 1 }],
    ["BI /W 4 /H 1 /BPC 8 /CS /G /F /AHx ID 41 42> EI Q", { extra: 1 }],
    ["BI /W 4 /H 1 /BPC 8 /CS /Own ID x EI Q q", { open: 65, extra: 65 }],
    ["[ q Q q ] 1q -Q qxq\x80", { open: 5, extra: 7 }],
    ["1 0 obj NaN 0.5.1 2-3 true qq", {}],
    ["<< /A [ 1 <</B", { completed: "<< /A [ 1 <</B\n0 >> ] >>\n" }],
    [`S ${"[".repeat(300)} Q`, { completed: "S " }],
    [`S ${"(".repeat(300)} Q`, { completed: "S " }],
    [`S [ ${"(".repeat(300)} Q`, { completed: "S " }],
    [`S ${"(".repeat(300)}${")".repeat(300)} Q`, { extra: 1 }],
  ])("%s", (content, expected) => {
    const found = ending(content);
    if (content.startsWith("q 1 0")) expect(found).toEqual({ ...clean, open: 1, closing: "\n" });
    else expect(found).toEqual({ ...clean, ...expected });
  });

  test.each([
    ["q q BT 0 0 m", "Q ET n Q Q q", { open: 1, extra: 1 }],
    ["/A BMC BX EMC", "EMC EMC /A BMC EX EX", { closing: "EMC " }],
    ["BT 0 0 m", "q Q", { closing: "n ET " }],
    ["1q % comment", "Q Q ET", { open: 1, extra: 3 }],
    ["[ (a", "b) ] TJ q", { open: 1 }],
    ["BI /W 4 /H 1", "/BPC 8 /CS /G ID abcd EI q", { open: 1 }],
    ["BI /W 4 /H 1 /BPC 8 /CS /Own ID x EI q", "Q q", { open: 65, extra: 64 }],
  ])("in streams one behind the other: %s | %s", (before, behind, expected) => {
    const file = openPdf(manyPages(["[1000 0 R 1001 0 R]"], { 1000: plain(before), 1001: plain(behind) }));
    const [first] = file.pages();
    expect(first && endingOf(file, first)).toEqual({ ...clean, ...expected });
  });

  const spare = { ...clean, closing: "EMC ".repeat(4000) };
  const endingsOf = (pdf: Uint8Array) => {
    const file = openPdf(pdf);
    return file.pages().map((page) => endingOf(file, page));
  };

  test("no ends of marked content are written that nothing began, in documents with layers either", async () => {
    const pdf = layered("/XObject<</X 1001 0 R>>/Pattern<</P 1002 0 R>>/Font<</T 1003 0 R>>", {
      1001: form("/OC /On BDC 0 0 9 9 re f EMC"),
      1002: pattern("/OC /On BDC 0 0 9 9 re f EMC"),
      1003: "<</Type/Font/Subtype/Type3/CharProcs<</a 1004 0 R>>>>",
      1004: plain("1 0 d0 /P BMC 0 0 1 1 re f EMC"),
    });
    expect(endingsOf(pdf)).toEqual([clean, clean]);
    const { tail } = await stamped(pdf, dot, { ...dot, page: 2 });
    const added = Buffer.from(tail).toString("latin1");
    expect(added).toContain("stream");
    expect(added).not.toContain("EMC");
    expect(added).not.toContain("FlateDecode");
  });

  test.each([
    ["a form leaves a mark open", "XObject", () => form("/OC /On BDC q")],
    ["a form is unclear", "XObject", () => form("q endstream Q /P BMC EMC")],
    ["nobody reads a form to its end", "XObject", () => form(`${"[".repeat(300)}${"]".repeat(300)} n /P BMC`)],
    ["a picture in a form may hold the end", "XObject", () => form(`/OC /On BDC ${hidesEnd}`)],
    ["a form cannot be decoded", "XObject", () => form("q Q").replace("FlateDecode", "DCTDecode")],
    ["a pattern leaves a mark open", "Pattern", () => pattern("/OC /On BDC q")],
    ["a pattern is unclear", "Pattern", () => pattern("q endstream Q /P BMC EMC")],
    ["a form is too large", "XObject", () => form(" ".repeat(65 * 1024 * 1024))],
    ["a form cannot be read", "XObject", () => "<</Length 3"],
  ])("readers go on in layers that others began: %s", (_name, kind, made) => {
    const pdf = (catalog?: string) => layered(`/${kind}<</X 1001 0 R>>`, { 1001: made() }, catalog);
    expect(endingsOf(pdf())).toEqual([spare, spare]);
    expect(endingsOf(pdf(""))).toEqual([clean, clean]);
  });

  test("an end of marked content that some readers take for a picture's data is written again, in a document with layers", () => {
    const pdf = (catalog: string, content = `/OC /On BDC /P BMC EMC ${hidesEnd}`) =>
      manyPages(["1000 0 R"], { 1: `<</Type/Catalog/Pages 2 0 R${catalog}>>`, 1000: plain(content) });
    const guessed = { ...clean, open: 64, extra: 64, unsureEnds: 1 };
    expect(endingsOf(pdf("/OCProperties<<>>"))).toEqual([{ ...guessed, closing: "EMC " }]);
    expect(endingsOf(pdf(""))).toEqual([guessed]);
    // No more than any page that is accepted needs.
    const many = endingsOf(pdf("/OCProperties<<>>", `${hidesEnd} ${"/P BMC EMC ".repeat(9000)}`));
    expect(many).toMatchObject([{ closing: "EMC ".repeat(8000) }]);
  });

  test("glyphs are looked at whichever way their font is set", () => {
    const font = { 1001: "<</Type/Font/Subtype/Type3/CharProcs<</a 1002 0 R>>>>", 1002: plain("1 0 d0 /P BMC") };
    expect(endingsOf(layered("/Font<</T 1001 0 R>>", font))).toEqual([spare, spare]);
    expect(endingsOf(layered("/ExtGState<</G<</Font[1001 0 R 9]>>>>", font))).toEqual([spare, spare]);
  });

  test("a list is looked at for each kind of things that it is used for", () => {
    const pdf = layered("/XObject 1002 0 R/Pattern 1002 0 R", {
      1001: pattern("/OC /On BDC q"),
      1002: "<</X 1001 0 R>>",
    });
    expect(endingsOf(pdf)).toEqual([spare, spare]);
  });

  test.each([
    "BI /W 4 /H 1 /BPC 8 /CS /G /F /Fl ID x EI \x01\x02\x03 EI Q Q",
    "BI /W 3 /H 1 /BPC 8 /CS /G ID x EI q EI",
    "BI /W 2 /W 9 /H 1 /BPC 8 /CS /G ID xx EI q",
    "BI /W 2 /Width 9 /H 1 /BPC 8 /CS /G ID xx EI q",
    "BI /W 2 /H 1 /BPC 8 /CS /G ID(x EI q",
    "BI /W 2 Q /H 1 /BPC 8 /CS /G ID xx EI q",
    "BI /D [ 1 ID x EI q",
    "BI /D (a ID x EI q",
    "1BI /W 2 /H 1 /BPC 8 /CS /G ID ( EI q",
    "BI /W 2 /H 1 /BPC 8 /CS /G /F /A85 ID 5s\nEI q (~> EI q",
    "BI /W 2 /H 1 /BPC 8 /CS /G /F /LZW ID \x80\nEI (aaaaaaaaaaaaaaaa \x80 EI q",
    "<< /A (x) /B >> q",
    "<< /A q >>",
    "q endstream Q",
  ])("is not told for certain: %s", (content) => {
    expect(() => ending(content)).toThrow("unclear");
  });

  test("takes no longer for content that was made to take long", () => {
    const looked = (content: string) => {
      const [first] = openPdf(page(content)).pages();
      if (first) endingOf(openPdf(page(content)), first);
    };
    const inflated = deflateSync(Buffer.from("x")).toString("latin1");
    const entries = "BI /W 1 /H 1 /BPC 8 /CS /G";
    const images = [`${entries} ID x EI `, `${entries} /F /AHx ID 41> EI `, `${entries} /F /Fl ID ${inflated}\nEI `];
    const parts = ["BI /W 1 ID x EI \x01 ", "BI ", "[ ", "(", "<< /A ", "BI ID ", "1q ", "1x ", "[n]", "<</A 1>>"];
    for (const part of [...parts, ...images]) {
      const content = part.repeat(2_000_000 / part.length);
      const started = process.cpuUsage().user;
      looked(content);
      looked(`BI /W 1 ID ${content}`);
      expect(process.cpuUsage().user - started, part).toBeLessThan(2_000_000);
    }
  });
});

/** Pages whose /Contents is written as given, and objects from 1000 on. */
function manyPages(contents: string[], objects: Record<number, string>, entries = ""): Uint8Array {
  const kids = contents.map((_, index) => `${index + 10} 0 R`).join(" ");
  const pages = contents.map((own, index) => [
    index + 10,
    `<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents ${own}${entries}>>`,
  ]);
  return rawPdf({
    1: "<</Type/Catalog/Pages 2 0 R>>",
    2: `<</Type/Pages/Kids[${kids}]/Count ${contents.length}>>`,
    ...Object.fromEntries(pages),
    ...objects,
  });
}

const deflated = (content: string): string => packed(deflateSync(Buffer.from(content)));
const packed = (data: Uint8Array): string =>
  `<</Filter/FlateDecode/Length ${data.length}>>\nstream\n${Buffer.from(data).toString("latin1")}\nendstream`;
const plain = (content: string): string => `<</Length ${content.length}>>\nstream\n${content}\nendstream`;
/** Two pages with these resources, in a document with layers unless `catalog` says otherwise. */
const layered = (resources: string, objects: Record<number, string>, catalog = "/OCProperties<<>>"): Uint8Array =>
  manyPages(
    ["1000 0 R", "1000 0 R"],
    { 1: `<</Type/Catalog/Pages 2 0 R${catalog}>>`, 1000: plain("q Q"), ...objects },
    `/Resources<<${resources}>>`,
  );
/** An inline image of 39 bytes, which readers that do not know its colours take to end before the `EMC`. */
const hidesEnd = "BI /W 39 /H 1 /BPC 8 /CS /Own ID x\nEI EMC BI /W 1 /H 1 /BPC 8 /CS /G ID x\nEI\n";
const form = (content: string): string => `<</Subtype/Form/BBox[0 0 9 9]${deflated(content).slice(2)}`;
const pattern = (content: string): string =>
  `<</PatternType 1/PaintType 1/TilingType 1/BBox[0 0 9 9]/XStep 9/YStep 9${deflated(content).slice(2)}`;
const dot: Drawing = { kind: "dot", page: 1, x: 20, y: 20, width: 20, height: 20 };

describe("content that is too much to be ended", () => {
  test.each(["BX ", "/A BMC ", "q ", "Q "])("is refused at the upload, on any page: %s", async (part) => {
    const pdf = (count: number) =>
      manyPages(["1000 0 R", "1001 0 R", "1000 0 R"], {
        1000: plain("0 0 m 9 9 l S"),
        1001: deflated(part.repeat(count)),
      });
    const found = await inspect({ pdf: pdf(200_000), maxPages: 10 });
    expect(found).toMatchObject({ ok: false, error: { code: "too-complex" } });
    // What was accepted before can still be stamped.
    const { tail } = await stamped(pdf(200_000), { ...dot, page: 2 });
    expect(tail.length).toBeLessThan(2000);
    expect(await inspect({ pdf: pdf(4000), maxPages: 10 })).toMatchObject({ ok: true });
    expect((await stamped(pdf(4000), { ...dot, page: 2 })).tail.length).toBeLessThan(2000);
  });

  test("a page too large to be read is refused; one that is here is stamped as if it were balanced, with transparency taken back", async () => {
    const pdf = page("");
    const padded = (megabytes: number) => deflated(`q ${" ".repeat(megabytes * 1024 * 1024)}`);
    const [read, close, large] = [40, 50, 65].map((size) => manyPages(["1000 0 R"], { 1000: padded(size) }));
    if (!read || !close || !large) throw new Error("three files");
    expect(await inspect({ pdf: read, maxPages: 10 })).toMatchObject({ ok: true });
    // What is accepted stays within what is read, however much is drawn on it.
    for (const pdf of [close, large]) {
      expect(await inspect({ pdf, maxPages: 10 })).toMatchObject({ ok: false, error: { code: "too-complex" } });
    }
    const states = async (source: Uint8Array) => {
      const file = openPdf((await stamped(source, dot)).pdf);
      return file.dict(file.pages()[0]?.resources?.get("ExtGState"))?.map.size;
    };
    expect([await states(pdf), await states(close), await states(large)]).toEqual([undefined, undefined, 1]);
  });

  costly(
    "hundreds of large pages, as many as are read",
    async () => {
      const contents = Array.from({ length: 180 }, (_, index) => `${1000 + index} 0 R`);
      const stream = deflated(`${"0 0 m 9 9 l S\n".repeat(30_000)}% ${" ".repeat(600_000)}\n`);
      const objects = contents.map((_, index) => [1000 + index, stream]);
      const pdf = manyPages(contents, Object.fromEntries(objects));
      const started = process.cpuUsage().user;
      expect(await inspect({ pdf, maxPages: 1000 })).toMatchObject({ ok: true });
      const drawings = contents.map((_, index): Drawing => ({ ...dot, page: index + 1 }));
      expect((await stamp({ pdf, drawings, watermark: null, at: AT })).ok).toBe(true);
      expect(process.cpuUsage().user - started).toBeLessThan(30_000_000);
    },
    60_000,
  );

  test("what pages share counts once, also beside content of their own", async () => {
    const numbers = Array.from({ length: 450 }, (_, index) => index + 1001);
    const own = numbers.map((number) => [number, plain(`q ${number} 0 m 9 9 l S Q`)]);
    const shared = deflated(`q ${"0 0 m 9 9 l S\n".repeat(43_000)}Q`);
    const pdf = manyPages(
      numbers.map((number) => `[1000 0 R ${number} 0 R]`),
      { 1000: shared, ...Object.fromEntries(own) },
    );
    const started = process.cpuUsage().user;
    expect(await inspect({ pdf, maxPages: 1000 })).toMatchObject({ ok: true, value: { warnings: [], pdf: null } });
    expect(process.cpuUsage().user - started).toBeLessThan(2_000_000);
  });

  const padding = (megabytes: number) => " ".repeat(megabytes * 1024 * 1024);
  const answered = async (pdf: Uint8Array) => {
    const found = await inspect({ pdf, maxPages: 100 });
    return found.ok || found.error.code;
  };

  costly(
    "what is not understood on its own is paid for once",
    async () => {
      const searched = "q BI /W 8 /H 8 /BPC 1 /CS /G /F /CCF ID \x01\x02\x03 EI Q";
      const own = (count: number, begin: string) => {
        const stream = deflated(`${begin}${padding(28)}`);
        return Array.from({ length: count }, (_, at) => [1000 + at, stream] as const);
      };
      const alone = own(3, searched);
      const contents = alone.map(([number]) => `${number} 0 R`);
      expect(await answered(manyPages(contents, Object.fromEntries(alone)))).toBe(true);
      const begun = own(6, "BT (");
      const lists = begun.map(([number]) => `[${number} 0 R 1100 0 R]`);
      expect(await answered(manyPages(lists, { ...Object.fromEntries(begun), 1100: plain(") Tj ET") }))).toBe(true);
      // A page that shows one many times has all of it read.
      const repeated = lists.map((list) => list.replace(/\d+ 0 R/, "$& $&"));
      expect(await answered(manyPages(repeated, Object.fromEntries(own(6, "() "))))).toBe("too-complex");
    },
    30_000,
  );

  costly(
    "what pages draw with does not use up what their content needs, and need not be clear where it begins no marks",
    async () => {
      const odd = (kind: string, made: string) => layered(`/${kind}<</X 1001 0 R>>`, { 1001: made });
      expect(await answered(odd("Pattern", pattern("q endstream Q")))).toBe(true);
      expect(await answered(odd("XObject", form("q endstream Q")))).toBe(true);
      expect(await answered(odd("XObject", form("q endstream Q /P BMC")))).toBe("damaged");
      expect(await answered(odd("Pattern", pattern("/P BMC")))).toBe("damaged");
      expect(await answered(odd("Pattern", pattern("<</A q>> /P BMC")))).toBe("damaged");
      const large = (count: number, megabytes: number) => {
        const numbers = Array.from({ length: count }, (_, at) => 1101 + at);
        const forms = Object.fromEntries(numbers.map((number) => [number, form(padding(megabytes))]));
        const names = numbers.map((number) => `/X${number} ${number} 0 R`).join("");
        // The second page has content of its own that takes a fifth of what is read.
        const page = `<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 1001 0 R>>`;
        return layered(`/XObject<<${names}>>`, { ...forms, 11: page, 1001: deflated(`${padding(40)}f`) });
      };
      expect(await answered(large(4, 40))).toBe(true);
      expect(await answered(large(1, 66))).toBe(true);
      // Some of these would not be looked at, however small.
      expect(await answered(large(5, 40))).toBe("too-complex");
      expect(await answered(large(5, 66))).toBe("too-complex");
    },
    30_000,
  );

  test("thousands of ends of marked content that may lie in a picture are too many, in a document with layers", async () => {
    const content = (count: number) => plain(`${hidesEnd} ${"/P BMC EMC ".repeat(count)}`);
    const pdf = (count: number, catalog?: string) => layered("", { 1000: content(count) }, catalog);
    expect(await answered(pdf(4000))).toBe(true);
    expect(await answered(pdf(4001))).toBe("too-complex");
    expect(await answered(pdf(4001, ""))).toBe(true);
  });

  test("a list names one thing as often as it likes", async () => {
    const names = Array.from({ length: 200_000 }, (_, at) => `/${at.toString(36)} 1001 0 R`).join("");
    expect(await answered(layered(`/Pattern<<${names}>>`, { 1001: pattern("q Q") }))).toBe(true);
  }, 30_000);

  const small = deflateSync(Buffer.alloc(64, 200)).subarray(0, -4);
  test.each([
    ["a wrong checksum", `${small.toString("latin1")}abcd`, 0, 390, true],
    ["no checksum", small.toString("latin1"), 0, 390, true],
    ["much before the fault", "", 60 * 1024 * 1024, 30, "too-complex"],
  ])(
    "inflated pictures cost what comes out of them: %s",
    async (_name, data, size, count, answer) => {
      const faulty =
        data ||
        Buffer.concat([deflateSync(Buffer.alloc(size)).subarray(0, -4), Buffer.from("abcd")]).toString("latin1");
      const [width, height] = size === 0 ? [8, 8] : [8000, 7900];
      const content = `q BI /W ${width} /H ${height} /BPC 8 /CS /G /F /Fl ID ${faulty}\nEI Q\n`;
      const each = size === 0 ? 30 : 1;
      const numbers = Array.from({ length: count / each }, (_, at) => 1000 + at);
      const objects = numbers.map((number) => [number, plain(`${content.repeat(each)}% ${number}`)]);
      expect(
        await answered(
          manyPages(
            numbers.map((number) => `${number} 0 R`),
            Object.fromEntries(objects),
          ),
        ),
      ).toBe(answer);
    },
    30_000,
  );

  const image = (
    width: number,
    height: number,
    space: string,
    filter = "/Fl",
    data: (pixels: Buffer) => Uint8Array = (pixels) => deflateSync(pixels),
  ) => {
    const pixels = Buffer.alloc(width * height * (space === "RGB" ? 3 : 1), 200);
    const entries = `q BI /W ${width} /H ${height} /BPC 8 /CS /${space} /F ${filter} ID `;
    return `${entries}${Buffer.from(data(pixels)).toString("latin1")}\nEI Q\n`;
  };
  const lzwOf = (pixels: Buffer) => Buffer.from(lzw(pixels.toString("latin1")), "latin1");

  test.each([
    ["one inline image", image(2480, 3508, "G"), true],
    ["strips in colour", image(2480, 64, "RGB").repeat(55), true],
    ["LZW", image(2480, 2000, "G", "/LZW", lzwOf), true],
    ["many times as large", image(9000, 9000, "RGB"), "too-complex"],
    ["hundreds of them on a page", image(2480, 3508, "G").repeat(250), "too-complex"],
  ])("a page that was scanned, %s", async (_name, content, answer) => {
    const started = process.cpuUsage().user;
    const found = await inspect({ pdf: page(content), maxPages: 10 });
    expect(found.ok || found.error.code).toBe(answer);
    expect(process.cpuUsage().user - started).toBeLessThan(5_000_000);
  });

  test("content that pages share is read and completed once", async () => {
    const shared = `${"0 0 m 9 9 l S\n".repeat(1_000_000)}(`;
    const pdf = manyPages(Array(500).fill("1000 0 R"), { 1000: plain(shared) });
    const started = process.cpuUsage().user;
    const drawings = Array.from({ length: 500 }, (_, index): Drawing => ({ ...dot, page: index + 1 }));
    const { tail } = await stamped(pdf, ...drawings);
    expect(process.cpuUsage().user - started).toBeLessThan(5_000_000);
    expect(tail.length).toBeLessThan(500_000);
  });
});

test("corrupt content costs no more than sound content", async () => {
  const corrupt = deflateSync(Buffer.alloc(15 * 1024 * 1024, 0x20));
  corrupt.fill(0xff, corrupt.length - 40);
  const stream = packed(corrupt);
  const contents = Array.from({ length: 300 }, (_, index) => `${1000 + index} 0 R`);
  const pdf = manyPages(contents, Object.fromEntries(contents.map((_, index) => [1000 + index, stream])));
  const started = process.cpuUsage().user;
  const drawings = contents.map((_, index): Drawing => ({ ...dot, page: index + 1 }));
  await stamped(pdf, ...drawings);
  expect(process.cpuUsage().user - started).toBeLessThan(10_000_000);
});

describe("what is accepted can be stamped, on whichever page", () => {
  const sound = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]";
  const answers = async (pdf: Uint8Array, number: number) => {
    const found = await inspect({ pdf, maxPages: 100 });
    if (!found.ok) return found.error.code;
    const drawings = [{ ...dot, page: number }];
    return (await stamp({ pdf: found.value.pdf ?? pdf, drawings, watermark: null, at: AT })).ok;
  };

  test("an annotation without end behind more of them than are looked at", async () => {
    const list = `/Annots[${"1001 0 R ".repeat(2000)}]`;
    const objects = { 1000: plain("0 0 m"), 1001: "<</Type/Annot/Subtype/Link/Rect[0 0 1 1]>>" };
    const far = "<</Type/Annot/Subtype/Square/Rect[0 0 1e308 1e308]>>";
    const pdf = (annotation: string) => {
      const own = `${sound}/UserUnit 2/Annots[${annotation}]>>`;
      return manyPages(Array(14).fill("1000 0 R"), { ...objects, 1002: far, 22: own }, list);
    };
    expect(await answers(pdf("1002 0 R"), 13)).toBe(true);
    // Written anew with its page it could not be read again.
    expect(await answers(pdf(far), 13)).toBe("damaged");
  });

  test("streams that name each other as their lengths", async () => {
    const chain = Array.from({ length: 40 }, (_, index) => 1000 + index);
    const stream = (own: number) => `<</Length ${own - 1} 0 R>>\nstream\n0 0 9 9 re f\nendstream`;
    const objects = Object.fromEntries(chain.map((own) => [own, own === 1000 ? plain("f") : stream(own)]));
    const all = `[${chain.map((own) => `${own} 0 R`).join(" ")}]`;
    expect(await answers(manyPages([all, "1039 0 R", "1000 0 R"], objects), 2)).not.toBe(false);
  });

  test("pictures whose data ends in the same white space, behind pages as large as can be", async () => {
    const image = (at: number) => {
      const before = "BI /W 1 /BPC 8 /CS /G /H ";
      const room = 60 * 800 + 100 - 60 * at - before.length - 13;
      return `${before}${String(room).padStart(8, "0")} ID  EI `.padEnd(60);
    };
    const images = Array.from({ length: 800 }, (_, at) => image(at)).join("");
    const large = (end: string) => deflated(`${" ".repeat(15 * 1024 * 1024)}${end}`);
    const objects = Object.fromEntries([1, 2, 3, 4].map((own) => [1000 + own, large(`${own} w`)]));
    const pdf = manyPages(["1001 0 R", "1002 0 R", "1003 0 R", "1004 0 R", "1005 0 R", "1006 0 R"], {
      ...objects,
      1005: deflated(`${images}${" ".repeat(10_000_000)}f`),
      1006: plain("f"),
    });
    const started = process.cpuUsage().user;
    expect(await answers(pdf, 5)).toBe("damaged");
    await stamped(pdf, { ...dot, page: 5 });
    expect(process.cpuUsage().user - started).toBeLessThan(8_000_000);
  });

  test.each([
    [0.5, true],
    [1e-4, "damaged"],
    [30_000, "damaged"],
  ])("a unit of %d points", async (unit, answer) => {
    const own = `${sound.replace(/200 200/, `${300 / unit} ${300 / unit}`)}/UserUnit ${unit}/Contents 1000 0 R>>`;
    const pdf = manyPages(["1000 0 R", "1000 0 R", "1000 0 R"], { 1000: plain("f"), 11: own });
    const answered = await answers(pdf, 2);
    expect(answered).toBe(unit === 1e-4 && answered === "page-too-large" ? answered : answer);
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

test("a unit of many points leaves the stamp as large as it is", async () => {
  const pdf = rawPdf({
    1: "<</Type/Catalog/Pages 2 0 R>>",
    2: "<</Type/Pages/Kids[3 0 R]/Count 1>>",
    3: "<</Type/Page/Parent 2 0 R/MediaBox[0.00012 0 0.1 0.1]/UserUnit 3000>>",
  });
  const { tail } = await stamped(pdf, dot);
  expect(Buffer.from(tail).toString("latin1")).toContain("q 0.0003333333 0 0 0.0003333333 0.00012 0 cm");
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
    ["a highlight", "/Subtype/Highlight/Rect[0 0 200 200]/C[1 1 0]", 0],
    ["a highlight that is a filled area", "/Subtype/Highlight/Rect[0 0 200 200]/AP<</N 5 0 R>>", 2],
    ["a link that is a filled area", "/Subtype/Link/Rect[0 0 200 200]/AP<</N 5 0 R>>", 2],
    ["a pop-up that is a filled area", "/Subtype/Popup/Rect[0 0 200 200]/AP<</N 5 0 R>>", 2],
    ["a link", "/Subtype/Link/Rect[0 0 200 200]/Border[0 0 1]/C[1 0 0]", 0],
    ["a square that readers fill", "/Subtype/Square/Rect[0 0 200 200]/IC[1 1 1]", 2],
    ["a square that readers do not fill", "/Subtype/Square/Rect[0 0 200 200]/C[1 1 1]/IC[]", 0],
    ["a note with a background", "/Subtype/FreeText/Rect[0 0 200 200]/C[1 1 1]/DA(/Helv 9 Tf)", 2],
    ["a form field with a background of its own", "/Subtype/Widget/Rect[0 0 200 200]/MK<</BG[1]>>", 2],
    ["a frame as thick as the page", "/Subtype/Square/Rect[0 0 200 200]/C[1]/BS<</W 400>>", 2],
    ["a line as thick as the page", "/Subtype/Stamp/Rect[0 0 200 200]/AP<</N 7 0 R>>", 2],
    ["hatching", "/Subtype/Stamp/Rect[0 0 200 200]/AP<</N 8 0 R>>", 2],
    ["a frame", "/Subtype/Widget/Rect[0 0 200 200]/AP<</N 9 0 R>>", 0],
    ["one of states, none of which is named", "/Subtype/Widget/Rect[0 0 200 200]/AP<</N<</On 5 0 R>>>>", 2],
    ["a place without end", "/Subtype/Square/Rect[0 0 1e308 1e308]/IC[1 1 1]", 2],
  ])("%s", async (_name, annotation, count) => {
    expect(await warned(annotation)).toEqual(count === 0 ? [] : [["annotation-in-front", 1, count]]);
  });

  test("an appearance that many annotations share is read once, also without a filter", async () => {
    const list = `[${"1001 0 R ".repeat(1000)}${"1002 0 R ".repeat(1000)}]`;
    const pdf = manyPages(
      Array(100).fill("1000 0 R"),
      {
        1000: plain("0 0 m"),
        1001: "<</Type/Annot/Subtype/Stamp/Rect[0 0 200 200]/AP<</N 1003 0 R>>>>",
        1002: "<</Type/Annot/Subtype/Stamp/Rect[0 0 200 199]/AP<</N 1004 0 R>>>>",
        1003: deflated("0 0 m ".repeat(170_000)),
        1004: plain("0 0 m ".repeat(5_000_000)),
      },
      `/Annots ${list}`,
    );
    const started = process.cpuUsage().user;
    const found = await inspect({ pdf, maxPages: 1000 });
    expect(process.cpuUsage().user - started).toBeLessThan(10_000_000);
    // Too long to be looked at counts as filled, on as many pages as are looked at.
    expect(found.ok && found.value.warnings.map(({ code }) => code)).toEqual(Array(10).fill("annotation-over-page"));
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
