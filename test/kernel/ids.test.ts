import fc from "fast-check";
import { expect, test } from "vitest";
import { checksumOk, hashSecret, newId, newSecret } from "../../server/kernel/ids.ts";

test("ids have their prefix and 24 base62 characters, all different", () => {
  const ids = Array.from({ length: 10_000 }, () => newId("env"));
  for (const id of ids) expect(id).toMatch(/^env_[0-9A-Za-z]{24}$/);
  expect(new Set(ids).size).toBe(ids.length);
});

test("every character is equally likely", () => {
  const counts = new Map<string, number>();
  const draws = 20_000;
  for (let index = 0; index < draws; index += 1) {
    for (const character of newId("env").slice(4)) counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  const expected = (draws * 24) / 62;
  const chiSquared = [...counts.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
  expect(counts.size).toBe(62);
  // 61 degrees of freedom: above 130 with a chance of one in a million.
  expect(chiSquared).toBeLessThan(130);
});

test("a secret's checksum holds for it and for no changed one", () => {
  for (const prefix of ["svc_live", "svcs", "svc_scim"] as const) {
    const secret = newSecret(prefix);
    expect(secret).toMatch(new RegExp(`^${prefix}_[0-9A-Za-z]{49}$`));
    expect(checksumOk(secret)).toBe(true);
  }
  fc.assert(
    fc.property(fc.nat(48), fc.constantFrom(..."0aZ9"), (place, character) => {
      const secret = newSecret("svc_test");
      const at = "svc_test_".length + place;
      const changed = secret.slice(0, at) + character + secret.slice(at + 1);
      expect(checksumOk(changed)).toBe(changed === secret);
    }),
  );
  for (const text of ["", "svc_test_", "svc_test_short", `${newSecret("svcs")}x`, `x${newId("env")}`]) {
    expect(checksumOk(text)).toBe(false);
  }
});

test("the stored form is the lower-case hex SHA-256", () => {
  expect(hashSecret("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});
