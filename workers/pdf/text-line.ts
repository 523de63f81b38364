/** Text as it moves the pen along a line (ISO 32000-1 §9.4.4). */
import type { FontMetrics } from "./font-metrics.ts";
import type { PdfString } from "./objects.ts";

/** What decides how far a string reaches. `scale` is Tz as a factor. */
export type TextState = {
  font: FontMetrics;
  size: number;
  charSpace: number;
  wordSpace: number;
  scale: number;
};

/** One character of a show-text operator; `from` and `to` are along the line, in text space. */
export type Glyph = {
  /** Which of the operand's parts holds it, and at which byte. */
  part: number;
  at: number;
  bytes: number;
  code: number;
  from: number;
  to: number;
  blank: boolean;
  /** The number that moves as far in `TJ`. */
  adjustment: number;
};

/** The operand of `TJ`, or the one string of the other operators. */
export type Parts = readonly (PdfString | number)[];

/** How far the pen moves at least and at most, and whether that is certain. */
type Advance = { least: number; most: number; certain: boolean };

/** How far one part moves the pen. */
export function advanceOf(state: TextState, part: PdfString | number): Advance {
  const { font, size, charSpace, wordSpace, scale } = state;
  if (typeof part === "number") {
    const move = (-part / 1000) * size * scale;
    return { least: move, most: move, certain: true };
  }
  const { bytes } = part;
  const step = font.codeBytes;
  let sum = 0;
  let certain = step !== null && bytes.length % step === 0;
  for (let at = 0; certain && step !== null && at < bytes.length; at += step) {
    const code = codeAt(bytes, at, step);
    const width = font.width(code);
    if (width === null) certain = false;
    else sum += (width * size + spacingOf(state, code, step)) * scale;
  }
  if (certain) return { least: sum, most: sum, certain };
  // Hardly a font sets a character wider than one and a half ems.
  const most = bytes.length * (1.5 * Math.abs(size) + Math.abs(charSpace) + Math.abs(wordSpace)) * Math.abs(scale);
  return size * scale < 0 ? { least: -most, most: 0, certain } : { least: 0, most, certain };
}

/** The glyphs of an operand whose advances are certain, from where the pen stands. */
export function glyphsOf(state: TextState, parts: Parts, pen: number): Glyph[] {
  const { font, size, scale } = state;
  const step = font.codeBytes ?? 1;
  const glyphs: Glyph[] = [];
  for (const [part, item] of parts.entries()) {
    if (typeof item === "number") {
      pen += advanceOf(state, item).most;
      continue;
    }
    for (let at = 0; at < item.bytes.length; at += step) {
      const code = codeAt(item.bytes, at, step);
      const width = font.width(code) ?? 0;
      const spacing = spacingOf(state, code, step);
      const to = pen + width * size * scale;
      const adjustment = -1000 * (width + spacing / size);
      glyphs.push({ part, at, bytes: step, code, from: pen, to, blank: font.blank(code), adjustment });
      pen = to + spacing * scale;
    }
  }
  return glyphs;
}

/** Word spacing goes with the single-byte code 32 only (§9.3.3). */
const spacingOf = (state: TextState, code: number, step: number): number =>
  state.charSpace + (step === 1 && code === 32 ? state.wordSpace : 0);

function codeAt(bytes: Uint8Array, at: number, step: number): number {
  const first = bytes[at] ?? 0;
  return step === 1 ? first : first * 256 + (bytes[at + 1] ?? 0);
}
