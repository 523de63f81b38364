import { locales } from "../../locales/read.ts";
import { answeringLanguage } from "../../locales/translate.ts";

/** The language that the reader likes best of those that there are (RFC 9110 §12.5.4, RFC 4647 §3.4); English when none is. */
export function readersLanguage(acceptLanguage: string): string {
  // A longer header than any browser sends says nothing more.
  const wanted = acceptLanguage
    .slice(0, 500)
    .split(",")
    .map((range) => {
      const [tag = "", ...parameters] = range.trim().split(";");
      const weight = parameters.map((one) => /^\s*q=([\d.]+)\s*$/i.exec(one)?.[1]).find((one) => one !== undefined);
      return { tag: tag.trim(), weight: weight === undefined ? 1 : Number(weight) };
    });
  const sorted = wanted.filter(({ weight }) => weight > 0).sort((a, b) => b.weight - a.weight);
  return answeringLanguage(
    sorted.map(({ tag }) => tag),
    locales().languages,
  );
}
