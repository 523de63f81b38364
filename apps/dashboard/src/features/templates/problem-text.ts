import { useQuery } from "@tanstack/react-query";
import type problems from "../../../../../locales/en/problems.json";
import { openProblemWords, type ProblemWords } from "../../../../../locales/problem-words.ts";
import { pageLanguage, translator } from "../../../../shared/i18n.ts";
import { servedWords } from "../../../../shared/served-words.ts";

declare module "../../../../shared/i18n.ts" {
  interface Catalogues {
    problems: typeof problems;
  }
}

/** What the checks say that run in the page as they run in the service: there it comes translated. */

const opened = new Map<string, ProblemWords>();

/** Sentences that name members of the interface, for people who see inputs. */
const ownWords = [
  ["min is above max.", "props.said.minAboveMax"],
  ["min is after max.", "props.said.minAfterMax"],
  ["minLength is above maxLength.", "props.said.minLength"],
] as const;

/** The sentence in the language of the page; in English until its words are there (`useProblemWords`). */
export function problemText(sentence: string): string {
  const own = ownWords.find(([said]) => said === sentence)?.[1];
  if (own !== undefined) return translator("templates")(own);
  const language = pageLanguage();
  return opened.get(language)?.inLanguage(language, sentence) ?? sentence;
}

/** Loads the translations that `problemText` uses, then re-renders. English needs none. */
export function useProblemWords(): void {
  const language = pageLanguage();
  useQuery({
    queryKey: ["problem-words", language],
    queryFn: async () => {
      const [english, own] = await Promise.all(["en", language].map((tag) => servedWords.load(tag, "problems")));
      opened.set(language, openProblemWords({ words: (tag) => (tag === "en" ? english : own) ?? {} }));
      return true;
    },
    enabled: language !== "en",
    staleTime: Number.POSITIVE_INFINITY,
  });
}
