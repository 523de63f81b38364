import { de } from "./problem-words-de.ts";
import type { Language } from "./readers-language.ts";

/**
 * What errors say, in the reader's language. The English sentence is the key, as it stands where the error is made: nobody writes
 * a sentence twice, and an error with a sentence that has no translation is told in English. `{}` stands for what an error inserts.
 */

/** A longer text holds what the caller sent, and is not worth the search. */
const longest = 400;

/** Those whose inserted parts are our own words, or a list of them. Everywhere else they are somebody's, and stay as they are. */
const insertsWords: ReadonlySet<string> = new Set([
  "Expected {}, got {}.",
  "This type is not accepted here: got {}.",
  "{} was not found.",
  "The envelope is {}: it is never sealed.",
  "The PDF contains {}. Documents with such content are not accepted here.",
  "The PDF is too complex to be handled safely: {}.",
  "The PDF is damaged and could not be repaired: {}.",
  "The document could not be rendered. {}",
  "nothing can be drawn on it: {}",
  "it cannot be sealed: {}",
  "{} at byte {}",
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
  return language === "en" ? sentence : (translated(sentence) ?? sentence);
}

/** Whether the sentence can be told in the language. */
export function isKnownIn(language: Language, sentence: string): boolean {
  return language === "en" || translated(sentence) !== undefined;
}

function translated(sentence: string): string | undefined {
  if (sentence.length > longest) return undefined;
  return found(sentence) ?? reason(sentence);
}

function found(text: string): string | undefined {
  const known = whole.get(text);
  if (known !== undefined) return known;
  for (const { parts, translation, words } of patterns) {
    const match = parts.exec(text);
    if (!match) continue;
    let index = 0;
    return translation.replaceAll("{}", () => {
      index += 1;
      const part = match[index] ?? "";
      return words ? ours(part) : part;
    });
  }
  return undefined;
}

/** What stands behind a colon elsewhere, as a sentence of its own. */
function reason(sentence: string): string | undefined {
  if (!sentence.endsWith(".")) return undefined;
  const told = found(sentence.slice(0, 1).toLowerCase() + sentence.slice(1, -1));
  return told && `${told.slice(0, 1).toUpperCase()}${told.slice(1)}.`;
}

const ours = (part: string): string =>
  translated(part) ??
  part
    .split(", ")
    .map((one) => whole.get(one) ?? one)
    .join(", ");
