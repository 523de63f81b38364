import { createHash } from "node:crypto";
import type { SigningView } from "./contract.ts";

/** The statement that a signer accepts before signing. A changed text gets a new version, so that old records keep their meaning. */

const builtInVersion = "1";
const builtInEnglish = `By choosing to sign, I agree to do business electronically and to use an electronic signature for this document.

I have read the document, and I intend my electronic signature to have the same effect as a signature by hand.

I understand that the following is recorded as evidence: my name and e-mail address, the time of each step, my network address, the kind of browser I use, and the text that I am accepting here. This record becomes part of the certificate of the document.

I can open, read and save the document with the device I am using now. I receive a copy by e-mail once everybody has signed, and I may ask the sender for a copy on paper.

I may refuse to sign electronically. In that case I close this page, or decline where that is offered, and contact the sender.`;

export type Consent = SigningView["consent"];
/** What is kept of an accepted consent. */
export type AcceptedConsent = { version: string; locale: string; textSha256: string };

const sha256 = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex");
const english = { text: builtInEnglish, textSha256: sha256(builtInEnglish) };

/** The statement for a template version: its own text, in its own language, else the built-in one. */
export function consentFor(settings: { consentText: string | null; locale: string }): Consent {
  const { consentText: text, locale } = settings;
  if (text === null) return { version: builtInVersion, locale: "en", ...english, english };
  const textSha256 = sha256(text);
  const own = { text, textSha256 };
  const speaksEnglish = /^en\b/i.test(locale);
  return { version: `custom-${textSha256.slice(0, 12)}`, locale, ...own, english: speaksEnglish ? own : english };
}

/** The text that was accepted, or undefined when this is not one that was offered. */
export function acceptedText(
  offered: Consent,
  given: { version: string; locale: string },
): AcceptedConsent | undefined {
  if (given.version !== offered.version) return undefined;
  const accepted = { version: given.version, locale: given.locale };
  if (given.locale === offered.locale) return { ...accepted, textSha256: offered.textSha256 };
  if (given.locale === "en") return { ...accepted, textSha256: offered.english.textSha256 };
  return undefined;
}
