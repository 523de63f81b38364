import { openProblemWords, type ProblemWords } from "../../locales/problem-words.ts";
import { locales } from "../../locales/read.ts";

/** What errors say, in the languages of this appliance. */

let own: ProblemWords | undefined;

function ownWords(): ProblemWords {
  own ??= openProblemWords(locales());
  return own;
}

/** The sentence in the language, in English where that has no words for it. English itself needs no file. */
export const inLanguage: ProblemWords["inLanguage"] = (language, sentence) =>
  language === "en" ? sentence : ownWords().inLanguage(language, sentence);
export const isKnownIn: ProblemWords["isKnownIn"] = (language, sentence) =>
  language === "en" || ownWords().isKnownIn(language, sentence);
