import { expect, test } from "vitest";
import { Locale } from "../../server/kernel/wire.ts";

test.each(["en", "de-AT", "zh-Hant-TW", "ar", "sr-Latn"])("%s is a language tag", (tag) => {
  expect(Locale.safeParse(tag).success).toBe(true);
});

// Intl throws a RangeError for these: they would fail when a date is written for the person, after everybody signed.
test.each(["de-12", "en-x1", "en-US-US", "de-1996-1996", "english", "e", "de_DE"])("%s is none", (tag) => {
  expect(Locale.safeParse(tag).success).toBe(false);
});
