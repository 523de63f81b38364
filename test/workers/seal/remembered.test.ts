import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { afterAll, expect, test } from "vitest";
import { signatureAlgorithm, verifySignature } from "../../../workers/seal/algorithms.ts";
import { isIssuedBy, parseCertificate } from "../../../workers/seal/certificate.ts";
import { decode } from "../../../workers/seal/der.ts";
import { makeAuthority } from "../../harness/authority.ts";

/** A thread remembers what held, so that nothing is verified twice: never more than that. */

const authority = makeAuthority({ seal: "ec-p256" });
afterAll(() => authority.close());

const flipped = (bytes: Uint8Array): Buffer<ArrayBuffer> => {
  const other = Buffer.from(bytes);
  other[other.length - 1] = (other[other.length - 1] ?? 0) ^ 1;
  return other;
};

test("a signature that held makes no other one hold", () => {
  const { publicKey: key, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const data = Buffer.from("what was signed");
  const signature = sign("sha256", data, privateKey);
  const good = { algorithm: decode(signatureAlgorithm("rsa")), digest: "sha256", key, data, signature };
  const holds = (change: Partial<typeof good> = {}): boolean => {
    const asked = { ...good, ...change };
    return verifySignature(asked.algorithm, asked.digest, asked.key, asked.data, asked.signature);
  };
  expect([holds(), holds()]).toEqual([true, true]);
  const { publicKey: other } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  expect(holds({ key: other })).toBe(false);
  expect(holds({ digest: "sha384" })).toBe(false);
  expect(holds({ data: flipped(data) })).toBe(false);
  expect(holds({ signature: flipped(signature) })).toBe(false);
  expect(holds({ algorithm: decode(signatureAlgorithm("ec-p256")) })).toBe(false);
  expect(holds()).toBe(true);
  // The memory of the caller, which the next document is written to.
  data.fill(0);
  expect(holds()).toBe(false);
});

test("a certificate that was altered is not the one that ends in the same signature, and is issued by nobody", () => {
  const [der = new Uint8Array(0)] = authority.seal.certificates;
  const [own, issuer] = [parseCertificate(der), parseCertificate(authority.ca)];
  expect(parseCertificate(Buffer.from(der))).toBe(own);
  expect([isIssuedBy(own, issuer), isIssuedBy(issuer, own)]).toEqual([true, false]);
  const bytes = Buffer.from(der);
  bytes.write("Best Seal", bytes.indexOf("Test Seal"));
  const altered = parseCertificate(bytes);
  expect(altered.sha256).toBe(createHash("sha256").update(bytes).digest("hex"));
  expect(altered.x509.subject).toContain("Best Seal");
  expect(isIssuedBy(altered, issuer)).toBe(false);
  expect(parseCertificate(der).sha256).toBe(own.sha256);
  expect(isIssuedBy(parseCertificate(der), issuer)).toBe(true);
});
