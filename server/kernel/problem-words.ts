import {
  isArgumentElement,
  isLiteralElement,
  type MessageFormatElement,
  parse,
} from "@formatjs/icu-messageformat-parser";
import { formatMessage } from "../../locales/message.ts";
import { locales } from "../../locales/read.ts";
import { messageAt, type Words } from "../../locales/translate.ts";

/**
 * What errors say, in the reader's language. The English sentence stands where the error is made, and once more in
 * `locales/en/problems.json`, by which its translation is found: an error with a sentence that has none is told in English.
 */

/** A longer text holds what the caller sent, and is not worth the search. */
const longest = 400;

/** A sentence of the catalogue with something inserted. */
type Pattern = { key: string; parts: RegExp; names: string[]; weight: number };
type Sentences = { whole: ReadonlyMap<string, string>; patterns: readonly Pattern[] };
type Found = { key: string; values: Readonly<Record<string, string>> };

let known: Sentences | undefined;

/** The English sentences: those that stand alone by their text, the others with the one first that says most itself. */
function sentences(): Sentences {
  if (known) return known;
  const whole = new Map<string, string>();
  const patterns: Pattern[] = [];
  for (const [key, message] of messagesIn(locales().words("en", catalogue))) {
    const elements = parse(message, { ignoreTag: true });
    if (elements.every(isLiteralElement)) whole.set(formatMessage(message, {}, "en"), key);
    else patterns.push(patternOf(key, elements));
  }
  known = { whole, patterns: patterns.sort((a, b) => b.weight - a.weight) };
  return known;
}

const catalogue = "problems";

function messagesIn(words: Words, prefix = ""): [key: string, message: string][] {
  return Object.entries(words).flatMap(([name, inner]): [string, string][] =>
    typeof inner === "string" ? [[prefix + name, inner]] : messagesIn(inner, `${prefix}${name}.`),
  );
}

/** @throws TypeError for a message with more than plain placeholders: what it became could not be recognized */
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

/** @example inLanguage("de", "At most 5 characters.") === "Höchstens 5 Zeichen." */
export function inLanguage(language: string, sentence: string): string {
  return language === "en" ? sentence : (translated(language, sentence) ?? sentence);
}

/** Whether the sentence can be told in the language. */
export function isKnownIn(language: string, sentence: string): boolean {
  return language === "en" || translated(language, sentence) !== undefined;
}

function translated(language: string, sentence: string): string | undefined {
  if (sentence.length > longest) return undefined;
  return said(language, find(sentence)) ?? reason(language, sentence);
}

function find(text: string): Found | undefined {
  const { whole, patterns } = sentences();
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
  const message = messageAt(locales().words(language, catalogue), found.key);
  if (message === null || message === messageAt(locales().words("en", catalogue), found.key)) return undefined;
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

const ours = (language: string, part: string): string =>
  translated(language, part) ??
  part
    .split(", ")
    .map((one) => {
      const key = sentences().whole.get(one);
      return (key !== undefined && said(language, { key, values: {} })) || one;
    })
    .join(", ");
