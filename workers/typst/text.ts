/** Makes text fit for typesetting: nothing that cannot be drawn, its direction, and the fonts that it needs. */
import { bodyFont } from "../fonts.ts";
import { covers } from "./coverage.ts";

export type PreparedText = {
  text: string;
  /** In the order in which they are tried for each character. */
  fonts: string[];
  dir: "ltr" | "rtl";
  /** Characters that no shipped font has; each became the substitute. */
  missing: number;
};

const SUBSTITUTE = "\u25a1";
const OTHERS = ["Noto Sans Hebrew", "Noto Naskh Arabic", "Noto Sans Devanagari", "Noto Sans Thai", "Noto Sans Mono"];
/** Controls, and marks that only choose between forms of a character: nothing that a font must have. */
const CONTROL = /[\p{Cc}\p{Variation_Selector}\u00ad\ufeff\u{e0000}-\u{e007f}]/u;
/** Draws nothing, so needs no glyph: spaces, joiners, direction marks. */
const INVISIBLE = /[\p{White_Space}\p{Default_Ignorable_Code_Point}]/u;
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
const LETTER = /\p{L}/u;
/** ASCII without runs of spaces. */
const PLAIN = /^(?:[!-~]| (?! ))*$/;
const LONG_WORD = /[!-~\u00a0-\u024f]{24,}/g;

/**
 * Prepares one piece of text. `first` names fonts to prefer (a handwriting face, the monospaced one).
 * With `breakable`, words too long for any line may break anywhere.
 */
export function prepareText(raw: string, first: readonly string[] = [], breakable = false): PreparedText {
  const fonts = [...new Set([...first, bodyFont])];
  // Every shipped face has these.
  if (PLAIN.test(raw)) return { text: breakable ? breakWords(raw) : raw, fonts, dir: "ltr", missing: 0 };
  const candidates = [...OTHERS, ...eastAsian(raw)];
  let text = "";
  let missing = 0;
  let dir: "ltr" | "rtl" | null = null;
  for (const char of raw
    .toWellFormed()
    .replace(/\r\n?|[\u2028\u2029\u0085\v\f]/g, "\n")
    .replace(/\t/g, "    ")) {
    if (char === "\n") {
      text += char;
      continue;
    }
    if (CONTROL.test(char)) continue;
    if (dir === null && LETTER.test(char)) dir = RIGHT_TO_LEFT.test(char) ? "rtl" : "ltr";
    const point = char.codePointAt(0) ?? 0;
    if (!INVISIBLE.test(char) && !fonts.some((font) => covers(font, point))) {
      const found = candidates.find((font) => covers(font, point));
      if (found) fonts.push(found);
      else {
        missing++;
        text += SUBSTITUTE;
        if (!covers(bodyFont, 0x25a1) && !fonts.includes("Noto Sans Mono")) fonts.push("Noto Sans Mono");
        continue;
      }
    }
    text += char;
  }
  // Runs of spaces would collapse into one.
  text = text.replace(/ {2,}/g, (spaces) => `${"\u00a0".repeat(spaces.length - 1)} `);
  if (breakable) text = breakWords(text);
  return { text, fonts, dir: dir ?? "ltr", missing };
}

/** Marks where a long word may break; the templates set no character there, so that copied text stays whole. */
const breakWords = (text: string): string => text.replace(LONG_WORD, (word) => word.replace(/.{6}(?=.)/gu, "$&\u200b"));

/** Han characters look different in Japan, Korea and China: kana or hangul beside them tell which is meant. */
function eastAsian(text: string): string[] {
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return ["Noto Sans JP", "Noto Sans SC", "Noto Sans KR"];
  if (/\p{Script=Hangul}/u.test(text)) return ["Noto Sans KR", "Noto Sans SC", "Noto Sans JP"];
  return ["Noto Sans SC", "Noto Sans JP", "Noto Sans KR"];
}
