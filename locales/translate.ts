import { formatMessage, type Values } from "./message.ts";

/** Translators for servers and browsers alike, and the choice of a language. */

/** A catalogue: messages, in groups. */
export type Words = { readonly [name: string]: string | Words };

/** Whether something that was parsed as JSON is a catalogue. */
export function isWords(value: unknown): value is Words {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((inner) => typeof inner === "string" || isWords(inner))
  );
}

/** The keys of a catalogue's messages, the groups joined by dots. */
export type MessageKey<Catalogue> = {
  [Name in keyof Catalogue & string]: Catalogue[Name] extends string ? Name : `${Name}.${MessageKey<Catalogue[Name]>}`;
}[keyof Catalogue & string];

/** Says a message of one catalogue in one language. */
export type Translate<Catalogue> = (key: MessageKey<Catalogue>, values?: Values) => string;

/**
 * The translate function of a catalogue. A key without words is said as it is.
 * @param language that the words are in, for their plurals and numbers
 */
export function translatorOf<Catalogue>(words: Words, language: string): Translate<Catalogue> {
  return (key, values = {}) => {
    const message = messageAt(words, key);
    return message === null ? key : formatMessage(message, values, language);
  };
}

/** The message at a dotted key, as it is written. */
export function messageAt(words: Words, key: string): string | null {
  let at: string | Words | undefined = words;
  for (const name of key.split(".")) {
    if (typeof at !== "object" || !Object.hasOwn(at, name)) return null;
    at = at[name];
  }
  return typeof at === "string" ? at : null;
}

/** Each message of a catalogue by its dotted key. */
export function messagesIn(words: Words, above = ""): Map<string, string> {
  return new Map(
    Object.entries(words).flatMap(([name, inner]) =>
      typeof inner === "string" ? [[above + name, inner] as const] : [...messagesIn(inner, `${above}${name}.`)],
    ),
  );
}

/**
 * The words of a catalogue, with the English ones for each that it lacks. What English does not have is left out.
 * @param fitted makes of an English message one that can be said in the language
 */
export function completed(words: Words, english: Words, fitted: (message: string) => string = String): Words {
  return Object.fromEntries(
    Object.entries(english).map(([name, original]) => {
      const own = Object.hasOwn(words, name) ? words[name] : undefined;
      if (typeof original === "string") return [name, typeof own === "string" ? own : fitted(original)];
      return [name, completed(typeof own === "object" ? own : {}, original, fitted)];
    }),
  );
}

/**
 * The first of these languages, best liked first, that there are words in (RFC 4647 §3.4: `de` answers for `de-AT`); English when
 * none is. A region may say the script: `zh-Hant` answers for `zh-TW`, rather than `zh`.
 * @param tags BCP 47, as people and programs send them
 */
export function answeringLanguage(tags: readonly (string | null | undefined)[], available: readonly string[]): string {
  for (const tag of tags) {
    for (const range of rangesOf((tag ?? "").toLowerCase())) {
      const found = available.find((language) => language.toLowerCase() === range);
      if (found !== undefined) return found;
    }
  }
  return "en";
}

/** What may answer for a tag, the closest first. */
function rangesOf(tag: string): string[] {
  const own = shortened(tag);
  // The bare language comes last, unless it is what was asked for.
  const bare = own.length > 1 ? own.splice(-1) : [];
  return [...own, ...shortened(likely(tag)).slice(0, -1), ...bare];
}

/** The tag, and each shorter one down to the language. */
function shortened(tag: string): string[] {
  const ranges: string[] = [];
  for (let parts = tag.split("-"); parts.length > 0; parts = parts.slice(0, -1)) {
    // A single letter introduces what follows it and says nothing alone.
    if (parts.at(-1)?.length === 1 && parts.length > 1) continue;
    ranges.push(parts.join("-"));
  }
  return ranges;
}

/** Language, script and region as CLDR thinks them likely; empty when this is no tag. */
function likely(tag: string): string {
  try {
    const { language, script, region } = new Intl.Locale(tag).maximize();
    return [language, script, region].join("-").toLowerCase();
  } catch {
    return "";
  }
}

const rightToLeft: ReadonlySet<string | undefined> = new Set([
  "Adlm",
  "Arab",
  "Hebr",
  "Mand",
  "Nkoo",
  "Rohg",
  "Syrc",
  "Thaa",
]);

/** The direction in which the language is usually written. */
export function directionOf(language: string): "ltr" | "rtl" {
  return rightToLeft.has(new Intl.Locale(language).maximize().script) ? "rtl" : "ltr";
}

/** The language's name in itself, as a list of languages shows it. */
export function nameOf(language: string): string {
  const name = new Intl.DisplayNames([language], { type: "language", fallback: "code" }).of(language) ?? language;
  // Many languages write their names small within a sentence.
  return name.charAt(0).toLocaleUpperCase(language) + name.slice(1);
}
