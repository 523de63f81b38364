/** What the characters of a font read as: /ToUnicode (ISO 32000-1 §9.10), else the font's encoding (§9.6.6). */
import type { DecodingSource } from "./font-metrics.ts";
import { PdfDict, PdfError, PdfName, type PdfObject } from "./objects.ts";

/** The text of a character code; empty when nothing says what it reads as. */
export type FontText = (code: number) => string;

const MAX_CMAP = 512 * 1024;
const MAX_MAPPED = 65_536;
const MAX_TEXT = 16;
const SYMBOL_FONTS = /wingdings|zapfdingbats|dingbats/i;
/** Codes that show an empty square in Wingdings and ZapfDingbats, however their fonts are encoded. */
const SYMBOL_SQUARES: ReadonlySet<number> = new Set([0x6f, 0x70, 0x71, 0x72, 0xa8]);
const SQUARE = "\u2610";

/** Reads at the first use, and never fails: what cannot be read has no text. */
export function fontText(source: DecodingSource, font: PdfDict): FontText {
  let read: FontText | undefined;
  return (code) => {
    read ??= textOfFont(source, font);
    return read(code);
  };
}

function textOfFont(source: DecodingSource, font: PdfDict): FontText {
  try {
    const mapped = toUnicode(source, font);
    const encoded = source.name(font.get("Subtype")) === "Type0" ? null : encodingOf(source, font);
    const symbols = SYMBOL_FONTS.test(source.name(font.get("BaseFont")) ?? "");
    return (code) => {
      const text = mapped.get(code) ?? encoded?.(code) ?? "";
      const bare = text.length === 1 ? text.charCodeAt(0) & 0xff : code;
      return symbols && SYMBOL_SQUARES.has(bare) ? SQUARE : text;
    };
  } catch (error) {
    if (error instanceof PdfError) return () => "";
    throw error;
  }
}

const TOKEN = /<([0-9A-Fa-f\s]*)>|([[\]])|\b(begin|end)(bfchar|bfrange)\b/g;

/** Pairs and ranges of a CMap; what is malformed is passed over. */
function toUnicode(source: DecodingSource, font: PdfDict): Map<number, string> {
  const map = new Map<number, string>();
  const stream = source.stream(font.get("ToUnicode"));
  if (!stream) return map;
  // Ranges may map the same codes again and again.
  const effort = { left: MAX_MAPPED };
  const text = Buffer.from(source.decode(stream, MAX_CMAP)).toString("latin1");
  let section: string | null = null;
  let operands: (string | string[])[] = [];
  let list: string[] | null = null;
  for (const [, hex, bracket, edge, kind] of text.matchAll(TOKEN)) {
    if (effort.left <= 0) break;
    if (edge !== undefined) {
      section = edge === "begin" ? (kind ?? null) : null;
      operands = [];
      list = null;
    } else if (section === null) continue;
    else if (bracket === "[") list = [];
    else if (bracket === "]") {
      if (list) operands.push(list);
      list = null;
    } else if (hex !== undefined) (list ?? operands).push(hex.replace(/\s/g, ""));
    if (list || operands.length < (section === "bfrange" ? 3 : 2)) continue;
    if (section === "bfrange") addRange(map, operands, effort);
    else {
      effort.left -= 1;
      addPair(map, operands);
    }
    operands = [];
  }
  return map;
}

function addPair(map: Map<number, string>, [code, to]: (string | string[])[]): void {
  if (typeof code === "string" && typeof to === "string") map.set(Number.parseInt(code, 16), utf16(to));
}

function addRange(map: Map<number, string>, [first, last, to]: (string | string[])[], effort: { left: number }): void {
  if (typeof first !== "string" || typeof last !== "string" || to === undefined) return;
  const [from, until] = [Number.parseInt(first, 16), Number.parseInt(last, 16)];
  if (!(until >= from) || until - from >= MAX_MAPPED) return;
  const start = typeof to === "string" ? utf16(to) : "";
  const unit = start.charCodeAt(start.length - 1);
  for (let code = from; code <= until && effort.left > 0; code++) {
    effort.left -= 1;
    const own = typeof to === "string" ? start.slice(0, -1) + String.fromCharCode(unit + code - from) : to[code - from];
    if (own !== undefined) map.set(code, typeof to === "string" ? own : utf16(own));
  }
}

function utf16(hex: string): string {
  const bytes = Buffer.from(hex.length <= 2 ? hex.padStart(4, "0") : hex, "hex");
  return bytes
    .subarray(0, bytes.length - (bytes.length % 2))
    .swap16()
    .toString("utf16le")
    .slice(0, MAX_TEXT);
}

/** Windows-1252 stands for StandardEncoding as well: the letters are the same. */
function encodingOf(source: DecodingSource, font: PdfDict): FontText {
  const encoding = source.resolve(font.get("Encoding"));
  const named = encoding instanceof PdfDict ? source.name(encoding.get("BaseEncoding")) : source.name(encoding);
  const decoder = new TextDecoder(named === "MacRomanEncoding" ? "macintosh" : "windows-1252");
  const base = decoder.decode(Uint8Array.from({ length: 256 }, (_, code) => code));
  const differences =
    encoding instanceof PdfDict ? differencesOf(source, encoding.get("Differences")) : new Map<number, string>();
  return (code) => {
    const name = differences.get(code);
    if (name !== undefined) return textOfGlyphName(name);
    return code < 32 ? "" : (base[code] ?? "");
  };
}

function differencesOf(source: DecodingSource, object: PdfObject | undefined): Map<number, string> {
  const names = new Map<number, string>();
  let code = 0;
  for (const item of (source.array(object) ?? []).slice(0, 1024)) {
    const value = source.resolve(item);
    if (typeof value === "number") code = value;
    else if (value instanceof PdfName) names.set(code++, value.value);
  }
  return names;
}

/** Glyph names that are no letters, of the Adobe Glyph List. */
const NAMED: ReadonlyMap<string, string> = new Map(
  (
    "space  |exclam !|quotedbl \"|numbersign #|dollar $|percent %|ampersand &|quotesingle '|parenleft (|parenright )|" +
    "asterisk *|plus +|comma ,|hyphen -|period .|slash /|zero 0|one 1|two 2|three 3|four 4|five 5|six 6|seven 7|" +
    "eight 8|nine 9|colon :|semicolon ;|less <|equal =|greater >|question ?|at @|bracketleft [|backslash \\|" +
    "bracketright ]|asciicircum ^|underscore _|grave `|braceleft {|bar ||braceright }|asciitilde ~|quoteleft ‘|" +
    "quoteright ’|quotedblleft “|quotedblright ”|quotesinglbase ‚|quotedblbase „|endash –|emdash —|ellipsis …|" +
    "bullet •|periodcentered ·|section §|paragraph ¶|degree °|germandbls ß|ae æ|AE Æ|oe œ|OE Œ|oslash ø|Oslash Ø|" +
    "fi fi|fl fl|ff ff|ffi ffi|ffl ffl|Euro €|sterling £|yen ¥|nbspace  |a73 ■|a74 ☐|a203 ☐|a75 ☐|a204 ☐|H22073 ☐"
  )
    .split(/\|(?=[A-Za-z])/)
    .map((entry) => {
      const at = entry.indexOf(" ");
      return [entry.slice(0, at), entry.slice(at + 1)] as const;
    }),
);
const ACCENTS: Readonly<Record<string, string>> = {
  acute: "\u0301",
  grave: "\u0300",
  circumflex: "\u0302",
  dieresis: "\u0308",
  tilde: "\u0303",
  ring: "\u030a",
  caron: "\u030c",
  cedilla: "\u0327",
  ogonek: "\u0328",
  macron: "\u0304",
};

function textOfGlyphName(given: string): string {
  const [name = ""] = given.split(".");
  const known = NAMED.get(name);
  if (known !== undefined) return known;
  if (/^[A-Za-z]$/.test(name)) return name;
  const code = /^(?:uni([0-9A-F]{4})|u([0-9A-F]{4,6}))$/.exec(name);
  if (code) {
    const point = Number.parseInt(code[1] ?? code[2] ?? "", 16);
    return point <= 0x10ffff ? String.fromCodePoint(point) : "";
  }
  const accent = ACCENTS[name.slice(1)];
  return accent !== undefined && /^[A-Za-z]/.test(name) ? (name.slice(0, 1) + accent).normalize("NFC") : "";
}
