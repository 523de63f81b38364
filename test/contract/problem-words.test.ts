import { isLiteralElement, parse } from "@formatjs/icu-messageformat-parser";
import { describe, expect, it } from "vitest";
import { openProblemWords } from "../../locales/problem-words.ts";
import { locales } from "../../locales/read.ts";
import { messageAt, messagesIn } from "../../locales/translate.ts";
import { AppError, invalid } from "../../server/kernel/errors.ts";
import { problemKinds } from "../../server/kernel/problem.ts";
import { languageOf } from "../../server/kernel/problem-document.ts";
import { inLanguage, isKnownIn } from "../../server/kernel/problem-words.ts";
import { problemSentences, sources } from "./problem-sentences.ts";

/** Whatever an error says, it says in German, too: who adds a sentence adds it to `locales/en/problems.json` and `locales/de/problems.json`. */

const messages = [...messagesIn(locales().words("en", "problems"))];
/** The key of each sentence, with `{}` for what it inserts. */
const keys = new Map(messages.map(([key, message]) => [blank(message), key]));
const german = (text: string) => messageAt(locales().words("de", "problems"), keys.get(text) ?? "") ?? "";

/** A message as the source has it: what is inserted becomes `{}`, and quoted braces stand alone. */
function blank(message: string): string {
  return parse(message, { ignoreTag: true })
    .map((element) => (isLiteralElement(element) ? element.value : "{}"))
    .join("");
}

/** What sentences become that insert our own words, where these stand elsewhere. */
const composed: Readonly<Record<string, readonly string[]>> = {
  "The body is not valid JSON{}.": ["The body is not valid JSON.", "The body is not valid JSON (at byte 7)."],
  "{}. Send {}.": ["The request has no Content-Type. Send x.", "Content-Type x is not accepted here. Send y."],
  "`{}` is not a {} that is known here.": [
    "`x` is not a member that is known here.",
    "`x` is not a parameter that is known here.",
  ],
  "{} is required.": ["The body is required.", "`x` is required.", "Entry 7 is required."],
  "Use {}.": ["Use `x`.", "Use one of 7."],
  "Must be {}.": [
    ...["at least 7", "at most 7", "more than 7", "less than 7"],
    ...["at least 7 characters", "at most 7 characters", "at least 7 entries", "at most 7 entries"],
  ].map((bound) => `Must be ${bound}.`),
  "The plan allows {} per envelope (features.viewersPerEnvelope).": [
    "The plan allows 1 viewer per envelope (features.viewersPerEnvelope).",
    "The plan allows 7 viewers per envelope (features.viewersPerEnvelope).",
  ],
  "The box ends right of the page, which has {}.": ["The box ends right of the page, which has 7 × 7 points."],
  "The box ends below the page, which has {}.": ["The box ends below the page, which has 7 × 7 points."],
  "{} are not a list": ["the annotations of page 7 are not a list", "the fields of its form are not a list"],
};

/** What has no German. */
const exceptions = [
  // Node refused the request before anybody could read its `Accept-Language`.
  "The request is not HTTP that can be read.",
  // Warnings of answers that are no errors.
  "Role `{}` has no field for a signature or initials: nothing in the document shows that this person signed.",
  'The text of the field "{}" is too long to be read in it.',
  // Jobs are retried on the administrator's socket.
  "The links and codes of a refused mail were wiped. Let the sender send it again.",
  "Its content was wiped a day after it failed.",
  "A failed job {}",
  "A waiting job {}",
  "The job's content was wiped, or another one has taken its place.",
  "The seal of {} has not failed.",
];

const said = problemSentences();
const filled = (sentence: string): string => sentence.replaceAll("{}", "7");

describe("German", () => {
  it("is there for every sentence of an error", () => {
    expect(said.length).toBeGreaterThan(500);
    const missing = said
      .filter(({ text }) => !exceptions.includes(text))
      .filter(({ text }) => (composed[text] ?? [filled(text)]).some((sentence) => !isKnownIn("de", sentence)));
    expect(missing.map(({ text, place }) => `${place}: ${text}`)).toEqual([]);
  });

  it("is that of the sentence, not of another one that looks like it", () => {
    const sentences = said.map(({ text }) => text).filter((text) => keys.has(text));
    expect(sentences.length).toBeGreaterThan(400);
    expect(sentences.filter((text) => inLanguage("de", filled(text)) !== filled(blank(german(text))))).toEqual([]);
  });

  it("is there for the titles", () => {
    expect(Object.values(problemKinds).filter(({ title }) => !isKnownIn("de", title))).toEqual([]);
  });

  it("inserts what the English does", () => {
    const holes = (text: string) => text.split("{}").length;
    expect([...keys.keys()].filter((english) => holes(english) !== holes(blank(german(english))))).toEqual([]);
  });

  it("is not there for what nobody says any more", () => {
    const source = sources("server", "workers").map(({ text }) => text.replaceAll("\\`", "`"));
    const everything = source.join("\n");
    const isSaid = (part: string) => part.trim().length < 4 || everything.includes(part.trim().replace(/\.$/, ""));
    const together = [...said.map(({ text }) => text), ...Object.values(composed).flat()];
    const known = new Set(together.map((text) => text.replaceAll(/\b[7xy]\b/g, "{}")));
    const dead = [...keys.keys()].filter((one) => !one.split("{}").every(isSaid) && !known.has(one));
    // Of what type a value is, is put together, too.
    expect(dead).toEqual(["a boolean"]);
  });

  it.each([
    [
      "The PDF is damaged and could not be repaired: unexpected token at byte 5.",
      "Die PDF-Datei ist beschädigt und konnte nicht repariert werden: unerwartetes Zeichen bei Byte 5.",
    ],
    [
      "The PDF contains videos, attached files. Documents with such content are not accepted here.",
      "Die PDF-Datei enthält Videos, angehängte Dateien. Solche Dokumente werden hier nicht angenommen.",
    ],
    ["The document could not be rendered. Too much text.", "Das Dokument konnte nicht erzeugt werden. Zu viel Text."],
    ["The envelope is voided: it is never sealed.", "Der Umschlag ist storniert: Er wird nie versiegelt."],
  ])("has the words that are inserted, too: %s", (english, german) => {
    expect(inLanguage("de", english)).toBe(german);
  });
});

describe("a language that says some sentences only", () => {
  const english = { request: { most: "At most {number} keys.", lost: "{words} was not found." }, key: "The key" };
  const words = (language: string) =>
    language === "fr"
      ? { ...english, request: { most: "{number} clés au plus.", lost: "{words} est introuvable." } }
      : english;
  const { inLanguage, isKnownIn } = openProblemWords({ words });

  it("says those, and knows that the others are English", () => {
    expect(inLanguage("fr", "At most 7 keys.")).toBe("7 clés au plus.");
    expect(inLanguage("fr", "The key was not found.")).toBe("The key est introuvable.");
    expect(isKnownIn("fr", "The key was not found.")).toBe(true);
    expect(inLanguage("fr", "The key")).toBe("The key");
    expect(isKnownIn("fr", "The key")).toBe(false);
  });

  it("answers in it though the title of the error is the same word in both", () => {
    const error = new AppError("conflict", { detail: "At most 7 keys." });
    expect(isKnownIn("fr", problemKinds.conflict.title)).toBe(false);
    expect(languageOf(error, "fr", isKnownIn)).toBe("fr");
  });

  it("takes no words for a number", () => {
    expect(isKnownIn("fr", "At most these keys.")).toBe(false);
  });

  it("has no sentence that could not be recognized", () => {
    const plural = () => ({ most: "At most {n, plural, one {# key} other {# keys}}." });
    expect(() => openProblemWords({ words: plural })).toThrow("most has more than plain placeholders");
  });
});

describe("an error with a sentence that has no German", () => {
  const known = { pointer: "#/name", code: "required", detail: "`name` is required." } as const;
  it.each([
    ["its own", new AppError("conflict", { detail: "Nobody put this into German." }), "en"],
    ["one of its errors", invalid([known, { ...known, detail: "Nobody put this into German." }]), "en"],
    ["what the author of a template wrote", invalid([known, { ...known, code: "pattern", detail: "AB 12" }]), "de"],
    ["that alone", invalid([{ ...known, code: "pattern", detail: "AB 12" }]), "de"],
    ["none", invalid([known]), "de"],
  ])("is in one language: %s", (_what, error, language) => {
    expect(languageOf(error, "de")).toBe(language);
    expect(languageOf(error, "en")).toBe("en");
  });
});
