/** What labels say about the field beside them, in English and German: data, and the one look-up. Pure. */
import type { ProposedType } from "../protocol.ts";

/**
 * In the order in which they are tried. `whole`: the label is just this. `part`: the label holds this as a word; German
 * words may also end or begin a longer one ("Geburtsdatum").
 */
const WORDS: readonly { type: ProposedType; whole: readonly string[]; part: readonly string[] }[] = [
  {
    type: "initials",
    whole: ["initial", "initials", "initial here", "kürzel", "paraphe", "handzeichen", "namenszeichen"],
    part: ["initials", "initialen"],
  },
  {
    type: "signature",
    whole: ["sign", "sign here", "signed", "signed by", "by", "x", "gezeichnet", "gez", "unterzeichnet"],
    part: ["signature", "signatures", "sign here", "unterschrift", "unterschriften", "signatur"],
  },
  {
    type: "date",
    whole: ["dated", "dob", "am", "day", "tag"],
    part: ["date", "dates", "datum", "geburtstag"],
  },
  {
    type: "email",
    whole: ["mail"],
    part: ["e mail", "email", "e-mail", "e mailadresse", "emailadresse", "mailadresse"],
  },
  {
    type: "phone",
    whole: ["tel", "fon", "mobil", "mobile", "cell"],
    part: [
      "phone",
      "telephone",
      "telefon",
      "telefonnummer",
      "telefonnr",
      "mobile number",
      "handynummer",
      "mobilnummer",
      "mobiltelefon",
      "rufnummer",
      "cell phone",
    ],
  },
  {
    type: "company",
    whole: [
      "company",
      "company name",
      "name of company",
      "organization",
      "organisation",
      "employer",
      "firma",
      "firmenname",
      "unternehmen",
      "arbeitgeber",
    ],
    part: [],
  },
  {
    type: "job_title",
    whole: [
      "title",
      "job title",
      "position",
      "capacity",
      "funktion",
      "position im unternehmen",
      "berufsbezeichnung",
      "stellung",
    ],
    part: [],
  },
  {
    type: "full_name",
    whole: [
      "name",
      "full name",
      "print name",
      "printed name",
      "name printed",
      "name please print",
      "print or type name",
      "typed or printed name",
      "your name",
      "vollständiger name",
      "vor und nachname",
      "vorname nachname",
      "vorname und nachname",
      "name vorname",
      "name in druckbuchstaben",
      "name in druckschrift",
    ],
    part: [],
  },
];
/** Labels with such a word are no names, dates or signatures of the one who signs. */
const OTHERWISE = ["sign in", "signaling", "update", "datei", "datenschutz"];

/** Parties of contracts, as labels name them. */
const PARTIES: readonly string[] = [
  "Landlord",
  "Tenant",
  "Lessor",
  "Lessee",
  "Buyer",
  "Seller",
  "Purchaser",
  "Vendor",
  "Employer",
  "Employee",
  "Client",
  "Contractor",
  "Consultant",
  "Borrower",
  "Lender",
  "Guarantor",
  "Licensor",
  "Licensee",
  "Applicant",
  "Co-Applicant",
  "Witness",
  "Manager",
  "Supervisor",
  "Parent",
  "Guardian",
  "Patient",
  "Physician",
  "Student",
  "Customer",
  "Supplier",
  "Disclosing Party",
  "Receiving Party",
  "Vermieter",
  "Mieter",
  "Käufer",
  "Verkäufer",
  "Arbeitgeber",
  "Arbeitnehmer",
  "Auftraggeber",
  "Auftragnehmer",
  "Antragsteller",
  "Darlehensgeber",
  "Darlehensnehmer",
  "Bürge",
  "Zeuge",
  "Kunde",
  "Lieferant",
  "Erziehungsberechtigter",
  "Patient",
  "Arzt",
  "Vollmachtgeber",
  "Bevollmächtigter",
];

/** In lower case, without punctuation, numbers in front and what stands in brackets. */
export function plainLabel(label: string): string {
  const bare = label.replace(/\([^)]*\)/g, " ").replace(/^\s*\(?(?:\d{1,3}|[a-z])[.)]\s+/i, "");
  return (bare.trim() === "" ? label : bare)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

/** The type that a label names; null when it names none. `exactly` takes only labels that say nothing else. */
export function typeOfLabel(label: string, exactly = false): ProposedType | null {
  const text = plainLabel(label);
  if (text === "" || OTHERWISE.some((word) => holdsWord(text, word))) return null;
  for (const { type, whole, part } of WORDS) {
    if (whole.includes(text)) return type;
    if (exactly ? part.includes(text) : part.some((word) => holdsWord(text, word))) return type;
  }
  return null;
}

/** Words that are names of fields for other things as well. */
const UNCERTAIN: ReadonlySet<string> = new Set(
  "x by sign am day tag title position capacity employer arbeitgeber mobile cell".split(" "),
);

/** The type that the name of a form field surely means. */
export function certainType(name: string): ProposedType | null {
  const text = plainLabel(name).replace(/ \d+$/, "");
  return UNCERTAIN.has(text) ? null : typeOfLabel(text, true);
}

/** The party that a label names; null for none or several. */
export function partyOfLabel(label: string): string | null {
  const text = plainLabel(label).replace(/ s\b/g, "");
  const found = PARTIES.filter((party) => holdsWord(text, plainLabel(party)));
  const [first] = found;
  return found.length === 1 && first !== undefined ? first : null;
}

/** Words of five letters and more also count at the end or beginning of a longer one, as German builds them. */
function holdsWord(text: string, word: string): boolean {
  if (` ${text} `.includes(` ${word} `)) return true;
  if (!/^(?:unterschrift|datum|signatur|telefon|initialen)$/.test(word)) return false;
  return text.split(" ").some((own) => own.startsWith(word) || own.endsWith(word));
}
