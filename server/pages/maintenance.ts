import type Catalogue from "../../locales/en/maintenance.json";
import { locales } from "../../locales/read.ts";
import { type Translate, translatorOf } from "../../locales/translate.ts";
import { readersLanguage } from "../kernel/readers-language.ts";
import { marked, page, type Setting } from "./plain.ts";

/** What people see while an update is under way; the address, with what stands behind its #, stays. */

/** Seconds until the page asks again by itself. */
export const askAgainSeconds = 15;

/** Read when the program starts: an update may exchange the files while the page is shown. */
const words: ReadonlyMap<string, Translate<typeof Catalogue>> = new Map(
  locales().languages.map((language) => [language, translatorOf(locales().words(language, "maintenance"), language)]),
);

export function maintenancePage(setting: Setting, acceptLanguage: string): string {
  const language = readersLanguage(acceptLanguage);
  const t: Translate<typeof Catalogue> = words.get(language) ?? String;
  const title = marked(t("title"));
  // An empty address is this page's own, with all that stands in it.
  return page(
    `${title} · Signet`,
    { ...setting, language, refreshSeconds: askAgainSeconds },
    `<h1>${title}</h1><p>${marked(t("text"))}</p><p class="soft">${marked(t("wait"))} <a href="">${marked(t("again"))}</a></p>`,
  );
}
