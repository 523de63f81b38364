import deEvidence from "../../../locales/de/evidence.json" with { type: "json" };
import dePage from "../../../locales/de/verifier.json" with { type: "json" };
import enEvidence from "../../../locales/en/evidence.json" with { type: "json" };
import enPage from "../../../locales/en/verifier.json" with { type: "json" };
import { answeringLanguage, messageAt, type Translate, translatorOf, type Words } from "../../../locales/translate.ts";
import type { SayEvidence } from "../../../server/features/evidence/words.ts";

/**
 * The words of the page, which has no server to ask: these languages lie in it, whatever the installation speaks. One more takes
 * two imports and a line here, and makes every bundle some 18 kB larger.
 */
const carried: Readonly<Record<string, { page: Words; evidence: Words }>> = {
  en: { page: enPage, evidence: enEvidence },
  de: { page: dePage, evidence: deEvidence },
};
const offlineLanguages = Object.keys(carried);

/** What the page says in one language. */
export type PageWords = {
  language: string;
  /** Of the page itself. */
  page: Translate<typeof enPage>;
  /** The same by a key that stands in the page's HTML. */
  word: (key: string) => string;
  /** Of the checks. */
  evidence: SayEvidence;
  /** The words of a label, null when it is none of ours. */
  label: (name: string) => string | null;
};

export function wordsIn(language: string): PageWords {
  const { page, evidence } = carried[language] ?? { page: enPage, evidence: enEvidence };
  return {
    language,
    page: translatorOf(page, language),
    word: (key) => messageAt(page, key) ?? key,
    evidence: translatorOf(evidence, language),
    label: (name) => messageAt(evidence, `labels.${name}`),
  };
}

/** The language to begin with. @param tags what the reader likes, best first */
export const firstLanguage = (tags: readonly string[]): string => answeringLanguage(tags, offlineLanguages);

/** The language that the button offers: the next of the list. */
export const languageAfter = (language: string): string =>
  offlineLanguages[(offlineLanguages.indexOf(language) + 1) % offlineLanguages.length] ?? "en";
