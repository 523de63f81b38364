import { addCatalogue, type Catalogues, pageLanguage, setLanguage } from "./i18n.ts";
import { store, stored } from "./storage.ts";

/** The languages of the pages, and their catalogues: each is a file of its own that is loaded when it is shown. */

export const languages = { en: "English", de: "Deutsch" } as const;
export type Language = keyof typeof languages;

const files = import.meta.glob<object>("./catalogue/*/*.json", { import: "default" });
const wanted = new Set<keyof Catalogues>(["common"]);
const loaded = new Map<string, Promise<void>>();
const key = "signet.language";

const isLanguage = (tag: string): tag is Language => Object.hasOwn(languages, tag);

/** The first of these tags that there are catalogues for; English when none is. */
export function languageFor(tags: readonly (string | null | undefined)[]): Language {
  for (const tag of tags) {
    const base = tag?.toLowerCase().split("-", 1)[0] ?? "";
    if (isLanguage(base)) return base;
  }
  return "en";
}

/** What was chosen on this device before, else what the browser asks for. */
export function deviceLanguage(): Language {
  return languageFor([stored("local", key), ...navigator.languages]);
}

/** Loads the words of these pages in the language shown; they stay with the page when the language changes. */
export async function loadCatalogues(names: readonly (keyof Catalogues)[]): Promise<void> {
  for (const name of names) wanted.add(name);
  await loadAll(pageLanguage(), names);
}

/** Shows the page in another language and remembers it on this device. */
export async function showLanguage(language: Language): Promise<void> {
  store("local", key, language);
  if (language === pageLanguage()) return;
  await loadAll(language, [...wanted]);
  await setLanguage(language);
}

async function loadAll(language: string, names: readonly (keyof Catalogues)[]): Promise<void> {
  await Promise.all(names.map((name) => load(language, name)));
}

function load(language: string, name: keyof Catalogues): Promise<void> {
  const path = `./catalogue/${language}/${name}.json`;
  const file = files[path];
  // English common words come with the page itself.
  if (!file || (language === "en" && name === "common")) return Promise.resolve();
  const known = loaded.get(path);
  if (known) return known;
  const loading = file().then((words) => addCatalogue(language, name, words));
  loaded.set(path, loading);
  // A failed load is tried again the next time.
  loading.catch(() => loaded.delete(path));
  return loading;
}
