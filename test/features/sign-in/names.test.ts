import { expect, test } from "vitest";
import { OrganizationName, PersonName, ReturnTo } from "../../../server/features/sign-in/contract.ts";

test.each(["Pay at https://evil.example", "a\u202eb", "a\u0000b", "two\nlines", "a\u2066b"])("no name: %j", (name) => {
  expect(PersonName.safeParse(name).success).toBe(false);
  expect(OrganizationName.safeParse(name).success).toBe(false);
});

test.each(["Zoë O'Brien-Łukasz", "株式会社 例", "Müller & Söhne GmbH", "عمر", "A/B: C"])("a name: %s", (name) => {
  expect(PersonName.parse(` ${name} `)).toBe(name);
});

test("where to go on to is a path in printable ASCII", () => {
  for (const path of ["/\u20ac", "/\u0001", "/\u007f", "/a b", "//x", "/\\x", "x"])
    expect(ReturnTo.safeParse(path).success, path).toBe(false);
  for (const path of ["/", "/envelopes/env_1?tab=audit#top", "/%E2%82%AC", "/a~b"])
    expect(ReturnTo.parse(path)).toBe(path);
});
