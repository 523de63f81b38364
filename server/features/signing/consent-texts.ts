/**
 * The built-in statements that signers accept, by version and language, for ever: what somebody accepted is recorded by its
 * hash, and leads here. Only added to; a changed text gets a new version (`test/contract/frozen.test.ts` holds the hashes).
 */
export const builtInConsents = {
  "1": {
    en: `By choosing to sign, I agree to do business electronically and to use an electronic signature for this document.

I have read the document, and I intend my electronic signature to have the same effect as a signature by hand.

I understand that the following is recorded as evidence: my name and e-mail address, the time of each step, my network address, the kind of browser I use, and the text that I am accepting here. This record becomes part of the certificate of the document.

I can open, read and save the document with the device I am using now. I receive a copy by e-mail once everybody has signed, and I may ask the sender for a copy on paper.

I may refuse to sign electronically. In that case I close this page, or decline where that is offered, and contact the sender.`,
    de: `Indem ich unterschreibe, bin ich damit einverstanden, dieses Geschäft elektronisch abzuwickeln und für dieses Dokument eine elektronische Unterschrift zu verwenden.

Ich habe das Dokument gelesen, und meine elektronische Unterschrift soll dieselbe Wirkung haben wie eine Unterschrift von Hand.

Mir ist bekannt, dass Folgendes als Beweis aufgezeichnet wird: mein Name und meine E-Mail-Adresse, der Zeitpunkt jedes Schritts, meine Netzwerkadresse, die Art meines Browsers und der Text, dem ich hier zustimme. Diese Aufzeichnung wird Teil der Bescheinigung zum Dokument.

Ich kann das Dokument mit dem Gerät, das ich jetzt benutze, öffnen, lesen und speichern. Sobald alle unterschrieben haben, erhalte ich eine Kopie per E-Mail, und ich kann den Absender um eine Kopie auf Papier bitten.

Ich kann die elektronische Unterschrift verweigern. In diesem Fall schließe ich diese Seite oder lehne ab, wo das angeboten wird, und wende mich an den Absender.`,
  },
} as const satisfies Readonly<Record<string, { en: string } & Readonly<Record<string, string>>>>;
