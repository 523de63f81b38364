/** Makes text fit for typesetting: nothing that cannot be drawn, its direction, and the fonts that it needs. */
import { bodyFont } from "../fonts.ts";
import { covers } from "./coverage.ts";

export type PreparedText = {
  text: string;
  /** In the order in which they are tried for each character. */
  fonts: string[];
  dir: "ltr" | "rtl";
  /** Some of it runs from right to left. */
  bidi: boolean;
  /** Characters that no shipped font has; each became its code point in brackets. */
  missing: number;
};

/** What stands for a character that no shipped font has: which one it was can still be read. */
const codePointOf = (char: string): string =>
  `[U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}]`;
/** Marks on one letter; Tibetan and pointed Hebrew need no more. */
const MOST_MARKS = 5;
const OTHERS = [
  "Noto Sans Hebrew",
  "Noto Naskh Arabic",
  "Noto Sans Devanagari",
  "Noto Sans Thai",
  "Noto Sans Mono",
  "Noto Emoji",
];
/** Controls, embeddings and overrides of direction (they hide what a text says), and marks that only choose between forms of a character: nothing that a font must have. */
const CONTROL = /[\p{Cc}\u202a-\u202e\p{Variation_Selector}\u00ad\ufeff\u{e0000}-\u{e007f}]/u;
/** Draws nothing, so needs no glyph: spaces, joiners, direction marks. */
const INVISIBLE = /[\p{White_Space}\p{Default_Ignorable_Code_Point}]/u;
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
const LETTER = /\p{L}/u;
const MARK = /\p{M}/u;
/** ASCII without runs of spaces. */
const PLAIN = /^(?:[!-~]| (?! ))*$/;
/** Scripts with places to break within what has no spaces are left alone, and those whose letters join are broken late. */
const LONG_WORD = /[!-~\u00a1-\u058f\u05be-\u05ff\u1e00-\u1fff\u2c00-\u2dff\ua640-\ua69f]{24,}/g;
const LONG_JOINED_WORD = /[\u0600-\u0dff\u1200-\u137f]{40,}/g;

/**
 * Prepares one piece of text. `first` names fonts to prefer (a handwriting face, the monospaced one).
 * With `breakable`, words too long for any line may break anywhere.
 */
export function prepareText(raw: string, first: readonly string[] = [], breakable = false): PreparedText {
  const fonts = [...new Set([...first, bodyFont])];
  // Every shipped face has these.
  if (PLAIN.test(raw)) return { text: breakable ? breakWords(raw) : raw, fonts, dir: "ltr", bidi: false, missing: 0 };
  const candidates = [...OTHERS, ...eastAsian(raw)];
  let text = "";
  let missing = 0;
  let dir: "ltr" | "rtl" | null = null;
  let marks = 0;
  let isolates = 0;
  for (const char of raw
    .toWellFormed()
    .replace(/\r\n?|[\u2028\u2029\u0085\v\f]/g, "\n")
    .replace(/\t/g, "    ")) {
    if (char === "\n") {
      text += char;
      continue;
    }
    if (CONTROL.test(char)) continue;
    marks = MARK.test(char) ? marks + 1 : 0;
    if (marks > MOST_MARKS) continue;
    if (char >= "\u2066" && char <= "\u2069") isolates = Math.max(0, isolates + (char === "\u2069" ? -1 : 1));
    // What is isolated does not turn the text around it (UAX #9, rule P2).
    if (dir === null && isolates === 0 && LETTER.test(char)) dir = RIGHT_TO_LEFT.test(char) ? "rtl" : "ltr";
    const point = char.codePointAt(0) ?? 0;
    if (!INVISIBLE.test(char) && !fonts.some((font) => covers(font, point))) {
      const found = candidates.find((font) => covers(font, point));
      if (found) fonts.push(found);
      else {
        missing++;
        text += codePointOf(char);
        continue;
      }
    }
    text += char;
  }
  // Runs of spaces would collapse into one.
  text = text.replace(/ {2,}/g, (spaces) => `${"\u00a0".repeat(spaces.length - 1)} `);
  if (breakable) text = breakWords(text);
  return { text, fonts, dir: dir ?? "ltr", bidi: runsLeft(text), missing };
}

/** Whether any of it runs from right to left. */
export const runsLeft = (text: string): boolean => RIGHT_TO_LEFT.test(text);

/** Without marks of direction of any kind, so that it can stand in an isolate and not leave it. */
export const withoutBidi = (text: string): string => text.replace(/\p{Bidi_Control}/gu, "");

/** Thai and its neighbours write words without spaces between them: only what no dictionary can divide is broken. */
const UNSPACED = /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]{40,}/g;
const dictionary = new Intl.Segmenter("und", { granularity: "word" });

/** Marks where a long word may break; the templates set no character there, so that copied text stays whole. */
const breakWords = (text: string): string =>
  text
    .replace(LONG_WORD, (word) => word.replace(/.{6}\p{M}*(?=.)/gu, "$&\u200b"))
    .replace(LONG_JOINED_WORD, inTwenties)
    .replace(UNSPACED, (run) =>
      Array.from(dictionary.segment(run), ({ segment }) => (segment.length < 40 ? segment : inTwenties(segment))).join(
        "",
      ),
    );

const inTwenties = (word: string): string => word.replace(/.{20}\p{M}*(?=.)/gu, "$&\u200b");

/** Han characters look different in Japan, Korea and China: kana or hangul beside them tell which is meant. */
function eastAsian(text: string): string[] {
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return ["Noto Sans JP", "Noto Sans SC", "Noto Sans KR"];
  if (/\p{Script=Hangul}/u.test(text)) return ["Noto Sans KR", "Noto Sans SC", "Noto Sans JP"];
  return ["Noto Sans SC", "Noto Sans JP", "Noto Sans KR"];
}
