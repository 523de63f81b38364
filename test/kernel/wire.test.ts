import { expect, test } from "vitest";
import { z } from "zod";
import { recordOf } from "../../server/kernel/record.ts";
import {
  Day,
  Email,
  GivenLocale,
  Key,
  Line,
  Lines,
  Locale,
  Metadata,
  QueryText,
  SomeLines,
  Ts,
} from "../../server/kernel/wire.ts";

test.each(["en", "de-AT", "zh-Hant-TW", "ar", "sr-Latn"])("%s is a language tag", (tag) => {
  expect(Locale.safeParse(tag).success).toBe(true);
});

// Intl throws a RangeError for these: they would fail when a date is written for the person, after everybody signed.
test.each(["de-12", "en-x1", "en-US-US", "de-1996-1996", "english", "e", "de_DE"])("%s is none", (tag) => {
  expect(Locale.safeParse(tag).success).toBe(false);
});

test.each([
  "ina@ban\u212a.example",
  "ina@\uff42ank.example",
  "ina@ba\u00adnk.example",
  "ina\u200b@bank.example",
  "ina@bank\u3002example.com",
  "\u202eina@bank.example",
  "ina\u0001@bank.example",
])("an address that reads like another is none: %j", (address) => {
  expect(Email.safeParse(address).success).toBe(false);
});

test("two megabytes are no language tag, and cost nothing", () => {
  const start = performance.now();
  const long = Array.from({ length: 350_000 }, (_, index) => `a${index.toString(36).padStart(4, "0")}`).join("-");
  expect(Locale.safeParse(long).success).toBe(false);
  expect(GivenLocale.safeParse(long).success).toBe(false);
  expect(performance.now() - start).toBeLessThan(500);
});

test.each(["ina@bank.example", "grüße@büro.example", "o'brien+tag@mail.example.org"])("an address: %s", (address) => {
  expect(Email.parse(address)).toBe(address);
});

test.each(["2027-02-30", "2027-02-29", "2027-13-01", "2027-00-10", "2027-04-31"])("%s is no day", (day) => {
  expect(Day.safeParse(day).success).toBe(false);
  expect(Ts.safeParse(`${day}T09:10:00.000Z`).success).toBe(false);
  expect(Ts.safeParse(`${day}T09:10:00+02:00`).success).toBe(false);
});

test.each(["2027-02-28T24:00:00Z", "2027-02-28T23:60:00Z", "2027-02-28T23:59:60Z", "2027-02-28T23:59:59+25:00"])(
  "%s is no moment",
  (text) => {
    expect(Ts.safeParse(text).success).toBe(false);
  },
);

test.each(["2028-02-29T23:59:59.999Z", "2027-12-31T00:00:00-11:30", "2027-02-28T09:10:00.123456789Z"])(
  "%s is a moment",
  (text) => {
    expect(Ts.parse(text)).toBe(text);
  },
);

test.each(["xx", "xx-DE", "qq"])("nobody speaks %s, but it may have been stored", (tag) => {
  expect(GivenLocale.safeParse(tag).success).toBe(false);
  expect(Locale.safeParse(tag).success).toBe(true);
});

test.each(["en", "de-AT", "gsw", "EN-gb", "zh-Hant-TW"])("somebody speaks %s", (tag) => {
  expect(GivenLocale.parse(tag)).toBe(tag);
});

const blank = ["", " ", "\u00a0\u2003", "\u200b", "\u2800\u3164", "\ufeff"];
const controlled = ["a\u0000b", "a\u001bb", "a\u007fb", "a\u009bb"];

test.each([...blank, ...controlled, "two\nlines", "a\tb", "a\u2028b", "a\u202eb", "a\u2066b"])(
  "no line: %j",
  (text) => {
    expect(Line(200).safeParse(text).success).toBe(false);
    expect(Key(200).safeParse(text).success).toBe(false);
  },
);

test.each(["Łukasz O'Brien", "عمر\u200f (Omar)", "株式会社", "👩\u200d💻 Ada", "نامه\u200cها"])(
  "a line: %s",
  (text) => {
    expect(Line(200).parse(` ${text} `)).toBe(text);
    expect(Key(200).parse(text)).toBe(text);
  },
);

test("words may have lines, and need not be there unless they are asked for", () => {
  expect(Lines(20).parse(" one\r\n\ttwo ")).toBe("one\r\n\ttwo");
  expect(Lines(20).parse("  ")).toBe("");
  for (const text of blank) expect(SomeLines(20).safeParse(text).success, JSON.stringify(text)).toBe(false);
  for (const text of controlled) expect(Lines(20).safeParse(text).success, JSON.stringify(text)).toBe(false);
});

/** Every blank, break and control character, and nearly every one that is not seen, among letters. */
const everySign = Array.from({ length: 0x3100 }, (_, code) => String.fromCodePoint(code)).concat("\ufeff", "\ufffc");

test.each([
  ["line", Line(50)],
  ["key", Key(50)],
  ["lines", Lines(50)],
  ["words", SomeLines(50)],
  ["words of a query", QueryText(50)],
])("what is taken for %s fits the described pattern", (_name, schema) => {
  const pattern = new RegExp(String(z.globalRegistry.get(schema)?.pattern), "u");
  const texts = everySign.flatMap((sign) => [sign, `${sign}a`, `a${sign}`, `a${sign}b`, ` \v${sign} a${sign}\f `]);
  expect(texts.filter((text) => schema.safeParse(text).success && !pattern.test(text))).toEqual([]);
});

test("what is taken for an address fits the described pattern", () => {
  const pattern = new RegExp(String(z.globalRegistry.get(Email)?.pattern), "u");
  const texts = everySign.flatMap((sign) => [`${sign}a@b.cd`, `a${sign}@b.cd`, `a@b${sign}.cd`]);
  expect(texts.filter((text) => Email.safeParse(text).success && !pattern.test(text))).toEqual([]);
});

test.each(["a\vb", "\u200b\va", "a\f\u200b"])(
  "a control character within words is refused and described so: %j",
  (text) => {
    for (const schema of [Line(50), Lines(50), SomeLines(50)]) {
      expect(schema.safeParse(text).success).toBe(false);
      expect(text).not.toMatch(new RegExp(String(z.globalRegistry.get(schema)?.pattern), "u"));
    }
  },
);

test("a record keeps every key, and checks it", () => {
  const given: unknown = JSON.parse('{"__proto__":"a","constructor":"b","toString":"c"}');
  const metadata = Metadata.parse(given);
  expect(JSON.stringify(metadata)).toBe('{"constructor":"b","toString":"c","__proto__":"a"}');
  expect(Object.getPrototypeOf(metadata)).toBe(Object.prototype);
  const faults = recordOf(z.string().max(3), z.int()).safeParse(JSON.parse('{"__proto__":"x"}')).error?.issues;
  expect(faults?.map(({ code, path }) => [code, path])).toEqual([
    ["invalid_key", ["__proto__"]],
    ["invalid_type", ["__proto__"]],
  ]);
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`key${index}`, ""]));
  const withOne: unknown = JSON.parse(JSON.stringify(many).replace("{", '{"__proto__":"",'));
  expect(Metadata.safeParse(many).success).toBe(true);
  expect(Metadata.safeParse(withOne).success).toBe(false);
});
