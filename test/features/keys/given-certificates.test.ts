import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { judge, readCertificates } from "../../../server/features/keys/given-certificates.ts";
import { type Authority, makeAuthority } from "../../harness/authority.ts";

/** Which certificates of others a key may seal or stamp under, each made by openssl. */

const profiles = `
[mail]
extendedKeyUsage = emailProtection
[server]
extendedKeyUsage = serverAuth
[transport]
keyUsage = critical, keyEncipherment
[everything]
extendedKeyUsage = critical, timeStamping, emailProtection
`;
let authority: Authority;
let ca: X509Certificate;
beforeAll(() => {
  authority = makeAuthority({ seal: "ec-p256" });
  writeFileSync(path.join(authority.folder, "profiles.cnf"), profiles);
  ca = new X509Certificate(authority.ca);
});
afterAll(() => authority?.close());

function issued(profile: string): X509Certificate {
  const file = (name: string): string => path.join(authority.folder, name);
  const issuer = ["-CA", authority.caPem, "-CAkey", file("ca.key"), "-CAcreateserial", "-days", "365"];
  const about = ["-extfile", file("profiles.cnf"), "-extensions", profile, "-out", file("given.crt")];
  execFileSync("openssl", ["x509", "-req", "-in", file("seal.csr"), ...issuer, ...about], { stdio: "pipe" });
  return new X509Certificate(readFileSync(file("given.crt")));
}
const soon = () => Date.now() + 60_000;
const as = (use: "seal" | "timestamp", own: X509Certificate, nowMs = soon(), others = [own, ca]) =>
  judge(own, others, { use, nowMs });

test("a seal or a time stamp is made under a certificate for it alone, with who issued it", () => {
  const [seal, stamp] = [authority.seal, authority.timestamp].map(({ pem }) => new X509Certificate(readFileSync(pem)));
  if (!seal || !stamp) throw new Error("no certificates");
  expect(as("seal", seal)).toEqual({ certificate: seal.raw, chain: [ca.raw] });
  expect(as("seal", issued("mail")).chain).toEqual([ca.raw]);
  expect(as("timestamp", stamp).chain).toEqual([ca.raw]);
  for (const wrong of [seal, issued("mail"), issued("everything")])
    expect(() => as("timestamp", wrong)).toThrow(/not one for time stamping alone/);
  for (const wrong of [stamp, issued("server")]) expect(() => as("seal", wrong)).toThrow(/may not seal/);
  expect(() => as("seal", issued("transport"))).toThrow(/key usage does not let it sign/);
});

test("one that is not valid now, of an authority, or without who issued it is refused", () => {
  const seal = new X509Certificate(readFileSync(authority.seal.pem));
  expect(() => as("seal", seal, Date.parse(seal.validFrom) - 1)).toThrow(/not now/);
  expect(() => as("seal", seal, Date.parse(seal.validTo))).toThrow(/not now/);
  expect(() => as("seal", ca)).toThrow(/one of an authority/);
  const namesake = makeAuthority({ seal: "ec-p256" });
  try {
    for (const others of [[seal], [seal, new X509Certificate(namesake.ca)]])
      expect(() => as("seal", seal, soon(), others)).toThrow(/certificate of the issuer/);
  } finally {
    namesake.close();
  }
  expect(() => readCertificates(Buffer.from("no certificate"))).toThrow(/holds no certificate/);
});
