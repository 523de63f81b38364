import type { Words } from "../../../../locales/translate.ts";
import type { WordSource } from "../../../shared/languages.ts";

/** The words that the console brings along, each catalogue of each language a file of its own. */

const files = import.meta.glob<Words>("../../../../locales/*/{common,console,findings}.json", { import: "default" });
const pathOf = (language: string, name: string) => `../../../../locales/${language}/${name}.json`;

export const builtWords: WordSource = {
  languages: [...new Set(Object.keys(files).map((file) => file.split("/").at(-2) ?? ""))].sort(),
  load(language, name) {
    const file = files[pathOf(language, name)];
    return file ? file() : Promise.reject(new Error(`There is no catalogue ${name} in ${language}.`));
  },
};
