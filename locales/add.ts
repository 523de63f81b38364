import { chmodSync, existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { isTag, openLocales } from "./read.ts";
import { fittedTo } from "./shape.ts";
import { nameOf, type Words } from "./translate.ts";

/** Begins a language: its folder, with every English message in it, which translators then replace one by one. */

/** What was written of a catalogue. */
export type Begun = {
  catalogue: string;
  /** Messages that were not there before. */
  added: number;
  /** Messages that still read as in English. */
  english: number;
  messages: number;
  /** Keys that English does not have, or not any more; they stay in the file. */
  unknown: string[];
};

/** Why a language cannot be begun. */
export class TagError extends Error {
  override name = "TagError";
}

/**
 * Writes what is missing of a language; what is there stays as it is.
 * @param folder of the languages
 * @throws TagError when this names no language, or English
 */
export function beginLanguage(folder: string, tag: string): Begun[] {
  checkTag(tag);
  const place = path.join(folder, tag);
  const { files } = openLocales(folder);
  const own = existsSync(place) ? files(tag) : {};
  mkdirSync(place, { recursive: true });
  // Whatever the umask of whoever calls is: the service reads it as another user.
  chmodSync(place, 0o755);
  return Object.entries(files("en")).map(([catalogue, english]) => {
    const begun: Begun = { catalogue, added: 0, english: 0, messages: 0, unknown: [] };
    const words = grown(own[catalogue] ?? {}, english, tag, begun);
    replaceFile(path.join(place, `${catalogue}.json`), `${JSON.stringify(words, null, 2)}\n`);
    return begun;
  });
}

/** Another file in its place: the package's own copy may be a second name for the one that is there. */
function replaceFile(file: string, text: string): void {
  const draft = `${file}.new`;
  writeFileSync(draft, text);
  chmodSync(draft, 0o644);
  renameSync(draft, file);
}

function checkTag(tag: string): void {
  if (tag === "en") throw new TagError("English is what the other languages are translated from");
  if (isTag(tag)) return;
  const written = canonical(tag.replaceAll("_", "-"));
  // Without its plural rules nothing could be said in it.
  if (written === tag && Intl.PluralRules.supportedLocalesOf(tag).length === 0)
    throw new TagError(`nothing is known of a language ${tag}: CLDR has no plural rules for it`);
  const advice = written === null || !isTag(written) ? "for example fr, pt-BR or zh-Hant" : `write ${written}`;
  throw new TagError(`${JSON.stringify(tag)} is not the tag of a language: ${advice}`);
}

function canonical(tag: string): string | null {
  try {
    return Intl.getCanonicalLocales(tag)[0] ?? null;
  } catch {
    return null;
  }
}

/** In the order of English. */
function grown(own: Words, english: Words, tag: string, begun: Begun, above = ""): Words {
  const words: [string, string | Words][] = Object.entries(english).map(([name, original]) => {
    const kept = Object.hasOwn(own, name) ? own[name] : undefined;
    if (typeof original !== "string")
      return [name, grown(typeof kept === "object" ? kept : {}, original, tag, begun, `${above}${name}.`)];
    const message = typeof kept === "string" ? kept : fittedTo(original, tag);
    begun.messages += 1;
    if (typeof kept !== "string") begun.added += 1;
    if (message === fittedTo(original, tag)) begun.english += 1;
    return [name, message];
  });
  const more = Object.entries(own).filter(([name]) => !Object.hasOwn(english, name));
  begun.unknown.push(...more.map(([name]) => `${above}${name}`));
  return Object.fromEntries([...words, ...more]);
}

/** What was done and what comes next, in words. */
export function tellBegun(tag: string, folder: string, begun: readonly Begun[]): string {
  const sum = (what: "added" | "english" | "messages") => begun.reduce((total, one) => total + one[what], 0);
  const width = Math.max(...begun.map(({ catalogue }) => catalogue.length));
  const unknown = begun.flatMap(({ catalogue, unknown: keys }) => keys.map((key) => `  ${catalogue}: ${key}`));
  return [
    `${nameOf(tag)} (${tag}), ${path.join(folder, tag)}: ${sum("added")} messages added`,
    "",
    `${sum("english")} of ${sum("messages")} messages read as in English:`,
    ...begun.map(({ catalogue, english, messages }) => `  ${catalogue.padEnd(width)}  ${english} of ${messages}`),
    ...(unknown.length > 0 ? ["", "English has no such keys (any more); delete them:", ...unknown] : []),
    "",
    "Next:",
    "  1. Translate the texts in these files. Leave the keys and what stands in braces: {name} is filled in, and a plural has one text",
    "     for each form of the language: {n, plural, one {# page} other {# pages}}.",
    "  2. In a checkout: npm run check says what is missing or wrong.",
    "  3. Restart the server: its pages offer the language, and mails and certificates are written in it. Until a text is translated",
    "     it is said in English.",
    "  4. An update of an installed server takes the folder along. Call this again then: it adds what is new in English.",
  ].join("\n");
}
