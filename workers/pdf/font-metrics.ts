/** How much room the glyphs of a font take (ISO 32000-1 §9.2.4, §9.7.4.3), as far as it is certain. */
import { type FontText, fontText } from "./font-text.ts";
import { type ObjectSource, PdfDict, PdfError, type PdfObject, type PdfStream } from "./objects.ts";
import type { Budget } from "./parser.ts";
import { standardWidths } from "./standard-widths.ts";

/** Lengths in ems, of text space. */
export type FontMetrics = {
  /** Bytes of a character code; null when codes cannot be told apart. */
  codeBytes: 1 | 2 | null;
  /** Advance of a character, null when it is not certain. */
  width: (code: number) => number | null;
  ascent: number;
  descent: number;
  /** What stands there is a glyph within these measures, which may be taken out. False for Type 3. */
  outline: boolean;
  /** A character that shows nothing. */
  blank: (code: number) => boolean;
  /** What a character reads as; empty when that is not known. */
  text: FontText;
};

/** A source that can also undo the filters of streams. */
export type DecodingSource = ObjectSource & { decode: (stream: PdfStream, limit?: number) => Uint8Array };

const MAX_CID = 65_535;
const MAX_TO_UNICODE = 256 * 1024;

/** Nothing is known about this font. */
export const UNKNOWN_FONT: FontMetrics = {
  codeBytes: null,
  width: () => null,
  ascent: 1,
  descent: -0.4,
  outline: false,
  blank: () => false,
  text: () => "",
};

/** Reads a font dictionary. What is missing or beyond this reader yields null widths, never a guess. */
export function fontMetrics(source: DecodingSource, font: PdfDict, budget: Budget): FontMetrics {
  return { ...measuresOf(source, font, budget), text: fontText(source, font) };
}

type Measures = Omit<FontMetrics, "text">;

function measuresOf(source: DecodingSource, font: PdfDict, budget: Budget): Measures {
  switch (source.name(font.get("Subtype"))) {
    case "Type1":
    case "MMType1":
    case "TrueType":
      return simple(source, font, budget);
    case "Type0":
      return composite(source, font, budget);
    case "Type3":
      return type3(source, font, budget);
    default:
      return UNKNOWN_FONT;
  }
}

function simple(source: DecodingSource, font: PdfDict, budget: Budget): Measures {
  const descriptor = source.dict(font.get("FontDescriptor"));
  const widths = listedWidths(source, font, budget) ?? standard(source, font);
  const missing = source.number(descriptor?.get("MissingWidth"));
  const width = (code: number): number | null => {
    const value = widths?.get(code) ?? (widths ? missing : null);
    return value === null ? null : value / 1000;
  };
  const blanks = blankCodes(source, font, 1);
  const blank = (code: number): boolean => code === 32 || blanks.has(code);
  return { codeBytes: 1, width, ...extent(source, descriptor), outline: true, blank };
}

function listedWidths(source: ObjectSource, font: PdfDict, budget: Budget): Map<number, number> | null {
  const list = source.array(font.get("Widths"));
  const first = source.number(font.get("FirstChar"));
  if (!list || first === null || list.length > 256) return null;
  spend(budget, list.length);
  const widths = new Map<number, number>();
  list.forEach((item, index) => {
    const value = source.number(item);
    if (value !== null) widths.set(first + index, value);
  });
  return widths;
}

function standard(source: ObjectSource, font: PdfDict): Map<number, number> | null {
  const encoding = source.resolve(font.get("Encoding"));
  const baseFont = source.name(font.get("BaseFont"));
  if (baseFont === null || encoding instanceof PdfDict || font.has("Widths")) return null;
  return standardWidths(baseFont, source.name(encoding));
}

/** Only Identity-H: the code is two bytes and is the CID (§9.7.5.2). Vertical writing and other CMaps stay unknown. */
function composite(source: DecodingSource, font: PdfDict, budget: Budget): Measures {
  const descendant = source.dict(source.array(font.get("DescendantFonts"))?.[0]);
  if (source.name(font.get("Encoding")) !== "Identity-H" || !descendant) return UNKNOWN_FONT;
  const widths = cidWidths(source, descendant, budget);
  const blanks = blankCodes(source, font, 2);
  return {
    codeBytes: 2,
    width: (code) => {
      const width = widths === null ? Number.NaN : (widths.listed[code] ?? widths.others);
      return Number.isNaN(width) ? null : width / 1000;
    },
    ...extent(source, source.dict(descendant.get("FontDescriptor"))),
    outline: true,
    blank: (code) => blanks.has(code),
  };
}

/** By CID, up to the highest that is listed; NaN is not known. */
type CidWidths = { listed: Float64Array; others: number };

/** /W and /DW (§9.7.4.3); null when they are malformed. */
function cidWidths(source: ObjectSource, font: PdfDict, budget: Budget): CidWidths | null {
  spend(budget, 4096);
  const others = (font.has("DW") ? source.number(font.get("DW")) : 1000) ?? Number.NaN;
  const list = font.has("W") ? source.array(font.get("W")) : [];
  if (!list) return null;
  const widths = new Float64Array(listedCids(source, list)).fill(others);
  for (let at = 0; at < list.length; ) {
    const first = cid(source, list[at]);
    const second = source.resolve(list[at + 1]);
    if (first === null) return null;
    if (Array.isArray(second)) {
      spend(budget, second.length);
      if (first + second.length > MAX_CID + 1) return null;
      second.forEach((item, index) => {
        widths[first + index] = source.number(item) ?? Number.NaN;
      });
      at += 2;
    } else {
      const last = cid(source, second);
      const value = source.number(list[at + 2]);
      if (last === null || value === null || last < first) return null;
      spend(budget, 1 + ((last - first) >> 4));
      widths.fill(value, first, last + 1);
      at += 3;
    }
  }
  return { listed: widths, others };
}

/** One more than the highest CID of /W. */
function listedCids(source: ObjectSource, list: readonly PdfObject[]): number {
  let count = 0;
  for (let at = 0; at < list.length; ) {
    const second = source.resolve(list[at + 1]);
    const entries = Array.isArray(second);
    const last = entries ? (cid(source, list[at]) ?? 0) + second.length - 1 : (cid(source, second) ?? 0);
    count = Math.max(count, last + 1);
    at += entries ? 2 : 3;
  }
  return Math.min(count, MAX_CID + 1);
}

function cid(source: ObjectSource, object: PdfObject | undefined): number | null {
  const value = source.number(object);
  return value !== null && Number.isInteger(value) && value >= 0 && value <= MAX_CID ? value : null;
}

/** Type 3 glyphs are drawings of any size (§9.6.5): their advance is known, their room only roughly. */
function type3(source: ObjectSource, font: PdfDict, budget: Budget): FontMetrics {
  const matrix = source.array(font.get("FontMatrix"))?.map((item) => source.number(item) ?? Number.NaN) ?? [];
  const widths = listedWidths(source, font, budget);
  const scale = matrix[1] === 0 && matrix[2] === 0 ? (matrix[0] ?? Number.NaN) : Number.NaN;
  const width = (code: number): number | null => {
    const value = (widths?.get(code) ?? Number.NaN) * scale;
    return Number.isFinite(value) ? value : null;
  };
  const box = source.array(font.get("FontBBox"))?.map((item) => source.number(item) ?? 0) ?? [];
  const [low, high] = [(box[1] ?? 0) * (matrix[3] ?? 0), (box[3] ?? 0) * (matrix[3] ?? 0)];
  const room = high > low ? { ascent: high, descent: low } : {};
  return { ...UNKNOWN_FONT, codeBytes: 1, width, ...room };
}

/**
 * Ascent and descent as the descriptor has them, within its bounding box: the room of a line, not the ink of each glyph.
 * Many fonts state what their tallest glyph needs; text is hardly ever taller than an em. Fonts that hang far below the
 * line (big brackets, roots) get all of their box, those that say nothing the measures of the standard fonts.
 */
function extent(source: ObjectSource, descriptor: PdfDict | null): { ascent: number; descent: number } {
  const box = source.array(descriptor?.get("FontBBox"))?.map((item) => (source.number(item) ?? 0) / 1000) ?? [];
  const [low, high] = [Math.min(box[1] ?? 0, 0), box[3] ?? 0];
  const bounded = high > 0.2;
  if (bounded && low < -1.5) return { ascent: high, descent: low };
  const up = (source.number(descriptor?.get("Ascent")) ?? 0) / 1000;
  const down = -Math.abs((source.number(descriptor?.get("Descent")) ?? 0) / 1000);
  const ascent = up > 0.2 ? Math.min(up, bounded ? high : up) : bounded ? high : 0.75;
  const descent = down < 0 ? Math.max(down, bounded ? low : down) : bounded ? low : -0.22;
  return { ascent: Math.min(ascent, 1), descent: Math.max(descent, -0.35) };
}

/** Codes that /ToUnicode calls a space; none when it cannot be read. */
function blankCodes(source: DecodingSource, font: PdfDict, bytes: 1 | 2): Set<number> {
  const codes = new Set<number>();
  const stream = source.stream(font.get("ToUnicode"));
  if (!stream) return codes;
  let text: string;
  try {
    text = Buffer.from(source.decode(stream, MAX_TO_UNICODE)).toString("latin1");
  } catch (error) {
    if (error instanceof PdfError) return codes;
    throw error;
  }
  const digits = 2 * bytes;
  // Sections alternate with what stands between them: bfchar has pairs, bfrange triples.
  for (const [index, section] of text.split(/begin(?=bfchar|bfrange)/).entries()) {
    if (index === 0) continue;
    const range = section.startsWith("bfrange");
    const body = section.slice(0, section.indexOf("end"));
    const hex = body.includes("[") ? [] : (body.match(/<[0-9A-Fa-f]{0,16}>/g) ?? []);
    const step = range ? 3 : 2;
    for (let at = 0; at + step <= hex.length; at += step) {
      const [code, to] = [hex[at] ?? "", hex[at + step - 1] ?? ""];
      if (code.length === digits + 2 && /^<00[2aA]0>$/.test(to)) codes.add(Number.parseInt(code.slice(1), 16));
    }
  }
  return codes;
}

function spend(budget: Budget, units: number): void {
  budget.objects -= units;
  if (budget.objects < 0) throw new PdfError("too-complex", "too much to read in the fonts");
}
