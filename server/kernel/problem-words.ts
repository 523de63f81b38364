import { de } from "./problem-words-de.ts";
import type { Language } from "./readers-language.ts";

/**
 * What errors say, in the reader's language. The English sentence is the key, as it stands where the error is made: nobody writes
 * a sentence twice, and what has no translation is told in English. `{}` stands for what an error inserts.
 */

/** A longer text holds what the caller sent, and is not worth the search. */
const longest = 400;

/** Those whose inserted parts are our own words. Everywhere else they are somebody's, and stay as they are. */
const insertsWords: ReadonlySet<string> = new Set([
  "Expected {}, got {}.",
  "This type is not accepted here: got {}.",
  "{} was not found.",
]);
/** Those that insert a number: with anything else it is another sentence. */
const insertsNumber = /^At (most|least) /;

type Pattern = { parts: RegExp; translation: string; words: boolean };
const whole = new Map<string, string>();
const patterns: Pattern[] = [];
for (const [english, translation] of Object.entries(de)) {
  if (!english.includes("{}")) whole.set(english, translation);
  else {
    const source = english
      .split("{}")
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"))
      .join(insertsNumber.test(english) ? "(-?[0-9][0-9.]*)" : "(.+?)");
    patterns.push({ parts: new RegExp(`^${source}$`, "s"), translation, words: insertsWords.has(english) });
  }
}

/** @example inLanguage("de", "At most 5 characters.") === "Höchstens 5 Zeichen." */
export function inLanguage(language: Language, sentence: string): string {
  if (language === "en") return sentence;
  const known = whole.get(sentence);
  if (known !== undefined || sentence.length > longest) return known ?? sentence;
  for (const { parts, translation, words } of patterns) {
    const found = parts.exec(sentence);
    if (!found) continue;
    let index = 0;
    return translation.replaceAll("{}", () => {
      index += 1;
      const part = found[index] ?? "";
      return words ? (whole.get(part) ?? part) : part;
    });
  }
  return sentence;
}
