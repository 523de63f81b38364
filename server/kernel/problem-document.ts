import type { AppError } from "./errors.ts";
import { type Problem, problemKinds } from "./problem.ts";
import { inLanguage } from "./problem-words.ts";
import type { Language } from "./readers-language.ts";

export type About = {
  baseUrl: string;
  /** The template of the route, or `*`. */
  instance: string;
  language: Language;
};

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
