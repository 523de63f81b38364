/** The PAdES seal (ETSI EN 319 142-1): the signature appended as one revision, behind it what makes it last. */
import { createHash, type Hash } from "node:crypto";
import { importPages } from "../pdf/import.ts";
import { name, PdfError, type PdfObject, pdfDate, textString } from "../pdf/objects.ts";
import { openPdf } from "../pdf/reader.ts";
import { type Base, beginRevision, type Tail } from "../pdf/revision.ts";
import type { Result, SealCode, SealInput, SealLevel, SealPorts } from "../protocol.ts";
import { canonicalSignature, keyKind, OID, type SealKey, signatureAlgorithm, verifySignature } from "./algorithms.ts";
import { type Certificate, chainTo, maySeal, parseCertificate, subjectOf, validAt } from "./certificate.ts";
import { encodeSignedData, parseSignedData, signedAttributes } from "./cms.ts";
import { DerError, decode } from "./der.ts";
import { hashOf, type Prolonged, prolong, TOKEN_CAPACITY } from "./long-term.ts";
import { type PreparedSignature, prepareSignature } from "./placeholder.ts";
import { parseTstInfo } from "./timestamp-verify.ts";
import { type SealReport, type VerifyTrust, verifySealedPdf, wholeFile } from "./verify.ts";

const CMS_OVERHEAD = 1024;

/** What a seal may fail with; inside this folder a failure travels as an exception. */
class SealError extends Error {
  readonly code: "signature-too-large" | "bad-certificate";
  constructor(code: SealError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

type Signed = {
  tail: Uint8Array;
  level: SealLevel;
  shortfall: string | null;
  /** Of the document timestamp; null without one. */
  verifyArchive: Prolonged["verify"];
  /** The whole sealed file as anybody would read it; what was hashed already is not hashed again. */
  verifyWhole: (trust: VerifyTrust) => SealReport;
};

/**
 * Makes the revisions that seal a file: one with `pages`, if there are any, and one with the signature.
 * What the ports throw passes through untouched. `verifyWhole` reads the result as anybody would.
 */
export async function seal(input: SealInput, ports: SealPorts): Promise<Result<Signed, SealCode>> {
  try {
    const certificates = sealCertificates(input);
    const file = openPdf(input.pdf);
    file.makeRoom();
    const added = input.pages === null ? null : revisionWith(file, input.pages);
    // The prefix is long and the same for everything that is hashed after it.
    const prefix = hashOf(input.pdf, ...(added ? [added.bytes] : []));
    const placeholder = {
      entries: signatureEntries(input),
      fieldName: input.fieldName,
      capacity: capacityFor(certificates, input.level),
    };
    const prepared = prepareSignature(beginRevision(added?.base ?? file), placeholder, prefix);
    const { cms, token } = await signCms(prepared, certificates, input, ports);
    if (cms.length > prepared.capacity) {
      throw new SealError("signature-too-large", `${cms.length} bytes do not fit into ${prepared.capacity}`);
    }
    const signed = prepared.close(cms);
    const begun = [...(added ? [added.bytes] : []), signed];
    if (!token || input.level === "B-B" || input.level === "B-T") {
      // Also of one: a message takes all of the memory behind a view along, and `signed` is one with room behind it.
      const tail = Buffer.concat(begun);
      const verifyWhole = wholeVerifier(input.pdf, tail, prefix, prepared.base.length - signed.length);
      return {
        ok: true,
        value: { level: input.level, shortfall: null, verifyArchive: null, verifyWhole, tail },
      };
    }
    const longer = await prolong(
      prepared.base,
      prefix.copy().update(signed),
      {
        chains: [chainOf(certificates, certificates.slice(-1), input.at), timestampChain(token, ports)],
        goal: input.level,
        reached: "B-T",
        renew: false,
        fieldName: `${input.fieldName} T1`,
        at: input.at,
      },
      ports,
    );
    const { level, shortfall, verify: verifyArchive } = longer;
    const tail = Buffer.concat([...begun, longer.tail]);
    const verifyWhole = wholeVerifier(input.pdf, tail, prefix, prepared.base.length - signed.length);
    return { ok: true, value: { tail, level, shortfall, verifyArchive, verifyWhole } };
  } catch (error) {
    if (error instanceof SealError) return { ok: false, error: { code: error.code, message: error.message } };
    if (error instanceof PdfError) {
      return { ok: false, error: { code: "damaged", message: error.message, detail: { cause: error.code } } };
    }
    throw error;
  }
}

/** `prefix` has hashed the first `hashed` bytes of the file. */
function wholeVerifier(pdf: Uint8Array, tail: Uint8Array, prefix: Hash, hashed: number): Signed["verifyWhole"] {
  return (trust) => {
    const whole = joined(pdf, tail);
    const plain = wholeFile(whole);
    return verifySealedPdf(whole, trust, {
      ...plain,
      digest(byteRange, algorithm) {
        const [, length = 0, resume = 0, rest = 0] = byteRange;
        if (algorithm !== "sha256" || length < hashed) return plain.digest(byteRange, algorithm);
        return prefix
          .copy()
          .update(whole.subarray(hashed, length))
          .update(whole.subarray(resume, resume + rest))
          .digest();
      },
    });
  };
}

// One piece of memory for one seal after the other, since new ones have the collector run more often.
const MAX_SCRATCH = 1024 * 1024;
let scratch = new Uint8Array(0);

/**
 * Document and tail in one piece, until this is called again. A large document comes in shared memory with room behind it
 * (`kernel/pool.ts`), so that it is not copied.
 */
function joined(pdf: Uint8Array, tail: Uint8Array): Uint8Array {
  const end = pdf.byteOffset + pdf.length;
  if (!(pdf.buffer instanceof SharedArrayBuffer) || end + tail.length > pdf.buffer.byteLength) {
    const length = pdf.length + tail.length;
    if (length > MAX_SCRATCH) return Buffer.concat([pdf, tail]);
    if (scratch.length < length) scratch = new Uint8Array(Math.min(MAX_SCRATCH, length * 2));
    scratch.set(pdf);
    scratch.set(tail, pdf.length);
    return scratch.subarray(0, length);
  }
  new Uint8Array(pdf.buffer, end, tail.length).set(tail);
  return new Uint8Array(pdf.buffer, pdf.byteOffset, pdf.length + tail.length);
}

/** From the first certificate to a trusted one; when it leads to none, all that is there. */
function chainOf(
  certificates: readonly Certificate[],
  trusted: readonly Certificate[],
  at: string,
): readonly Certificate[] {
  const [own] = certificates;
  return (own && chainTo(own, certificates, trusted, at)) ?? certificates;
}

function timestampChain(token: Uint8Array, ports: SealPorts): readonly Certificate[] {
  const { content, certificates, signer } = parseSignedData(token);
  const roots = ports.timestampRoots().map(parseCertificate);
  const own = signer.certificate;
  if (!content || !own) throw new DerError("not a timestamp token");
  const others = certificates.filter((certificate) => certificate !== own);
  return chainOf([own, ...others], roots, parseTstInfo(content).at);
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
  // An ECDSA signature over P-256 takes 72 at most.
  const signature = own?.modulusLength ? Math.ceil(own.modulusLength / 8) : 80;
  const needed = CMS_OVERHEAD + chain + signature + (level === "B-B" ? 0 : TOKEN_CAPACITY);
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
): Promise<{ cms: Buffer; token: Uint8Array | null }> {
  const [own] = certificates;
  if (!own) throw new SealError("bad-certificate", "no certificate");
  const attributes = signedAttributes(OID.data, prepared.digest, own);
  const signature = canonicalSignature(key, await ports.sign(attributes));
  // The same key must stand in the certificate; otherwise the seal would be worthless and nobody would notice.
  if (!verifySignature(decode(signatureAlgorithm(key)), "sha256", own.publicKey, attributes, signature)) {
    throw new SealError("bad-certificate", "the signature does not verify under the certificate");
  }
  const timestamp = level === "B-B" ? null : await timestampOver(signature, ports);
  const cms = encodeSignedData({
    contentType: OID.data,
    content: null,
    certificates,
    key,
    attributes,
    signature,
    timestamp,
  });
  return { cms, token: timestamp };
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
