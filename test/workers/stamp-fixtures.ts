/**
 * Pages whose content leaves something open, made here byte by byte: strings and layers that do not end, states that
 * are never taken back, content that is stored in unusual ways. The middle of every page is blank: a stamp goes there.
 */
import { deflateSync } from "node:zlib";
import { rawPdf } from "../harness/pdfs.ts";
import { qpdf } from "../harness/rendering.ts";

export type StampFixture = {
  name: string;
  pdf: Uint8Array;
  /** What becomes of it: the stamp is seen, or somebody is told why not. */
  outcome: "visible" | "warned" | "refused";
  /** What the rest of the sealed page must look like, where that is not what `pdf` looks like. */
  like?: Uint8Array;
};

type Made = {
  /** Content streams, each a dictionary without /Length and the stored bytes (one character a byte). */
  streams?: [string, string][];
  /** Further entries of the page's dictionary. */
  page?: string;
  /** Further entries of the catalog. */
  catalog?: string;
  resources?: string;
  /** Objects from number 20 on. */
  objects?: Record<number, string>;
};

const LIGHT = 15;
const RESOURCES =
  "/Font<</F1 3 0 R>>/ExtGState<</Faint 4 0 R/Dark 5 0 R/Masked 6 0 R/Inverted 8 0 R>>" +
  "/Properties<</Off 10 0 R/On 11 0 R/OffToo 12 0 R>>";

/** A blue bar and a word at the page's top and bottom, in user space from (0, 0) to (300, 400). */
const HEAD = "q 0.3 0.5 0.9 rg 20 350 260 30 re f Q BT /F1 16 Tf 30 320 Td (Contract) Tj ET\n";
const FOOT = "q 0.9 0.6 0.2 rg 20 20 260 30 re f Q BT /F1 16 Tf 30 60 Td (The end) Tj ET\n";
const BASE = HEAD + FOOT;

const stream = (dict: string, data: string): string => `<<${dict}/Length ${data.length}>>\nstream\n${data}\nendstream`;

function document({ streams = [], page = "", catalog = "", resources = "", objects = {} }: Made): Uint8Array {
  const contents = Object.fromEntries(streams.map(([dict, data], index) => [40 + index, stream(dict, data)]));
  const refs = streams.map((_, index) => `${40 + index} 0 R`);
  const shown = refs.length === 0 ? "" : `/Contents ${refs.length === 1 ? refs[0] : `[${refs.join(" ")}]`}`;
  const box = /MediaBox/.test(page) ? "" : "/MediaBox[0 0 300 400]";
  return rawPdf({
    1: `<</Type/Catalog/Pages 2 0 R/OCProperties<</OCGs[10 0 R 11 0 R]/D<</OFF[10 0 R]>>>>${catalog}>>`,
    2: "<</Type/Pages/Kids[7 0 R]/Count 1>>",
    3: "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    4: `<</Type/ExtGState/ca 0.${LIGHT}/CA 0.${LIGHT}>>`,
    5: "<</Type/ExtGState/BM/Lighten/ca 0.2>>",
    6: "<</Type/ExtGState/SMask<</S/Luminosity/G 9 0 R>>>>",
    7: `<</Type/Page/Parent 2 0 R${box}/Resources<<${RESOURCES}${resources}>>${shown}${page}>>`,
    8: "<</Type/ExtGState/OP true/op true/OPM 1/ca 0.3/Font[3 0 R 40]>>",
    // Black everywhere: what is drawn under this mask is not seen.
    9: stream(
      "/Type/XObject/Subtype/Form/BBox[0 0 300 400]/Group<</S/Transparency/CS/DeviceGray>>",
      "0 g 0 0 300 400 re f",
    ),
    10: "<</Type/OCG/Name(Off)>>",
    11: "<</Type/OCG/Name(On)>>",
    12: "<</Type/OCMD/OCGs 10 0 R/P/AllOn>>",
    ...objects,
    ...contents,
  });
}

const ends = (ending: string, more: Made = {}): Uint8Array => document({ ...more, streams: [["", BASE + ending]] });
const flate = (text: string): string => deflateSync(Buffer.from(text, "latin1")).toString("latin1");

/** Data as `LZWDecode` takes it (ISO 32000-1 §7.4.4.2), with codes that grow one early. */
export function lzw(text: string): string {
  // By the code of what came before and the byte behind it: a table of the words themselves would be read again at each byte.
  let known = new Map<number, number>();
  let bits = "";
  let word: number | null = null;
  const width = (): number => Math.min(12, (258 + known.size).toString(2).length);
  const write = (code: number): void => {
    bits += code.toString(2).padStart(width(), "0");
  };
  write(256);
  for (let at = 0; at < text.length; at++) {
    const byte = text.charCodeAt(at);
    const longer: number | undefined = word === null ? byte : known.get(word * 256 + byte);
    if (word === null || longer !== undefined) {
      word = longer ?? byte;
      continue;
    }
    write(word);
    known.set(word * 256 + byte, 258 + known.size);
    word = byte;
    if (known.size < 3835) continue;
    write(256);
    known = new Map();
  }
  if (word !== null) {
    write(word);
    known.set(-1, 0);
  }
  write(257);
  let out = "";
  for (let at = 0; at < bits.length; at += 8) {
    out += String.fromCharCode(Number.parseInt(bits.slice(at, at + 8).padEnd(8, "0"), 2));
  }
  return out;
}

/** What is drawn behind it is seen nowhere. */
const NOWHERE = "0 0 0 0 re W n";

const ENDINGS: Record<string, string> = {
  balanced: "q 1 0 0 1 5 5 cm Q",
  string: "BT /F1 12 Tf (open",
  "string with parentheses and escapes": "BT /F1 12 Tf (a \\) (b (c \\\\",
  "string that ends in a backslash": "(open\\",
  "hex string": "BT /F1 12 Tf <4142 43",
  array: "BT /F1 12 Tf [(a) 12",
  "array with operators": "q 5 w [(a) 12 q /Faint gs BT",
  "string in an array": "BT /F1 12 Tf [(a) (b",
  dictionary: "/Span <</MCID 0 /Lang (de)",
  "string in arrays and dictionaries": "/Span <</A [1 <</B [(c",
  "more brackets than anybody reads": "[".repeat(300),
  "hidden layer": "/OC /Off BDC",
  "hidden layers in one another": "/OC /On BDC /OC /Off BDC /OC /OffToo BDC q",
  "marked content and a hidden layer": "/P BMC /OC /Off BDC /Span <</MCID 3>> BDC",
  "hidden layer, then a string": "q /OC /Off BDC (open",
  "text object": "BT /F1 12 Tf 3 Tr",
  "text object in a hidden layer": "/OC /Off BDC BT /F1 200 Tf 3 0 0 3 9 9 Tm q",
  "text object that clips": "BT /F1 12 Tf 7 Tr 30 340 Td (clip) Tj",
  "text that clips": "BT /F1 12 Tf 7 Tr 30 340 Td (clip) Tj ET",
  "invisible text": "3 Tr 0 Tz 90 Ts 50 Tc",
  path: "0 0 m 300 0 l 300 400 l 0 400 l",
  "path with a clip": "0 0 10 10 re W",
  clip: "0 0 10 10 re W n",
  "clip in states that stay open": "q q 0 0 10 10 re W n q",
  "restores of states never saved": "Q Q 3 0 0 3 9 9 cm Q Q Q /Faint gs 0 0 1 1 re W n",
  "forty saves": `${"q ".repeat(40)}0.1 0 0 0.1 0 0 cm`,
  transformation: "5 0 0 5 90 90 cm",
  transparency: "/Faint gs",
  "transparency in a saved state": "q q /Faint gs",
  "blend mode": "/Dark gs",
  "soft mask": "/Masked gs",
  "overprint and a font": "q /Inverted gs",
  "white in a pattern of colours": "/Pattern cs 1 g 1 G /DeviceCMYK cs 0 0 0 0 sc",
  "dashes and a wide pen": "[1 90] 0 d 200 w 1 J 0.1 M",
  operands: "q /Faint gs 1 0 0 (a) 5",
  comment: "q /Faint gs 0 0 1 1 re W n % the end",
  "compatibility section": "BX /Faint gs q",
  "stray delimiters": "q /Faint gs ] >> ) } {",
  "inline image": `q 8 0 0 8 30 300 cm BI /W 2 /H 2 /BPC 8 /CS /G ID \x40\x80\x40\x80`,
  "inline image that is too short": "q 8 0 0 8 30 300 cm BI /W 9 /H 9 /BPC 8 /CS /G ID \x40\x80",
  "inline image that is deflated and too short":
    `q 8 0 0 8 30 300 cm BI /W 9 /H 9 /BPC 8 /CS /G /F /Fl ID ${flate(`${"x".repeat(40)}yz`)}`.slice(0, -8),
  "inline image in hexadecimal": "q 8 0 0 8 30 300 cm BI /W 4 /H 1 /BPC 8 /CS /G /F /AHx ID 40 80 40",
  "inline image in ASCII85": "q 8 0 0 8 30 300 cm BI /W 9 /H 9 /BPC 8 /CS /G /F /A85 ID 5sdq,77Kd<8",
  "inline image that is a broken JPEG": "q 8 0 0 8 30 300 cm BI /W 9 /H 9 /BPC 8 /CS /G /F /DCT ID \xff\xd8\xff\xe0",
  "inline image in LZW": `q 8 0 0 8 30 300 cm BI /W 9 /H 9 /BPC 8 /CS /G /F /LZW ID ${lzw("x".repeat(40)).slice(0, -3)}`,
  "inline image's dictionary": "q BI /W 2 /H",
  "inline image that holds operators":
    "q 8 0 0 8 30 300 cm BI /W 16 /H 1 /BPC 8 /CS /G ID \x40\n EI Q Q Q \n\x40\x50\x60 EI\n/Faint gs 0 0 1 1 re W n",
  "an operator behind a number": `${NOWHERE} 1q -1q 1e5q +Q`,
  "operators in arrays": `${NOWHERE} [ q q q ] [ << /A [ q ] >> ]`,
  "operators before bytes that are white space to some": `${NOWHERE} q\x80 1 \xffq`,
  "operators in long words": [100, 127, 128, 255, 256].map((length) => `${NOWHERE} ${"x".repeat(length)}q`).join(" "),
  "inline image that is deflated": `q 8 0 0 8 30 300 cm BI /W 9 /H 9 /BPC 8 /CS /G /F /Fl ID ${flate("x".repeat(81))}\nEI Q ${NOWHERE} q`,
  "inline image in LZW, and what follows": `q 8 0 0 8 30 300 cm BI /W 8 /H 5 /BPC 8 /CS /G /F /LZW ID ${lzw("x".repeat(40))}\nEI Q ${NOWHERE} q`,
  "inline image in colours of the page": `q 8 0 0 8 30 300 cm BI /W 2 /H 1 /BPC 8 /CS /Own ID ab EI Q ${NOWHERE} q`,
  "operators in strings": "q (Q \\) Q) <51> /Q 1 0 /Q#20Q [(Q)] % Q Q\n/Faint gs 0 0 1 1 re W n",
};

/** Ending: still open, in a state that nobody would draw in. */
const BAD = "q /OC /Off BDC /Faint gs 0 0 1 1 re W n ";

export function ascii85(data: string): string {
  let out = "";
  for (let at = 0; at < data.length; at += 4) {
    const part = data.slice(at, at + 4);
    let value = Buffer.from(part.padEnd(4, "\0"), "latin1").readUInt32BE();
    let digits = "";
    for (let digit = 0; digit < 5; digit++) {
      digits = String.fromCharCode(33 + (value % 85)) + digits;
      value = Math.floor(value / 85);
    }
    out += part === "\0\0\0\0" ? "z" : `${digits.slice(0, part.length + 1)}\n`;
  }
  return `${out}~>`;
}

export function runLengths(data: string): string {
  let out = "";
  for (let at = 0; at < data.length; at += 100) {
    const part = data.slice(at, at + 100);
    out += String.fromCharCode(part.length - 1) + part;
  }
  return `${out}\x80`;
}

export const hex = (data: string): string => Buffer.from(data, "latin1").toString("hex");
const packed = (pdf: Uint8Array): Uint8Array =>
  qpdf(pdf, "--object-streams=generate", "--stream-data=preserve", "--keep-files-open=y");

const annotation = (entries: string): Made => ({
  page: "/Annots[20 0 R]",
  objects: {
    20: `<</Type/Annot/F 4${entries}>>`,
    21: stream("/Type/XObject/Subtype/Form/BBox[0 0 300 400]", "0.9 1 0.8 rg 0 0 300 400 re f"),
  },
});

const FREE_TEXT = annotation(
  "/Subtype/FreeText/Rect[40 260 260 300]/DA(/Helv 14 Tf 0 g)/Contents(A note without a picture)",
);

/** What one line of ENDINGS cannot say. */
function others(): Record<string, Uint8Array> {
  const bad = BASE + BAD;
  const one = (dict: string, data: string, more: Made = {}) => document({ ...more, streams: [[dict, data]] });
  const structure: Made = {
    page: "/StructParents 0",
    catalog: "/MarkInfo<</Marked true>>/StructTreeRoot 20 0 R",
    objects: {
      20: "<</Type/StructTreeRoot/K 21 0 R/ParentTree 22 0 R>>",
      21: "<</Type/StructElem/S/P/P 20 0 R/K 23 0 R>>",
      22: "<</Nums[0[23 0 R]]>>",
      23: "<</Type/StructElem/S/P/P 21 0 R/Pg 7 0 R/K 0>>",
    },
  };
  return {
    "rotated by 90, a string": ends("BT (open", { page: "/Rotate 90" }),
    "rotated by 180, a layer": ends(BAD, { page: "/Rotate 180" }),
    "rotated by 270, an array": ends("[(a", { page: "/Rotate 270" }),
    "cropped, a text object": ends("BT 9 0 0 9 0 0 Tm", { page: "/CropBox[10 10 290 390]" }),
    "cropped and rotated, a dictionary": ends("/P <<", { page: "/CropBox[10 20 290 380]/Rotate 90" }),
    "larger units, a hex string": ends("<41", { page: "/UserUnit 1.5" }),
    "object streams, a string": packed(ends("(open")),
    "object streams, a layer": packed(ends(BAD)),
    "tagged, the last sequence open": ends(
      "/P <</MCID 0>> BDC BT /F1 9 Tf 40 200 Td () Tj q /Faint gs (open",
      structure,
    ),
    "deflated, an array": one("/Filter/FlateDecode", flate(`${BASE}q [(a`)),
    LZW: one("/Filter/LZWDecode", lzw(bad)),
    "LZW, a string": one("/Filter/LZW", lzw(`${BASE}q (open`)),
    "ASCII85 and deflated": one("/Filter[/ASCII85Decode/FlateDecode]", ascii85(flate(bad))),
    "ASCII85, a string": one("/Filter/A85", ascii85(`${bad}(open`)),
    hexadecimal: one("/Filter/ASCIIHexDecode", `${hex(bad)}>`),
    "run lengths": one("/Filter/RunLengthDecode", runLengths(bad)),
    "five megabytes": one("/Filter/FlateDecode", flate(`${BAD}${"1 0 0 1 0 0 cm ".repeat(350_000)}${HEAD}`)),
    "a wrong checksum": one("/Filter/FlateDecode", `${flate(bad).slice(0, -4)}abcd`),
    "deflated, the end lost": one("/Filter/FlateDecode", flate(`${bad}${"(lost) ".repeat(9)}`).slice(0, -9)),
    "several streams": document({
      streams: [
        ["", "q /Faint gs\n"],
        ["", BASE],
        ["", "0 0 1 1 re W n"],
      ],
    }),
    "a string over two streams": document({
      streams: [
        ["", `${BASE}/OC /Off BDC (op`],
        ["", "en"],
      ],
    }),
    "a string in the last of several streams": document({
      streams: [
        ["/Filter/FlateDecode", flate(HEAD)],
        ["/Filter/ASCIIHexDecode", hex(FOOT)],
        ["", "q (a"],
      ],
    }),
    "a text object over several streams": document({
      streams: [
        ["", `${BASE}BT q`],
        ["", "BT q"],
        ["", "% end"],
      ],
    }),
    "an empty stream": document({ streams: [["", ""]] }),
    "no content": document({}),
    "an isolated knockout group": ends("q /Faint gs BT", {
      page: "/Group<</S/Transparency/CS/DeviceRGB/I true/K true>>",
    }),
    ...wrongLengths(),
    "an inline image as large as a scan": ends(
      `q 8 0 0 8 30 300 cm BI /W 2480 /H 3508 /BPC 8 /CS /G /F /Fl ID ${flate("\xe0".repeat(2480 * 3508))}\nEI Q q (`,
    ),
    "rows predicted as in pictures": one(
      `/Filter/FlateDecode/DecodeParms<</Predictor 12/Columns ${bad.length}>>`,
      flate(
        `\x01${[...bad].map((char, at) => String.fromCharCode((char.charCodeAt(0) - (bad.charCodeAt(at - 1) || 0)) & 255)).join("")}`,
      ),
    ),
    "a form too large to be read that leaves a layer open": drawing("X", {
      20: stream(`${FORM}/Filter/FlateDecode`, flate(`${" ".repeat(65 * 1024 * 1024)}${LAYER}`)),
    }),
    "names that are taken": ends("q (open", { resources: "/XObject<</Stamp44 9 0 R/Stamp45 9 0 R>>" }),
    "free text without an appearance": ends("", FREE_TEXT),
  };
}

const BARE_FORM = "/Type/XObject/Subtype/Form/BBox[0 0 300 400]";
const FORM = `${BARE_FORM}/Resources<</Properties<</Off 10 0 R>>>>`;
const LAYER = "/OC /Off BDC q";
const drawing = (form: string, objects: Record<number, string>): Uint8Array =>
  ends(`/${form} Do`, { resources: `/XObject<</${form} 20 0 R>>`, objects });

/** Readers differ in where these streams end. */
function wrongLengths(): Record<string, Uint8Array> {
  const made = (before: string, length: number | null, behind = ""): Uint8Array => {
    const entry = length === null ? "" : `/Length ${length}`;
    const objects = { 20: `<<${entry}>>\nstream\n${before}${behind}\nendstream` };
    return document({ page: "/Contents 20 0 R", objects });
  };
  return {
    "a length that is too long by 3": made(BASE, BASE.length + 3),
    "a length that is too long by 300": made(BASE, BASE.length + 300),
    "a length that is too long by 2000": made(BASE, BASE.length + 2000),
    "a negative length": made(`${BASE}(`, -5, ") n q"),
    "a length of nothing": made(`${BASE}(`, 0, ") n q"),
    "a length that ends in a string": made(`${BASE}(`, BASE.length + 1, ") n q"),
    "no length": made(`${BASE}(`, null, ") n q"),
  };
}

const IN_FRONT: Record<string, Made> = {
  "a stamp annotation over the page": annotation("/Subtype/Stamp/Rect[0 0 300 400]/AP<</N 21 0 R>>"),
  "a highlight that is a filled area": annotation("/Subtype/Highlight/Rect[0 0 300 400]/AP<</N 21 0 R>>"),
  "a link that is a filled area": annotation("/Subtype/Link/Rect[0 0 300 400]/AP<</N 21 0 R>>"),
  "a square that readers fill": annotation("/Subtype/Square/Rect[0 0 300 400]/IC[1 1 1]"),
  "a note with a background": annotation("/Subtype/FreeText/Rect[0 0 300 400]/C[1 1 1]/DA(/Helv 9 Tf)/Contents(x)"),
};

/** Pages that some readers take for others: each hid a stamp from one of them. */
function readInTwoWays(): Record<string, Uint8Array> {
  const bad = `${BASE}${NOWHERE} q `;
  const stored = (text: string): string => deflateSync(Buffer.from(text, "latin1"), { level: 0 }).toString("latin1");
  const one = (dict: string, data: string) => document({ streams: [[dict, data]] });
  const image = (entries: string, data: string) => ends(`BI ${entries} /H 1 /BPC 8 /CS /G ${data} ${NOWHERE} q q`);
  const predicted = (predictor: number, row: string) =>
    one(`/Filter/FlateDecode/DecodeParms<</Predictor ${predictor}/Columns ${bad.length}>>`, flate(row));
  // The string ends where codes are as long for everybody.
  const late = lzw(`${`${NOWHERE} `.padEnd(250)}(${") n q ".repeat(40)}`);
  const rows = (length: number): string => flate(bad.replace(new RegExp(`[^]{1,${length}}`, "g"), "\0$&"));
  const hidden = "\nEI (aaaaaaaaaaaaaaaaaaaaaaaaaaa";
  return {
    "content in a filter for pictures": one("/Filter/DCTDecode", "\xff\xd8\xff\xd9"),
    "five filters": one(`/Filter[${"/AHx".repeat(5)}]`, hex(hex(hex(hex(hex(bad)))))),
    "a filter that is nothing": one("/Filter[null/FlateDecode]", flate(bad)),
    "a filter under a short name": one("/F/AHx", `${hex(bad)}>`),
    "an unknown predictor": predicted(3, bad),
    "rows predicted in an unknown way": predicted(12, `\x09${bad}`),
    "digits and others": one("/Filter/ASCIIHexDecode", `${hex(BASE)}zz${hex(`${NOWHERE} q`)}>`),
    "deflated without a header": one("/Filter/FlateDecode", flate(bad).slice(2)),
    "deflated, with a fault": one("/Filter/FlateDecode", `${stored(bad).slice(0, 5)}\xff${stored(bad).slice(6)}`),
    "inline image with an end in its deflated data": image(`/W ${hidden.length} /F /Fl`, `ID ${stored(hidden)}\nEI`),
    "inline image with an end in its LZW data": image("/W 30 /F /LZW", "ID \x80\nEI (aaaaaaaaaaaaaaaaaaaa \x80 EI"),
    "inline image of two widths": image("/W 2 /W 20", "ID xx EI q q q 56789 EI"),
    "inline image with operators before its data": image("/W 1", "Q Q ID x EI"),
    "inline image behind a number": ends(`${NOWHERE} 1BI /W 5 /H 1 /BPC 8 /CS /G ID ( EI q q q ) `),
    "a dictionary with operators": ends(`${NOWHERE} << /A q /B q q >>`),
    "a dictionary without its last value": ends("/P << /A (x) /B >> BDC EMC"),
    "endstream within the content": ends("q endstream Q"),
    "parameters of LZW that stand in no list": one("/Filter[/LZWDecode]/DecodeParms<</EarlyChange 0>>", late),
    "parameters of LZW that stand in a list": one("/Filter/LZWDecode/DecodeParms[<</EarlyChange 0>>]", late),
    "codes that grow two early": one("/Filter/LZWDecode/DecodeParms<</EarlyChange 2>>", late),
    "a predictor above all others": predicted(16, `\0${bad}`),
    "a predictor with more colours than any": one(
      "/Filter/FlateDecode/DecodeParms<</Predictor 12/Colors 33/Columns 2>>",
      rows(66),
    ),
    "a predictor of 32 bits": one(
      "/Filter/FlateDecode/DecodeParms<</Predictor 12/BitsPerComponent 32/Columns 16>>",
      rows(64),
    ),
    "a form that leaves a layer open": drawing("X", { 20: stream(FORM, LAYER) }),
    "forms in forms, the last of which leaves a layer open": drawing("X", {
      ...Object.fromEntries(
        Array.from({ length: 18 }, (_, at) => [
          20 + at,
          stream(`${BARE_FORM}/Resources<</XObject<</X ${21 + at} 0 R>>>>`, "/X Do"),
        ]),
      ),
      38: stream(FORM, LAYER),
    }),
    "a pattern that leaves a layer open": ends("/Pattern cs /P scn 0 0 9 9 re f", {
      resources: "/Pattern<</P 20 0 R>>",
      objects: {
        20: stream(
          `${FORM.replace("/Type/XObject/Subtype/Form", "/Type/Pattern/PatternType 1/PaintType 1/TilingType 1")}/XStep 300/YStep 400`,
          LAYER,
        ),
      },
    }),
    "a soft mask that leaves a layer open": drawing("X", {
      20: stream(`${BARE_FORM}/Resources<</ExtGState<</M<</SMask<</S/Luminosity/G 21 0 R>>>>>>>>`, "/M gs"),
      21: stream(`${FORM}/Group<</S/Transparency/CS/DeviceGray>>`, LAYER),
    }),
    "a glyph that leaves a layer open": drawing("X", {
      20: stream(`${BARE_FORM}/Resources<</Font<</T 21 0 R>>>>`, "BT /T 9 Tf 9 9 Td (a) Tj ET"),
      21:
        "<</Type/Font/Subtype/Type3/FontBBox[0 0 1 1]/FontMatrix[1 0 0 1 0 0]/FirstChar 97/LastChar 97/Widths[1]" +
        "/Encoding<</Differences[97/a]>>/CharProcs<</a 22 0 R>>/Resources<</Properties<</Off 10 0 R>>>>>>",
      22: stream("", `1 0 d0 ${LAYER}`),
    }),
  };
}

/** All of them, made anew; the same bytes every time. */
export function stampFixtures(): StampFixture[] {
  const visible = [
    ...Object.entries(ENDINGS).map(([name, ending]) => ({ name, pdf: ends(ending) })),
    ...Object.entries(others()).map(([name, pdf]) => ({ name, pdf })),
  ].map((made) => ({ ...made, outcome: "visible" as const }));
  return [
    ...visible,
    {
      name: "free text, and a form without defaults",
      pdf: ends("", { ...FREE_TEXT, catalog: "/AcroForm<</Fields[]>>" }),
      // With such a form PDFium never showed it.
      like: ends("", FREE_TEXT),
      outcome: "visible",
    },
    ...Object.entries(IN_FRONT).map(([name, made]) => ({ name, pdf: ends("", made), outcome: "warned" as const })),
    ...Object.entries(readInTwoWays()).map(([name, pdf]) => ({ name, pdf, outcome: "refused" as const })),
  ];
}
