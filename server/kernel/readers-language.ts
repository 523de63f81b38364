/** The languages in which people are told something by the server itself. */
export const languages = ["en", "de"] as const;
export type Language = (typeof languages)[number];

const isLanguage = (tag: string): tag is Language => languages.some((one) => one === tag);

/** The language that the reader likes best of those that there are (RFC 9110 §12.5.4, RFC 4647 §3.4); English when none is. */
export function readersLanguage(acceptLanguage: string): Language {
  // A longer header than any browser sends says nothing more.
  const wanted = acceptLanguage
    .slice(0, 500)
    .split(",")
    .map((range) => {
      const [tag = "", ...parameters] = range.trim().toLowerCase().split(";");
      const weight = parameters.map((one) => /^\s*q=([\d.]+)\s*$/.exec(one)?.[1]).find((one) => one !== undefined);
      return { language: tag.split("-", 1)[0] ?? "", weight: weight === undefined ? 1 : Number(weight) };
    });
  const sorted = wanted.filter(({ weight }) => weight > 0).sort((a, b) => b.weight - a.weight);
  for (const { language } of sorted) if (isLanguage(language)) return language;
  return "en";
}
