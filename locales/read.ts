import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fittedTo } from "./shape.ts";
import { completed, isWords, type Words } from "./translate.ts";

/**
 * The catalogues as they lie beside this file, in a checkout and in an installed server alike: `<language>/<catalogue>.json`.
 * A mistake in a translator's file stops nothing: the file is named on stderr, once, and English is used instead.
 */

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
  /** Changes with any of the words, as `words` gives them: from then on all of them are kept. */
  version: () => string;
};

/** A file that is no catalogue; the message names it. */
export class CatalogueError extends Error {
  override name = "CatalogueError";
}

/**
 * Finds the languages below a folder.
 * @throws Error when English cannot be read; `files` also when a file of another language is no catalogue
 */
export function openLocales(at: string = folder): Locales {
  const catalogues = filesOf(path.join(at, "en"));
  const found = new Map(
    readdirSync(at, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && isTag(entry.name))
      .flatMap(({ name }) => {
        const files = orNothing(() => filesOf(path.join(at, name)));
        return files === null ? [] : [[name, files] as const];
      }),
  );
  const languages = [...found.keys()].sort();
  const known = new Map<string, Words>();
  const read = (language: string, catalogue: string): Words => {
    const key = `${language}/${catalogue}`;
    const words = known.get(key) ?? wordsOf(language, catalogue);
    known.set(key, words);
    return words;
  };
  const wordsOf = (language: string, catalogue: string): Words => {
    if (language === "en") return readWords(path.join(at, "en", `${catalogue}.json`));
    const files = found.get(language);
    if (!files) return read("en", catalogue);
    const own = files.includes(catalogue)
      ? orNothing(() => readWords(path.join(at, language, `${catalogue}.json`)))
      : null;
    return completed(own ?? {}, read("en", catalogue), (message) => fittedTo(message, language));
  };
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
      version ??= createHash("sha256")
        .update(JSON.stringify(languages.map((language) => [language, catalogues.map((name) => read(language, name))])))
        .digest("base64url")
        .slice(0, 12);
      return version;
    },
  };
}

/** What was read, or null: why it could not be is told to whoever runs this. */
function orNothing<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)} (English is used instead)`);
    return null;
  }
}

let own: Locales | undefined;

/** The catalogues of this installation. What is added to the folder counts after the next start. */
export function locales(): Locales {
  own ??= openLocales();
  return own;
}

/**
 * Whether this names a language as the folders do: its tag as `Intl` writes it, of language, script and region alone (`de`, `pt-BR`,
 * `zh-Hant`), with plural rules in CLDR. So `de-backup` and `old` are folders like any other.
 */
export function isTag(name: string): boolean {
  try {
    const { language, script, region } = new Intl.Locale(name);
    const written = [language, script, region].filter((part) => part !== undefined).join("-");
    return written === name && Intl.PluralRules.supportedLocalesOf(name).length > 0;
  } catch {
    return false;
  }
}

function filesOf(place: string): string[] {
  return readdirSync(place)
    .filter((name) => name.endsWith(".json"))
    .map((name) => name.slice(0, -".json".length))
    .sort();
}

function readWords(file: string): Words {
  const value = parsed(file);
  if (!isWords(value)) throw new CatalogueError(`${file} holds something else than groups of texts`);
  return value;
}

function parsed(file: string): unknown {
  const text = readFileSync(file, "utf8");
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CatalogueError(`${file} is not JSON: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}
