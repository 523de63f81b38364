import { randomBytes } from "node:crypto";
import { chmod, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  createMasterKey,
  equalInConstantTime,
  loadMasterKey,
  openSecrets,
  SealedTextDamaged,
} from "../../server/kernel/secrets.ts";
import { temporaryFolder } from "./open.ts";

const secrets = openSecrets(randomBytes(32));

test("what is sealed opens again under its own context only", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.string(), fc.string(), (plain, context, other) => {
      const sealed = secrets.seal(plain, context);
      expect(new Uint8Array(secrets.open(sealed, context))).toEqual(plain);
      if (other !== context) expect(() => secrets.open(sealed, other)).toThrow(SealedTextDamaged);
    }),
  );
  expect(secrets.seal("same", "c")).not.toBe(secrets.seal("same", "c"));
});

test("one changed bit anywhere is noticed", () => {
  const sealed = Buffer.from(secrets.seal("the webhook secret", "c"), "base64");
  for (let bit = 0; bit < sealed.length * 8; bit += 1) {
    const changed = Buffer.from(sealed);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    expect(() => secrets.open(changed.toString("base64"), "c")).toThrow(SealedTextDamaged);
  }
  for (const short of ["", "AQ==", sealed.subarray(0, 20).toString("base64")]) {
    expect(() => secrets.open(short, "c")).toThrow(SealedTextDamaged);
  }
});

test("a new master key opens what the old one sealed while that is named, and seals under itself", () => {
  const old = randomBytes(32);
  const sealed = openSecrets(old).seal("x", "c");
  const next = randomBytes(32);
  expect(() => openSecrets(next).open(sealed, "c")).toThrow("another master key");
  const rotating = openSecrets(next, [old]);
  expect(rotating.open(sealed, "c").toString()).toBe("x");
  expect(rotating.isCurrent(sealed)).toBe(false);
  expect(openSecrets(next).open(rotating.seal("y", "c"), "c").toString()).toBe("y");
});

test("an HMAC key serves one purpose", () => {
  expect(secrets.hmac("cursor", "a")).toEqual(secrets.hmac("cursor", Buffer.from("a")));
  expect(secrets.hmac("cursor", "a")).not.toEqual(secrets.hmac("otp", "a"));
  expect(secrets.hmac("cursor", "a")).toHaveLength(32);
});

test("the key file is private, made once, and refused when others can read it", async () => {
  const file = join(await temporaryFolder(), "master.key");
  const key = await createMasterKey(file);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await loadMasterKey(file)).toEqual(key);
  await expect(createMasterKey(file)).rejects.toThrow("EEXIST");
  await chmod(file, 0o640);
  await expect(loadMasterKey(file)).rejects.toThrow("chmod 600");
  await chmod(file, 0o600);
  await writeFile(file, "not a key\n");
  await expect(loadMasterKey(file)).rejects.toThrow("is damaged: it must hold one line");
});

test("constant-time comparison", () => {
  expect(equalInConstantTime("abc", Buffer.from("abc"))).toBe(true);
  expect(equalInConstantTime("abc", "abd")).toBe(false);
  expect(equalInConstantTime("abc", "abcd")).toBe(false);
});
