import { rewritten } from "../../locales/shape.ts";
import type { Words } from "../../locales/translate.ts";

/**
 * A language that nobody speaks, made from English: every letter has an accent, and texts are about 140 % as long. On a page in it
 * one sees what was not translated, and what has no room for a longer language.
 */

/** The tag that CLDR keeps for this: English with accents. */
export const pseudoLanguage = "en-XA";

const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const odd = Array.from("áƀçđéƒǧĥíĵķļɱñóþɋřšţúṽŵẋýžÁƁÇĐÉƑǦĤÍĴĶĻṀÑÓÞɊŘŠŢÚṼŴẊÝŽ");
const accented = new Map(Array.from(plain, (letter, at) => [letter, odd[at] ?? letter]));

/** Two vowels for each make the texts longer. */
const drawnOut = (text: string): string =>
  Array.from(text, (letter) => (accented.get(letter) ?? letter).repeat(/[aeiou]/.test(letter) ? 2 : 1)).join("");

/** A message in it: what stands between its placeholders is changed, and nothing else. */
export const pseudoMessage = (message: string): string =>
  rewritten(message, { options: ({ options }) => options, literal: drawnOut });

/** A catalogue in it. */
export function pseudoWords(words: Words): Words {
  return Object.fromEntries(
    Object.entries(words).map(([name, inner]) => [
      name,
      typeof inner === "string" ? pseudoMessage(inner) : pseudoWords(inner),
    ]),
  );
}
