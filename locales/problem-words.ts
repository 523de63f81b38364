import {
  isArgumentElement,
  isLiteralElement,
  type MessageFormatElement,
  parse,
} from "@formatjs/icu-messageformat-parser";
import { formatMessage } from "./message.ts";
import { messageAt, messagesIn, type Words } from "./translate.ts";

/**
 * What errors say, in the reader's language. The English sentence stands where the error is made, and once more in
 * `locales/en/problems.json`, by which its translation is found: an error with a sentence that has none is told in English.
 */
export type ProblemWords = {
  /** @example inLanguage("de", "At most 5 characters.") === "Höchstens 5 Zeichen." */
  inLanguage: (language: string, sentence: string) => string;
  /** Whether the sentence can be told in the language. */
  isKnownIn: (language: string, sentence: string) => boolean;
};

const catalogue = "problems";
/** A longer text holds what the caller sent, and is not worth the search. */
const longest = 400;

/** A sentence of the catalogue with something inserted. */
type Pattern = { key: string; parts: RegExp; names: string[]; weight: number };
type Found = { key: string; values: Readonly<Record<string, string>> };

/** @throws TypeError when an English message has more than plain placeholders */
export function openProblemWords({ words }: { words: (language: string, catalogue: string) => Words }): ProblemWords {
  const { whole, patterns } = sentencesOf(words("en", catalogue));

  function translated(language: string, sentence: string): string | undefined {
    if (sentence.length > longest) return undefined;
    return said(language, find(sentence)) ?? reason(language, sentence);
  }

  function find(text: string): Found | undefined {
    const key = whole.get(text);
    if (key !== undefined) return { key, values: {} };
    for (const { key, parts, names } of patterns) {
      const match = parts.exec(text);
      if (match) return { key, values: Object.fromEntries(names.map((name, index) => [name, match[index + 1] ?? ""])) };
    }
    return undefined;
  }

  /** Undefined where the language has no words of its own for it. */
  function said(language: string, found: Found | undefined): string | undefined {
    if (!found) return undefined;
    const message = messageAt(words(language, catalogue), found.key);
    if (message === null || message === messageAt(words("en", catalogue), found.key)) return undefined;
    const values = Object.entries(found.values).map(([name, value]) => [
      name,
      isOurs(name) ? ours(language, value) : value,
    ]);
    return formatMessage(message, Object.fromEntries(values), language);
  }

  /** What stands behind a colon elsewhere, as a sentence of its own. */
  function reason(language: string, sentence: string): string | undefined {
    if (!sentence.endsWith(".")) return undefined;
    const told = said(language, find(sentence.slice(0, 1).toLowerCase() + sentence.slice(1, -1)));
    return told && `${told.slice(0, 1).toUpperCase()}${told.slice(1)}.`;
  }

  function ours(language: string, part: string): string {
    const each = (one: string): string => {
      const key = whole.get(one);
      return (key === undefined ? undefined : said(language, { key, values: {} })) ?? one;
    };
    return translated(language, part) ?? part.split(", ").map(each).join(", ");
  }

  return {
    inLanguage: (language, sentence) => translated(language, sentence) ?? sentence,
    isKnownIn: (language, sentence) => language === "en" || translated(language, sentence) !== undefined,
  };
}

/** Those that stand alone, by their text; and the others, the one first that says most itself. */
function sentencesOf(english: Words): { whole: ReadonlyMap<string, string>; patterns: readonly Pattern[] } {
  const whole = new Map<string, string>();
  const patterns: Pattern[] = [];
  for (const [key, message] of messagesIn(english)) {
    const elements = parse(message, { ignoreTag: true });
    if (elements.every(isLiteralElement)) whole.set(formatMessage(message, {}, "en"), key);
    else patterns.push(patternOf(key, elements));
  }
  return { whole, patterns: patterns.sort((a, b) => b.weight - a.weight) };
}

function patternOf(key: string, elements: readonly MessageFormatElement[]): Pattern {
  const names: string[] = [];
  let weight = 0;
  const source = elements.map((element) => {
    if (isLiteralElement(element)) {
      weight += element.value.length;
      return element.value.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
    }
    if (!isArgumentElement(element)) throw new TypeError(`${catalogue}.json: ${key} has more than plain placeholders`);
    names.push(element.value);
    return isNumber(element.value) ? "(-?[0-9][0-9.]*)" : "(.+?)";
  });
  return { key, parts: new RegExp(`^${source.join("")}$`, "s"), names, weight };
}

/** Placeholders of this name take a number: with anything else it is another sentence. */
const isNumber = (name: string): boolean => name.startsWith("number");
/** Those of this name take words of ours, or a list of them. All others take somebody else's, which stay as they are. */
const isOurs = (name: string): boolean => name.startsWith("words");
