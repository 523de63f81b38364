import { de } from "./problem-words-de.ts";
import type { Language } from "./readers-language.ts";

/**
 * What errors say, in the reader's language. The English sentence is the key, as it stands where the error is made: nobody writes
 * a sentence twice, and what has no translation is told in English. `{}` stands for what an error inserts.
 */

/** A longer text holds what the caller sent, and is not worth the search. */
const longest = 400;

type Pattern = { parts: RegExp; translation: string };
const whole = new Map<string, string>();
const patterns: Pattern[] = [];
for (const [english, translation] of Object.entries(de)) {
  if (!english.includes("{}")) whole.set(english, translation);
  else {
    const source = english
      .split("{}")
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"))
      .join("(.+?)");
    patterns.push({ parts: new RegExp(`^${source}$`, "s"), translation });
  }
}

/** @example inLanguage("de", "At most 5 characters.") === "Höchstens 5 Zeichen." */
export function inLanguage(language: Language, sentence: string): string {
  if (language === "en") return sentence;
  const known = whole.get(sentence);
  if (known !== undefined || sentence.length > longest) return known ?? sentence;
  for (const { parts, translation } of patterns) {
    const found = parts.exec(sentence);
    if (!found) continue;
    let index = 0;
    return translation.replaceAll("{}", () => {
      index += 1;
      const part = found[index] ?? "";
      return whole.get(part) ?? part;
    });
  }
  return sentence;
}
