import { locales } from "../../locales/read.ts";
import { type Translate, translatorOf, type Words } from "../../locales/translate.ts";

/** What the appliance says itself is English: to administrators, in reports and beside each code, by which pages say it in theirs. */

export const englishWords = (catalogue: string): Words => locales().words("en", catalogue);

/** The translate function of the English catalogue. */
export const english = <Catalogue>(catalogue: string): Translate<Catalogue> =>
  translatorOf<Catalogue>(englishWords(catalogue), "en");
