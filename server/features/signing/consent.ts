import { createHash } from "node:crypto";
import { ownMember } from "../../kernel/record.ts";
import { builtInConsents } from "./consent-texts.ts";
import type { SigningView } from "./contract.ts";

/** The statement that a signer accepts before signing. */

/** What is offered today. */
const builtInVersion = "1";
const builtIn: Readonly<Record<string, string>> = builtInConsents[builtInVersion];

export type Consent = SigningView["consent"];
/** What is kept of an accepted consent. */
export type AcceptedConsent = { version: string; locale: string; textSha256: string };

export const consentHash = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex");
const hashed = (text: string) => ({ text, textSha256: consentHash(text) });
/** The text that applies; it is always offered beside a translation. */
const english = hashed(builtInConsents[builtInVersion].en);

const byHash: ReadonlyMap<string, string> = new Map(
  Object.values(builtInConsents)
    .flatMap((texts) => Object.values(texts))
    .map((text) => [consentHash(text), text]),
);
/** The built-in statement, of any version and language, that has this hash. */
export const builtInConsent = (textSha256: string): string | undefined => byHash.get(textSha256);

/**
 * The statement for a template version: its own text, in its own language, else the built-in one.
 * @param reader the signer's language: the built-in text is shown in it where there is a translation
 */
export function consentFor(settings: { consentText: string | null; locale: string }, reader: string): Consent {
  const { consentText: text, locale } = settings;
  if (text === null) {
    const language = reader.toLowerCase().split("-", 1)[0] ?? "";
    const translated = ownMember(builtIn, language);
    if (translated === undefined) return { version: builtInVersion, locale: "en", ...english, english };
    return { version: builtInVersion, locale: language, ...hashed(translated), english };
  }
  const own = hashed(text);
  const speaksEnglish = /^en\b/i.test(locale);
  return { version: `custom-${own.textSha256.slice(0, 12)}`, locale, ...own, english: speaksEnglish ? own : english };
}

/** The text that was accepted, or undefined when this is not one that was offered. */
export function acceptedText(
  shown: Consent,
  given: { version: string; locale: string },
): (AcceptedConsent & { text: string }) | undefined {
  if (given.version !== shown.version) return undefined;
  const { version, locale } = given;
  const accepted = locale === shown.locale ? shown : locale === "en" ? shown.english : undefined;
  return accepted && { version, locale, textSha256: accepted.textSha256, text: accepted.text };
}
