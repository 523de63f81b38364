import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatMessage } from "../../locales/message.ts";

describe("a message is filled in", () => {
  test.each([
    ["by name", "Hello {name}", { name: "Ada" }, "en", "Hello Ada"],
    ["text is taken as it is", "{a}{b}", { a: "{b}", b: "<i>'{x}'</i>" }, "en", "{b}<i>'{x}'</i>"],
    ["an apostrophe is itself", "Ada's {what}, don't", { what: "cat" }, "en", "Ada's cat, don't"],
    ["braces are quoted", "write '{'name'}'", {}, "en", "write {name}"],
    ["tags are text", "a <b>{x}</b>", { x: 1 }, "en", "a <b>1</b>"],
    ["one", "{n, plural, one {# page} other {# pages}}", { n: 1 }, "en", "1 page"],
    [
      "many, as the language writes numbers",
      "{n, plural, one {# Seite} other {# Seiten}}",
      { n: 12345 },
      "de",
      "12.345 Seiten",
    ],
    ["a number alone is written plainly", "{n}", { n: 12345 }, "de", "12345"],
    ["few", "{n, plural, one {plik} few {pliki} many {plików} other {pliku}}", { n: 22 }, "pl", "pliki"],
    ["two", "{n, plural, zero {0} one {1} two {kitabani} few {f} many {m} other {o}}", { n: 2 }, "ar", "kitabani"],
    ["exactly none", "{n, plural, =0 {none} one {#} other {#}}", { n: 0 }, "en", "none"],
    ["by order", "{n, selectordinal, one {#st} two {#nd} few {#rd} other {#th}}", { n: 23 }, "en", "23rd"],
    ["by choice", "{kind, select, pdf {PDF} other {file}}", { kind: "pdf" }, "en", "PDF"],
    ["by choice, of none named", "{kind, select, pdf {PDF} other {file}}", { kind: "toString" }, "en", "file"],
  ])("%s", (_, message, values, language, text) => {
    expect(formatMessage(message, values, language)).toBe(text);
  });
});

describe("what is missing or broken harms nothing", () => {
  test.each([
    ["a value", "Hello {name}", {}, "Hello {name}"],
    ["one of two", "{a} and {b}", { a: "x" }, "x and {b}"],
    ["a count", "{n, plural, one {# page} other {# pages of {title}}}", { title: "T" }, "{n} pages of T"],
    ["a value within the branch", "{n, plural, one {# page of {title}} other {# pages}}", { n: 1 }, "1 pages"],
    ["a choice", "{kind, select, pdf {PDF} other {file}}", {}, "file"],
    ["a date that is none", "until {day, date}", { day: "never" }, "until never"],
    ["a brace", "Hello {name", { name: "Ada" }, "Hello {name"],
    ["a branch", "{n, plural, one {# page}}", { n: 2 }, "{n, plural, one {# page}}"],
  ])("%s", (_, message, values, text) => {
    expect(formatMessage(message, values, "en")).toBe(text);
  });

  test("whatever the message, the values and the language are", () => {
    const pieces = fc.constantFrom(
      "{",
      "}",
      "'",
      "#",
      "<",
      "a",
      ", plural, ",
      "one {",
      "other {",
      "n",
      " ",
      "select",
      "number",
    );
    const message = fc.oneof(
      fc.string(),
      fc.array(pieces, { maxLength: 12 }).map((all) => all.join("")),
    );
    const values = fc.dictionary(fc.constantFrom("n", "a", "x"), fc.oneof(fc.string(), fc.double()));
    fc.assert(
      fc.property(message, values, fc.constantFrom("en", "ar", "xx"), (text, filled, language) => {
        expect(typeof formatMessage(text, filled, language)).toBe("string");
      }),
      { numRuns: 2000 },
    );
  });
});

test("a value is shown as it came, whatever it holds", () => {
  fc.assert(
    fc.property(fc.string(), (name) => {
      expect(formatMessage("<{name}>", { name }, "en")).toBe(`<${name}>`);
    }),
  );
});
