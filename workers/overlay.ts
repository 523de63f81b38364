/** Turns drawings into what `typst/overlay.typ` typesets and into content stream operators. */
import { bodyFont, signatureFonts, textFonts } from "./fonts.ts";
import type { Box, Drawing, TextStyle, Warning, Watermark } from "./protocol.ts";
import { prepareText } from "./typst/text.ts";

/** One thing for `overlay.typ`; lengths in points from the top left corner of the page. */
export type Item = {
  id: number;
  kind: "line" | "paragraphs" | "comb" | "script" | "placeholder" | "watermark";
  x: number;
  y: number;
  width: number;
  height: number;
  text: string;
  cells: string[];
  fonts: string[];
  rtl: boolean;
  bidi: boolean;
  size: number;
  color: string;
  bold: boolean;
  italic: boolean;
  underline: boolean;
  align: string | null;
  lineHeight: number;
  baseline: number | null;
  padding: number;
  /** A single line that is certain to fit: the template need not measure it. */
  fits: boolean;
  /** Told how it would fit instead of being drawn. */
  measured: boolean;
};
type Prepared = { item: Item; missing: number };

const DEFAULT_SIZE = 11;
const DEFAULT_LINE_HEIGHT = 1.25;
const SCRIPT_COLOR = "#10244d";
const PLACEHOLDER: TextStyle = { size: 8, color: "#2b5fc7", padding: 3 };

const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });

/** The item for a drawing that holds text; null for those that hold none. `id` comes back in the template's notes. */
export function itemOf(drawing: Drawing, id: number): Prepared | null {
  switch (drawing.kind) {
    case "text":
      return textItem(drawing, id);
    case "script": {
      const face = signatureFonts.find((name) => name === drawing.font);
      if (!face) return null;
      const prepared = prepareText(drawing.text.replace(/\s+/g, " ").trim(), [face]);
      return base("script", drawing, { color: SCRIPT_COLOR }, prepared, id);
    }
    case "placeholder":
      return base("placeholder", drawing, PLACEHOLDER, prepareText(drawing.label.replace(/\s+/g, " ")), id);
    default:
      return null;
  }
}

/** The watermark for a page of this size. */
export function watermarkItem(watermark: Watermark, width: number, height: number): Item {
  const box = { x: 0, y: 0, width, height };
  return base("watermark", box, {}, prepareText(watermark), -1).item;
}

function textItem(drawing: Extract<Drawing, { kind: "text" }>, id: number): Prepared {
  const face = textFonts.find((name) => name.toLowerCase() === drawing.face?.trim().toLowerCase()) ?? bodyFont;
  if (drawing.cells !== undefined && drawing.cells > 1) {
    const prepared = prepareText(drawing.text.replace(/\n/g, " "), [face]);
    const made = base("comb", drawing, drawing, prepared, id);
    const chars = Array.from(graphemes.segment(prepared.text), (segment) => segment.segment).slice(0, drawing.cells);
    made.item.cells = [...chars, ...Array<string>(drawing.cells - chars.length).fill("")];
    return made;
  }
  if (drawing.multiline) return base("paragraphs", drawing, drawing, prepareText(drawing.text, [face], true), id);
  return base("line", drawing, drawing, prepareText(drawing.text.replace(/\s*\n\s*/g, " "), [face]), id);
}

function base(
  kind: Item["kind"],
  box: Omit<Box, "page">,
  style: TextStyle,
  prepared: ReturnType<typeof prepareText>,
  id: number,
): Prepared {
  const item: Item = {
    id,
    kind,
    x: box.x,
    y: box.y,
    width: box.width,
    height: box.height,
    text: prepared.text,
    cells: [],
    fonts: prepared.fonts,
    rtl: prepared.dir === "rtl",
    bidi: prepared.bidi,
    size: clamp(style.size ?? DEFAULT_SIZE, 1, 500),
    color: color(style.color, "#000000"),
    bold: style.weight === "bold",
    italic: style.italic === true,
    underline: style.underline === true,
    align: style.align ?? null,
    lineHeight: clamp(style.lineHeight ?? DEFAULT_LINE_HEIGHT, 0.5, 10),
    baseline: style.baseline ?? null,
    padding: clamp(style.padding ?? 0, 0, Math.min(box.width, box.height) / 2),
    fits: false,
    measured: false,
  };
  item.fits = kind === "line" && !item.rtl && certainToFit(item);
  return { item, missing: prepared.missing };
}

/** Measuring costs more than setting: it is left out where even the widest letters would leave room. */
function certainToFit(item: Item): boolean {
  const inside =
    item.baseline === null || (item.baseline >= item.size && item.baseline + 0.3 * item.size <= item.height);
  if (!inside || item.size > item.height * 0.9 || item.fonts.length > 1 || item.fonts[0] !== bodyFont) return false;
  const width = widthBound(item.text);
  return width !== null && width * item.size <= item.width - 2 * item.padding;
}

/** Tenths of an em that no style of the body font exceeds, by character; 7 for the other ASCII letters. */
const WIDTHS = new Map(
  Object.entries({
    3: " !',.:;ijl",
    4: "()-IJ[]`f{}",
    5: '"/?\\_rtz',
    6: "$*+0123456789<=>EFLSTZ^acesvxy|~",
    8: "&DGHOQU",
  })
    .concat([["10", "%MWmN@w"]])
    .flatMap(([tenths, chars]) => [...chars].map((char) => [char, Number(tenths)] as const)),
);

/** No style of the body font sets this text wider (in ems); null for text beyond Latin letters. */
export function widthBound(text: string): number | null {
  if (!/^[ -~\u00a0-\u017f]*$/.test(text)) return null;
  let tenths = 0;
  for (const char of text) tenths += WIDTHS.get(char) ?? (char < "\u007f" ? 7 : 10);
  return tenths / 10;
}

const clamp = (value: number, low: number, high: number): number => Math.min(Math.max(value, low), high);

/** #rrggbb, or the fallback when it is anything else. */
function color(value: string | undefined, fallback: string): string {
  return value !== undefined && /^#[0-9a-f]{6}$/i.test(value) ? value : fallback;
}

/** The drawings that are vectors, as operators in a space with its origin at the lower left of a page `height` high. */
export function vectorsOf(drawing: Drawing, height: number): string | null {
  const { x, width: w, height: h } = drawing;
  const y = height - drawing.y - h;
  switch (drawing.kind) {
    case "whiteout":
      return `${rgb(drawing.color)} rg ${numbers(x, y, w, h)} re f`;
    case "check": {
      const side = Math.min(w, h);
      const [left, bottom] = [x + (w - side) / 2, y + (h - side) / 2];
      const at = (u: number, v: number): string => numbers(left + u * side, bottom + v * side);
      return `0 0 0 RG ${numbers(side * 0.13)} w 1 J 1 j ${at(0.18, 0.5)} m ${at(0.41, 0.25)} l ${at(0.83, 0.77)} l S`;
    }
    case "dot":
      return `0 0 0 rg ${circle(x + w / 2, y + h / 2, Math.min(w, h) * 0.3)} f`;
    default:
      return null;
  }
}

export const numbers = (...values: number[]): string =>
  values.map((value) => String(Number(value.toFixed(4)))).join(" ");

function rgb(value: string | undefined): string {
  const hex = Number.parseInt(color(value, "#ffffff").slice(1), 16);
  return numbers(((hex >> 16) & 255) / 255, ((hex >> 8) & 255) / 255, (hex & 255) / 255);
}

/** Four Bézier curves; 0.5523 r is where their handles stand. */
function circle(x: number, y: number, r: number): string {
  const k = r * 0.5523;
  return [
    `${numbers(x + r, y)} m`,
    `${numbers(x + r, y + k, x + k, y + r, x, y + r)} c`,
    `${numbers(x - k, y + r, x - r, y + k, x - r, y)} c`,
    `${numbers(x - r, y - k, x - k, y - r, x, y - r)} c`,
    `${numbers(x + k, y - r, x + r, y - k, x + r, y)} c`,
  ].join(" ");
}

const NOTES: Record<string, string> = {
  "text-shrunk": "The text was too long for its box and was set smaller.",
  "text-tiny": "The text fits into its box only when it is set smaller than 6 points.",
  "text-clipped": "The text does not fit into its box; what lies outside is cut off.",
};

/** A warning for a note of the template; null for notes that say nothing to people. */
export function warningOf(code: string, page: number): Warning | null {
  const message = NOTES[code];
  return message === undefined ? null : { code, message, page };
}

export function missingWarning(page: number, count: number): Warning {
  const message = "Some characters exist in none of the fonts; their code points stand in their place.";
  return { code: "missing-glyphs", message, page, count };
}
