import { expect, test } from "vitest";
import { Email, Locale } from "../../server/kernel/wire.ts";

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

test.each(["ina@bank.example", "grüße@büro.example", "o'brien+tag@mail.example.org"])("an address: %s", (address) => {
  expect(Email.parse(address)).toBe(address);
});
