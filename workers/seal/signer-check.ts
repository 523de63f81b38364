/** What every CMS signature here must satisfy, whether over a PDF or over a TSTInfo. */
import { createHash } from "node:crypto";
import { digestName, OID, verifySignature } from "./algorithms.ts";
import { type Certificate, isAnchored } from "./certificate.ts";
import { type SignedData, singleAttribute } from "./cms.ts";
import { TAG } from "./der.ts";

export type SignerProblem =
  | "signer-certificate-missing"
  | "content-type-wrong"
  | "digest-mismatch"
  | "signing-certificate-mismatch"
  | "signature-invalid";

/**
 * Checks digest, signature and certificate binding of a parsed SignedData; `digest` is that of the content under the
 * signer's digest algorithm. Chains and times are not looked at. @throws DerError
 */
export function signerProblems(data: SignedData, contentType: string, digest: Uint8Array): SignerProblem[] {
  const { signer } = data;
  const certificate = signer.certificate;
  if (!certificate) return ["signer-certificate-missing"];
  const problems: SignerProblem[] = [];
  const type = singleAttribute(signer.attributes, OID.contentType);
  if (data.contentType !== contentType || type?.oid() !== contentType) problems.push("content-type-wrong");
  const stated = singleAttribute(signer.attributes, OID.messageDigest)?.expect(TAG.octetString).content;
  if (!stated?.equals(digest)) problems.push("digest-mismatch");
  if (!namesCertificate(data, certificate)) problems.push("signing-certificate-mismatch");
  const { signatureAlgorithm, attributesDer, signature } = signer;
  if (!verifySignature(signatureAlgorithm, signer.digest, certificate.publicKey, attributesDer, signature)) {
    problems.push("signature-invalid");
  }
  return problems;
}

/** True when a certificate is carried along that no other vouches for: it was altered, or has no business there. */
export function hasStray(data: SignedData, trusted: readonly Certificate[]): boolean {
  const others = [...trusted, ...data.certificates];
  return data.certificates.some((one) => one !== data.signer.certificate && !isAnchored(one, others));
}

/** ESS signing-certificate-v2, or v1 with SHA-1 as older timestamp authorities write it (RFC 5035 §3, RFC 5816). */
function namesCertificate(data: SignedData, certificate: Certificate): boolean {
  const v2 = singleAttribute(data.signer.attributes, OID.signingCertificateV2);
  const v1 = singleAttribute(data.signer.attributes, OID.signingCertificate);
  const first = (v2 ?? v1)?.children()[0]?.children()[0]?.children() ?? [];
  const ownAlgorithm = v2 && first[0]?.tag === TAG.sequence ? first.shift() : null;
  const algorithm = ownAlgorithm ? digestName(ownAlgorithm) : v2 ? "sha256" : "sha1";
  const [hash, issuerSerial] = first;
  if (!hash || !algorithm) return false;
  const own =
    algorithm === "sha256"
      ? Buffer.from(certificate.sha256, "hex")
      : createHash(algorithm).update(certificate.der).digest();
  if (!own.equals(hash.expect(TAG.octetString).content)) return false;
  if (!issuerSerial) return true;
  const [names, serial] = issuerSerial.children();
  const issuer = names?.children()[0];
  const sameIssuer = issuer?.tag !== 0xa4 || (issuer.children()[0]?.raw.equals(certificate.issuer) ?? false);
  return sameIssuer && (serial?.raw.equals(certificate.serial) ?? false);
}
