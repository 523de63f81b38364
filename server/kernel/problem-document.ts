import type { ProblemWords } from "../../locales/problem-words.ts";
import type { AppError } from "./errors.ts";
import { type Problem, problemKinds } from "./problem.ts";
import { inLanguage, isKnownIn } from "./problem-words.ts";

export type About = {
  baseUrl: string;
  /** The template of the route, or `*`. */
  instance: string;
  language: string;
};

/**
 * The reader's language when all that the error says is known in it, else English. The titles are left out of this: a few words that
 * may be the same in both languages ("Conflict" in Dutch).
 */
export function languageOf(
  { message, options }: AppError,
  wanted: string,
  isKnown: ProblemWords["isKnownIn"] = isKnownIn,
): string {
  const errors = options.errors ?? [];
  // What a template says of its own pattern is in the words of its author.
  const own = new Set(errors.filter((one) => one.code === "pattern").map((one) => one.detail));
  const said = [message, ...errors.map((one) => one.detail)];
  return said.every((sentence) => own.has(sentence) || isKnown(wanted, sentence)) ? wanted : "en";
}

/** An error as RFC 9457 has it, in the reader's language (contract §1); what only some errors say is added by the caller. */
export function problemOf(error: AppError, requestId: string, { baseUrl, instance, language }: About): Problem {
  const { code, options } = error;
  const { status, title } = problemKinds[code];
  return {
    type: `${baseUrl}/errors/${code}`,
    title: inLanguage(language, title),
    status,
    detail: inLanguage(language, error.message),
    code,
    instance,
    requestId,
    ...(options.errors && {
      errors: options.errors.map((one) => ({ ...one, detail: inLanguage(language, one.detail) })),
    }),
  };
}
