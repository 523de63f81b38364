/** The PAdES seal (ETSI EN 319 142-1): levels B-B and B-T, appended as one revision. */
import { createHash } from "node:crypto";
import { importPages } from "../pdf/import.ts";
import { name, PdfError, type PdfObject, pdfDate, textString } from "../pdf/objects.ts";
import { openPdf } from "../pdf/reader.ts";
import { type Base, beginRevision, type Tail } from "../pdf/revision.ts";
import type { Result, SealCode, SealInput, SealPorts } from "../protocol.ts";
import { keyKind, OID, type SealKey, signatureAlgorithm, signatureSize, verifySignature } from "./algorithms.ts";
import { type Certificate, maySeal, parseCertificate, subjectOf, validAt } from "./certificate.ts";
import { encodeSignedData, parseSignedData, signedAttributes } from "./cms.ts";
import { DerError, decode } from "./der.ts";
import { type PreparedSignature, prepareSignature } from "./placeholder.ts";
import { parseTstInfo } from "./timestamp-verify.ts";
import { type SignatureReport, type VerifyTrust, verifyField } from "./verify.ts";

// A token with its chain takes 3 to 7 KB from the public authorities.
const TOKEN_CAPACITY = 12 * 1024;
const CMS_OVERHEAD = 1024;

/** What a seal may fail with; inside this folder a failure travels as an exception. */
class SealError extends Error {
  readonly code: "signature-too-large" | "bad-certificate";
  constructor(code: SealError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

type Signed = { tail: Uint8Array; verify: (trust: VerifyTrust) => SignatureReport };

/**
 * Makes the revisions that seal a file: one with `pages`, if there are any, and one with the signature.
 * What the ports throw passes through untouched. `verify` reads the new signature out of the bytes, as anybody would.
 */
export async function seal(input: SealInput, ports: SealPorts): Promise<Result<Signed, SealCode>> {
  try {
    const certificates = sealCertificates(input);
    const file = openPdf(input.pdf);
    const added = input.pages === null ? null : revisionWith(file, input.pages);
    // The prefix is long and the same for everything that is hashed after it.
    const prefix = createHash("sha256").update(input.pdf);
    if (added) prefix.update(added.bytes);
    const placeholder = {
      entries: signatureEntries(input),
      fieldName: input.fieldName,
      capacity: capacityFor(certificates, input.level),
    };
    const prepared = prepareSignature(beginRevision(added?.base ?? file), placeholder, prefix);
    const cms = await signCms(prepared, certificates, input, ports);
    if (cms.length > prepared.capacity) {
      throw new SealError("signature-too-large", `${cms.length} bytes do not fit into ${prepared.capacity}`);
    }
    const signed = prepared.close(cms);
    const { field, file: sealedFile } = prepared.reopen();
    const verify = (trust: VerifyTrust): SignatureReport => verifyField(sealedFile, field, trust);
    return { ok: true, value: { tail: added ? Buffer.concat([added.bytes, signed]) : signed, verify } };
  } catch (error) {
    if (error instanceof SealError) return { ok: false, error: { code: error.code, message: error.message } };
    if (error instanceof PdfError) {
      return { ok: false, error: { code: "damaged", message: error.message, detail: { cause: error.code } } };
    }
    throw error;
  }
}

function revisionWith(file: Base, pages: Uint8Array): Tail {
  const revision = beginRevision(file);
  importPages(revision, openPdf(pages));
  return revision.finish();
}

/** The signing certificate first; it must carry the announced kind of key and be allowed to sign, and all be valid now. */
function sealCertificates(input: SealInput): Certificate[] {
  let certificates: Certificate[];
  try {
    certificates = input.certificates.map(parseCertificate);
    const own = certificates[0];
    const outside = certificates.find((certificate) => !validAt(certificate, input.at));
    if (outside) throw new SealError("bad-certificate", notValid(outside, input.at));
    if (own && keyKind(own.publicKey) === input.key && maySeal(own)) return certificates;
  } catch (error) {
    if (!(error instanceof DerError)) throw error;
    throw new SealError("bad-certificate", error.message);
  }
  throw new SealError("bad-certificate", "the certificate does not fit the key, or may not sign");
}

/** Says from when to when a certificate is valid. */
export const notValid = (certificate: Certificate, at: string): string => {
  const { validFromDate, validToDate } = certificate.x509;
  const [from, to] = [validFromDate.toISOString(), validToDate.toISOString()];
  return `${subjectOf(certificate)} is valid from ${from} to ${to}, not at ${at}`;
};

/** Rounded up, so that the size tells nothing and a certificate renewed for a little more fits the same. */
function capacityFor(certificates: readonly Certificate[], level: SealInput["level"]): number {
  const chain = certificates.reduce((sum, { der }) => sum + der.length, 0);
  const own = certificates[0];
  const signature = own ? signatureSize(own.publicKey) : 0;
  const needed = CMS_OVERHEAD + chain + signature + (level === "B-T" ? TOKEN_CAPACITY : 0);
  return Math.ceil(needed / 512) * 512;
}

function signatureEntries(input: SealInput): [string, PdfObject][] {
  const entries: [string, PdfObject][] = [
    ["Type", name("Sig")],
    ["Filter", name("Adobe.PPKLite")],
    ["SubFilter", name("ETSI.CAdES.detached")],
    ["M", pdfDate(input.at)],
    ["Name", textString(input.name)],
    ["Reason", textString(input.reason)],
  ];
  if (input.location !== null) entries.push(["Location", textString(input.location)]);
  return entries;
}

async function signCms(
  prepared: PreparedSignature,
  certificates: Certificate[],
  { key, level }: { key: SealKey; level: SealInput["level"] },
  ports: SealPorts,
): Promise<Buffer> {
  const [own] = certificates;
  if (!own) throw new SealError("bad-certificate", "no certificate");
  const attributes = signedAttributes(OID.data, prepared.digest, own);
  const signature = await ports.sign(attributes);
  // The same key must stand in the certificate; otherwise the seal would be worthless and nobody would notice.
  if (!verifySignature(decode(signatureAlgorithm(key)), "sha256", own.publicKey, attributes, signature)) {
    throw new SealError("bad-certificate", "the signature does not verify under the certificate");
  }
  const timestamp = level === "B-T" ? await timestampOver(signature, ports) : null;
  return encodeSignedData({
    contentType: OID.data,
    content: null,
    certificates,
    key,
    attributes,
    signature,
    timestamp,
  });
}

/** The port verifies the authority; here only that the token speaks of this signature. */
async function timestampOver(signature: Uint8Array, ports: SealPorts): Promise<Uint8Array> {
  const imprint = createHash("sha256").update(signature).digest();
  const token = await ports.timestamp(imprint);
  const { content } = parseSignedData(token);
  if (!content || !parseTstInfo(content).imprint.equals(imprint))
    throw new Error("the timestamp is for something else");
  return token;
}
