import { execFileSync } from "node:child_process";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { issueCertificate } from "../../../server/features/keys/certificates.ts";
import { pemOf } from "../../../server/features/keys/public-keys.ts";
import { issueRevocationList } from "../../../server/features/keys/revocation-list.ts";
import { parseCertificate } from "../../../workers/seal/certificate.ts";
import { isListOf, parseRevocationList, standing } from "../../../workers/seal/crl.ts";

const now = Date.now();
const day = 86_400_000;

test.each([
  ["UTCTime", now],
  ["GeneralizedTime, behind 2050", Date.parse("2051-03-01T00:00:00Z")],
])("the authority's own list is taken by openssl and by us: %s", async (_, at) => {
  const folder = mkdtempSync(path.join(tmpdir(), "signet-crl-"));
  try {
    const pair = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const other = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const issuer = { commonName: "Signet CA", ...pair };
    const validity = { notBefore: at - day, notAfter: at + 30 * day };
    const common = { issuer, ...validity };
    const about = { ...common, profile: "ca" as const, commonName: "Signet CA", publicKey: pair.publicKey };
    const ca = await issueCertificate({ ...about, serial: randomBytes(16) });
    const leaf = await issueCertificate({
      ...common,
      profile: "seal",
      commonName: "Seal",
      publicKey: other.publicKey,
      serial: randomBytes(16),
    });
    const times = { thisUpdate: at, nextUpdate: at + 7 * day };
    const der = await issueRevocationList({ issuer: ca, privateKey: pair.privateKey, ...times });
    const file = (name: string) => path.join(folder, name);
    writeFileSync(file("ca.pem"), pemOf(Buffer.from(ca).toString("base64")));
    writeFileSync(file("ca.crl"), der);
    const args = ["crl", "-inform", "DER", "-in", file("ca.crl"), "-CAfile", file("ca.pem"), "-noout", "-text"];
    // Its verdict stands in the other stream.
    const text = execFileSync("sh", ["-c", 'openssl "$@" 2>&1', "sh", ...args], { encoding: "utf8" });
    expect(text).toContain("verify OK");
    expect(text).toContain("No Revoked Certificates");
    expect(text).toContain("X509v3 Authority Key Identifier");

    const list = parseRevocationList(der);
    const [authority, certificate] = [parseCertificate(ca), parseCertificate(leaf)];
    const second = (ms: number) => new Date(Math.floor(ms / 1000) * 1000).toISOString();
    expect(list).toMatchObject({ thisUpdate: second(at), nextUpdate: second(at + 7 * day), scope: "all" });
    expect(isListOf(list, authority)).toBe(true);
    const link = { certificate, issuer: authority };
    const when = (ms: number) => ({ from: new Date(ms).toISOString(), until: new Date(ms).toISOString() });
    expect(standing(link, [list], when(at))).toBe("good");
    expect(standing(link, [list], when(at + 8 * day))).toBe("unknown");
    const forged = Buffer.from(der);
    forged[der.length - 1] = (forged[der.length - 1] ?? 0) ^ 1;
    expect(standing(link, [parseRevocationList(forged)], when(at))).toBe("unknown");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
