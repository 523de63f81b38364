import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compilePattern, matches, PatternError } from "../../../server/features/templates/pattern.ts";

const whole = (pattern: string, text: string) => matches(compilePattern(pattern), text);

/** Patterns out of the parts that we offer, few letters so that texts match often. */
const patterns = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom("a", "b", "c", ".", "[ab]", "[^a]", "\\d", "\\w", "\\s", "[a-c1-3]", "\\.", "^", "$", ""),
    fc.tuple(tie("node"), tie("node")).map(([left, right]) => left + right),
    fc.tuple(tie("node"), tie("node")).map(([left, right]) => `(?:${left}|${right})`),
    fc
      .tuple(tie("node"), fc.constantFrom("*", "+", "?", "{2}", "{1,3}", "{0,2}", "{2,}", "*?", "+?"))
      .map(([of, times]) => `(${of})${times}`),
  ),
})).node;
const texts = fc.string({ unit: fc.constantFrom("a", "b", "c", "1", "2", ".", " ", "é", "😀"), maxLength: 8 });

describe("patterns", () => {
  test("agree with the engine's own regular expressions", () => {
    fc.assert(
      fc.property(patterns, texts, (pattern, text) => {
        expect(whole(pattern, text)).toBe(new RegExp(`^(?:${pattern})$`, "u").test(text));
      }),
      { numRuns: 3000 },
    );
  });

  test("any text is either a pattern or refused with a sentence", () => {
    const signs = fc.string({ unit: fc.constantFrom(..."ab(){}[]|*+?^$\\.,-/0123xup:<=!"), maxLength: 30 });
    fc.assert(
      fc.property(fc.oneof(fc.string(), signs), (source) => {
        try {
          whole(source, "abc");
        } catch (error) {
          expect(error).toBeInstanceOf(PatternError);
        }
      }),
      { numRuns: 3000 },
    );
  });

  test("match the forms that people ask for", () => {
    expect(whole("[A-Z]{2}\\d{2}( ?\\d{4}){3,7}", "DE89 3704 0044 0532")).toBe(true);
    expect(whole("\\d{5}(-\\d{4})?", "12345-6789")).toBe(true);
    expect(whole("\\d{5}", "123456")).toBe(false);
    expect(whole("\\p{Lu}\\p{L}+", "Zürich")).toBe(true);
    expect(whole("^\\d+$", "42")).toBe(true);
    expect(whole("\\u0041\\x42\\u{43}", "ABC")).toBe(true);
    expect(whole("a/b", "a/b")).toBe(true);
  });

  test.each(["(a+)+", "(a|a)*b", "(a|aa)+", "(.*a){12}", "([a-z]+)*@", "(x+x+)+y"])(
    "%s takes linear time on the text that ruins backtracking",
    (pattern) => {
      const started = performance.now();
      whole(pattern, `${"a".repeat(4000)}!`);
      whole(pattern, `${"x".repeat(4000)}!`);
      expect(performance.now() - started).toBeLessThan(15_000);
    },
  );

  test.each([
    "(a)\\1",
    "(?=a)a",
    "(?<!a)b",
    "(?<name>a)",
    "\\bword",
    "a{1001}",
    "a{3,2}",
    "(a",
    "a)",
    "[a",
    "*a",
    "a**",
    "\\",
    "\\q",
    "[z-a]",
    `${"(".repeat(60)}${")".repeat(60)}`,
    "((a{100}){100})",
    "((){1000}){1000}",
    "\\p{Nonsense}",
  ])("refuse %s", (pattern) => {
    expect(() => compilePattern(pattern)).toThrow(PatternError);
  });
});
