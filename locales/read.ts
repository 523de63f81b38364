import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { completed, isWords, type Words } from "./translate.ts";

/** The catalogues as they lie beside this file, in a checkout and in an installed server alike: `<language>/<catalogue>.json`. */

const folder = import.meta.dirname;

/** A place that catalogues are read from, each once. */
export type Locales = {
  /** Tags of the languages that there are words in, sorted. */
  languages: readonly string[];
  /** Names of the catalogues, sorted: those of English. */
  catalogues: readonly string[];
  /** The words of a catalogue, with the English ones behind each that the language lacks. */
  words: (language: string, catalogue: string) => Words;
  /** What the files of the language say themselves, by catalogue. */
  files: (language: string) => Readonly<Record<string, Words>>;
  /** Changes with any of the words. */
  version: () => string;
};

/**
 * Finds the languages below a folder.
 * @throws Error when the folder has no English, or a file that is asked for is no catalogue
 */
export function openLocales(at: string = folder): Locales {
  const languages = readdirSync(at, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && isTag(entry.name))
    .map(({ name }) => name)
    .sort();
  const catalogues = filesOf(path.join(at, "en"));
  const known = new Map<string, Words>();
  const read = (language: string, catalogue: string): Words => {
    const key = `${language}/${catalogue}`;
    const words =
      known.get(key) ??
      (language === "en"
        ? readWords(path.join(at, "en", `${catalogue}.json`))
        : completed(ownWords(language, catalogue), read("en", catalogue)));
    known.set(key, words);
    return words;
  };
  const ownWords = (language: string, catalogue: string) =>
    filesOf(path.join(at, language)).includes(catalogue) ? readWords(path.join(at, language, `${catalogue}.json`)) : {};
  let version: string | undefined;
  return {
    languages,
    catalogues,
    words: read,
    files: (language) =>
      Object.fromEntries(
        filesOf(path.join(at, language)).map((name) => [name, readWords(path.join(at, language, `${name}.json`))]),
      ),
    version: () => {
      version ??= versionOf(languages.map((language) => path.join(at, language)));
      return version;
    },
  };
}

let own: Locales | undefined;

/** The catalogues of this installation. What is added to the folder counts after the next start. */
export function locales(): Locales {
  own ??= openLocales();
  return own;
}

/** Whether this is a language tag in the form that `Intl` gives it, which the folders are named in: `de`, `pt-BR`. */
export function isTag(name: string): boolean {
  try {
    return Intl.getCanonicalLocales(name)[0] === name;
  } catch {
    return false;
  }
}

function versionOf(folders: readonly string[]): string {
  const hash = createHash("sha256");
  for (const place of folders)
    for (const name of filesOf(place)) {
      const content = readFileSync(path.join(place, `${name}.json`));
      hash.update(`${path.basename(place)}/${name} ${content.length}\n`).update(content);
    }
  return hash.digest("base64url").slice(0, 12);
}

function filesOf(place: string): string[] {
  return readdirSync(place)
    .filter((name) => name.endsWith(".json"))
    .map((name) => name.slice(0, -".json".length))
    .sort();
}

function readWords(file: string): Words {
  const value: unknown = JSON.parse(readFileSync(file, "utf8"));
  if (!isWords(value)) throw new TypeError(`${file} holds something else than groups of texts`);
  return value;
}
