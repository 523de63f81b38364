import { answeringLanguage, nameOf, type Words } from "../../locales/translate.ts";
import { addWords, type CatalogueName, hasWords, pageLanguage, setLanguage } from "./i18n.ts";
import { store, stored } from "./storage.ts";

/** The languages that a page offers, and the loading of its words: only of the language shown, each catalogue when it is needed. */

/** Where a page has its words from. */
export type WordSource = {
  /** Tags of the languages that there are words in. */
  languages: readonly string[];
  load: (language: string, name: CatalogueName) => Promise<Words>;
};

let source: WordSource = { languages: [], load: () => Promise.reject(new Error("The page has no words.")) };
/** What the page speaks from by now. */
const wanted = new Set<CatalogueName>(["common"]);
const loading = new Map<string, Promise<void>>();
/** The language that was asked for last. */
let asked = "";
const key = "signet.language";

/** Must come before everything else that the page does with words. */
export function takeWordsFrom(given: WordSource): void {
  source = given;
}

/** The languages to choose from, by their names in themselves. */
export const languages = (): { tag: string; name: string }[] =>
  source.languages.map((tag) => ({ tag, name: nameOf(tag) }));

/** The first of these tags that there are words in; English when none is. */
export const languageFor = (tags: readonly (string | null | undefined)[]): string =>
  answeringLanguage(tags, source.languages);

/** What was chosen on this device before, else what the browser asks for. */
export const deviceLanguage = (): string => languageFor([stored("local", key), ...navigator.languages]);

/** Begins to speak a language: its words are there when this is done. @throws Error when they cannot be loaded */
export async function startTranslations(language: string, names: readonly CatalogueName[] = []): Promise<void> {
  for (const name of names) wanted.add(name);
  await speak(language);
}

/** Loads the words of these pages in the language shown; they stay with the page when the language changes. */
export async function loadCatalogues(names: readonly CatalogueName[]): Promise<void> {
  for (const name of names) wanted.add(name);
  // It may change while they are on their way.
  for (let language = ""; language !== pageLanguage(); ) {
    language = pageLanguage();
    await Promise.all(names.map((name) => load(language, name)));
  }
}

/**
 * Shows the page in another language and remembers it on this device once it is shown. Of several choices the last one counts.
 * @throws Error when the words of the one chosen last cannot be loaded
 */
export async function showLanguage(language: string): Promise<void> {
  asked = language;
  try {
    if (language !== pageLanguage()) await speak(language);
  } catch (error) {
    if (asked === language) throw error;
  }
  if (asked === language) store("local", key, language);
}

async function speak(language: string): Promise<void> {
  asked = language;
  // A page may be opened while words are on their way, and speak from more of them.
  const missing = () => [...wanted].filter((name) => !hasWords(language, name));
  while (missing().length > 0) await Promise.all(missing().map((name) => load(language, name)));
  if (asked === language) setLanguage(language);
}

function load(language: string, name: CatalogueName): Promise<void> {
  if (hasWords(language, name)) return Promise.resolve();
  const id = `${language}/${name}`;
  const known = loading.get(id);
  if (known) return known;
  const started = source
    .load(language, name)
    .then((words) => addWords(language, name, words))
    // A failed load is tried again the next time.
    .finally(() => loading.delete(id));
  loading.set(id, started);
  return started;
}
