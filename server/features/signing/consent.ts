import { createHash } from "node:crypto";
import type { SigningView } from "./contract.ts";

/** The statement that a signer accepts before signing. A changed text gets a new version, so that old records keep their meaning. */

const builtInVersion = "1";
const builtInEnglish = `By choosing to sign, I agree to do business electronically and to use an electronic signature for this document.

I have read the document, and I intend my electronic signature to have the same effect as a signature by hand.

I understand that the following is recorded as evidence: my name and e-mail address, the time of each step, my network address, the kind of browser I use, and the text that I am accepting here. This record becomes part of the certificate of the document.

I can open, read and save the document with the device I am using now. I receive a copy by e-mail once everybody has signed, and I may ask the sender for a copy on paper.

I may refuse to sign electronically. In that case I close this page, or decline where that is offered, and contact the sender.`;

/** Translations of the same version. The English text stays the one that applies; it is always offered beside them. */
const translations: Readonly<Record<string, string>> = {
  de: `Indem ich unterschreibe, bin ich damit einverstanden, dieses Geschäft elektronisch abzuwickeln und für dieses Dokument eine elektronische Unterschrift zu verwenden.

Ich habe das Dokument gelesen, und meine elektronische Unterschrift soll dieselbe Wirkung haben wie eine Unterschrift von Hand.

Mir ist bekannt, dass Folgendes als Beweis aufgezeichnet wird: mein Name und meine E-Mail-Adresse, der Zeitpunkt jedes Schritts, meine Netzwerkadresse, die Art meines Browsers und der Text, dem ich hier zustimme. Diese Aufzeichnung wird Teil der Bescheinigung zum Dokument.

Ich kann das Dokument mit dem Gerät, das ich jetzt benutze, öffnen, lesen und speichern. Sobald alle unterschrieben haben, erhalte ich eine Kopie per E-Mail, und ich kann den Absender um eine Kopie auf Papier bitten.

Ich kann die elektronische Unterschrift verweigern. In diesem Fall schließe ich diese Seite oder lehne ab, wo das angeboten wird, und wende mich an den Absender.`,
};

export type Consent = SigningView["consent"];
/** What is kept of an accepted consent. */
export type AcceptedConsent = { version: string; locale: string; textSha256: string };

const sha256 = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex");
const english = { text: builtInEnglish, textSha256: sha256(builtInEnglish) };

/**
 * The statement for a template version: its own text, in its own language, else the built-in one.
 * @param reader the signer's language: the built-in text is shown in it where there is a translation
 */
export function consentFor(settings: { consentText: string | null; locale: string }, reader: string): Consent {
  const { consentText: text, locale } = settings;
  if (text === null) {
    const language = reader.toLowerCase().split("-", 1)[0] ?? "";
    const translated = translations[language];
    if (translated === undefined) return { version: builtInVersion, locale: "en", ...english, english };
    return {
      version: builtInVersion,
      locale: language,
      text: translated,
      textSha256: sha256(translated),
      english,
    };
  }
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
