import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  answeringLanguage,
  completed,
  directionOf,
  nameOf,
  translatorOf,
  type Words,
} from "../../locales/translate.ts";

const english = { title: "Title", pages: { count: "{n, plural, one {# page} other {# pages}}", of: "of {name}" } };

describe("a translator", () => {
  const t = translatorOf<typeof english>({ ...english, title: "Titel" }, "de");
  test("says messages by their dotted keys", () => {
    expect([t("title"), t("pages.count", { n: 1000 }), t("pages.of", { name: "A" })]).toEqual([
      "Titel",
      "1.000 pages",
      "of A",
    ]);
  });
  test("says a key that it has no words for, and takes none from a prototype", () => {
    const silent = translatorOf<Record<string, string>>({}, "en");
    expect([silent("a.b"), silent("toString"), silent("constructor.name")]).toEqual([
      "a.b",
      "toString",
      "constructor.name",
    ]);
  });
  test("knows its keys", () => {
    // @ts-expect-error: there is none of this name
    expect(t("pages.none")).toBe("pages.none");
    // @ts-expect-error: a group is no message
    expect(t("pages")).toBe("pages");
  });
});

describe("completed words", () => {
  const words = fc.letrec<{ words: Words; leaf: string }>((tie) => ({
    leaf: fc.string(),
    words: fc.dictionary(
      fc.constantFrom("a", "b", "c", "__proto__"),
      fc.oneof({ maxDepth: 2 }, tie("leaf"), tie("words")),
      {
        maxKeys: 3,
      },
    ),
  })).words;
  /** Every place of a message. */
  const keys = (group: Words, above = ""): string[] =>
    Object.entries(group).flatMap(([name, inner]) =>
      typeof inner === "string" ? [`${above}/${name}`] : [`${above}/${name}/`, ...keys(inner, `${above}/${name}`)],
    );
  test("have the messages of English and no others", () => {
    fc.assert(
      fc.property(words, words, (own, other) => {
        expect(keys(completed(own, other))).toEqual(keys(other));
      }),
    );
  });
  test("are the language's own where it has any", () => {
    expect(completed({ title: "Titel", pages: { of: "von {name}" }, more: "mehr" }, english)).toEqual({
      title: "Titel",
      pages: { count: english.pages.count, of: "von {name}" },
    });
    expect(completed({ title: { a: "b" }, pages: "Seiten" }, english)).toEqual(english);
  });
});

describe("the language that answers", () => {
  const available = ["de", "en", "pt-BR", "zh-Hant"];
  test.each([
    [["de"], "de"],
    [["de-AT"], "de"],
    [["DE-at"], "de"],
    [["pt-br"], "pt-BR"],
    [["pt"], "en"],
    [["zh-Hant-TW-x-own"], "zh-Hant"],
    [["de-u-co-phonebk"], "de"],
    [["fr", "de"], "de"],
    [[null, undefined, "", "*", "not a tag!"], "en"],
    [[], "en"],
  ])("%j → %s", (tags, language) => {
    expect(answeringLanguage(tags, available)).toBe(language);
  });
  test.each([
    ["zh-TW", "zh-Hant"],
    ["zh-HK", "zh-Hant"],
    ["zh-hant-hk", "zh-Hant"],
    ["zh-CN", "zh"],
    ["zh", "zh"],
    ["zh-Hans-TW", "zh"],
    ["sr-ME", "sr-Latn"],
    ["sr-RS", "sr"],
    ["sr", "sr"],
    ["uz-AF-u-nu-latn", "uz-Arab"],
  ])("by the script that its region has: %s → %s", (tag, language) => {
    expect(answeringLanguage([tag], ["en", "sr", "sr-Latn", "uz-Arab", "zh", "zh-Hant"])).toBe(language);
  });
  test("is never in another script than that of the language alone", () => {
    expect(["zh-TW", "zh-CN", "zh", "zh-Hans"].map((tag) => answeringLanguage([tag], ["zh-Hant"]))).toEqual([
      "zh-Hant",
      "en",
      "en",
      "en",
    ]);
  });
  test("is one of those that there are", () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (tags) => {
        expect(available).toContain(answeringLanguage(tags, available));
      }),
    );
  });
});

test("the direction and the name of a language", () => {
  const rightToLeft = ["ar", "fa", "he", "ur", "ps", "yi", "dv", "ckb", "ug", "sd", "pa-PK", "az-Arab"];
  expect(rightToLeft.map(directionOf)).toEqual(rightToLeft.map(() => "rtl"));
  expect(["en", "de", "ja", "hi", "xx", "pa", "tr"].map(directionOf)).not.toContain("rtl");
  expect(["en", "de", "fr", "tr", "ar", "xx"].map(nameOf)).toEqual([
    "English",
    "Deutsch",
    "Français",
    "Türkçe",
    "العربية",
    "Xx",
  ]);
});
