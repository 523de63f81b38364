import { isWords } from "../../locales/translate.ts";
import type { WordSource } from "./languages.ts";

/** The words as the server of the page has them. The page names the languages and the version of the words. */

const { languages = "en", words: version = "" } = document.documentElement.dataset;

/** How long one attempt may take, in milliseconds. */
const patience = 15_000;
/** How long to wait before each further attempt, in milliseconds. */
const pauses = [300, 1500];

export const servedWords: WordSource = {
  languages: languages.split(" "),
  async load(language, name) {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await fetchWords(`/locales/${language}/${name}.json?v=${version}`, attempt > 0);
      } catch (error) {
        const pause = pauses[attempt];
        if (pause === undefined) throw error;
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
  },
};

/** @param anew past what the browser keeps, which may be what was wrong before */
async function fetchWords(address: string, anew: boolean) {
  const response = await fetch(address, {
    cache: anew ? "reload" : "default",
    signal: AbortSignal.timeout(patience),
  });
  if (!response.ok) throw new Error(`${address}: ${response.status}`);
  const words: unknown = await response.json();
  if (!isWords(words)) throw new TypeError(`${address}: these are no words`);
  return words;
}
