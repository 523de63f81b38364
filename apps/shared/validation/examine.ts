import "./platform.ts";
import type { AnchorTokenCheck, Authorities, PdfCheck } from "../../../server/features/evidence/seal-steps.ts";
import { PdfError } from "../../../workers/pdf/objects.ts";
import { openPdf } from "../../../workers/pdf/reader.ts";
import { parseCertificate } from "../../../workers/seal/certificate.ts";
import { findSignatures } from "../../../workers/seal/fields.ts";
import { verifyTimestamp } from "../../../workers/seal/timestamp-verify.ts";
import { type FileBytes, type SealReport, verifySealedPdf, wholeFile } from "../../../workers/seal/verify.ts";

/** SHA-256 over a file and over what its signatures cover, begun at once: hashing is all that weighs. */
export type Digests = {
  /** Null without WebCrypto, which pages from a file lack in some browsers. */
  whole: Promise<Buffer | null>;
  /** By byte range. */
  ranges: Promise<ReadonlyMap<string, Buffer>>;
};

/** Bytes that the browser may copy for digests that run side by side. */
const copiesUpTo = 192 * 1024 * 1024;

/** Each digest is made once, by the browser's own code: that of the file first, then those of ranges side by side. */
export function beginDigests(pdf: Uint8Array): Digests {
  const file = [0, pdf.length, pdf.length, 0];
  const whole = digestOf(pdf, file);
  const known = new Map<string, Buffer>();
  const waiting = new Map(signedRanges(pdf).map((range) => [range.join(), range])).entries();
  const lane = async () => {
    // The browser copies all that it is to hash while this thread waits: whoever wants the file's own hash gets it before.
    await whole;
    await new Promise((resolve) => setTimeout(resolve));
    for (const [key, range] of waiting) {
      const digest = await digestOf(pdf, range);
      if (digest) known.set(key, digest);
    }
  };
  const lanes = Math.max(1, Math.min(8, Math.floor(copiesUpTo / (pdf.length + 1)) - 1));
  const ranges = Promise.all([whole, ...Array.from({ length: lanes }, lane)]).then(([digest]) => {
    if (digest) known.set(file.join(), digest);
    return known;
  });
  return { whole, ranges };
}

/**
 * The server's own validation of sealed PDFs, in a browser. Its bytes go through `node-crypto.ts` and `node-zlib.ts`; the
 * digests over the file are computed ahead.
 */
export const examinePdf: PdfCheck = (pdf, trust, at) => examineHashed(pdf, beginDigests(pdf), trust, at);

/** The same for whoever has begun to hash the file already. */
export async function examineHashed(
  pdf: Uint8Array,
  digests: Digests,
  { seals, timestamps }: Authorities,
  at: string,
): Promise<SealReport> {
  const bytes = wholeFile(pdf);
  const known = await digests.ranges;
  const file: FileBytes = {
    ...bytes,
    digest: (range, algorithm) =>
      (algorithm === "sha256" ? known.get(range.join()) : undefined) ?? bytes.digest(range, algorithm),
  };
  const trust = { trusted: certificatesOf(seals), trustedTimestamp: certificatesOf(timestamps), at };
  return verifySealedPdf(pdf, trust, file);
}

/** @throws TypeError */
function certificatesOf(trusted: readonly Uint8Array[]): readonly Uint8Array[] {
  try {
    for (const der of trusted) parseCertificate(der);
    return trusted;
  } catch (cause) {
    throw new TypeError("not a certificate", { cause });
  }
}

function signedRanges(pdf: Uint8Array): number[][] {
  try {
    const file = openPdf(pdf);
    file.makeRoom();
    return findSignatures(file).map(({ byteRange }) => byteRange);
  } catch (error) {
    // Said by the validation itself.
    if (error instanceof PdfError) return [];
    throw error;
  }
}

/** SHA-256 of two parts of a file; null without WebCrypto and for what is no range of this file. */
async function digestOf(pdf: Uint8Array, [start, length, resume, rest]: readonly number[]): Promise<Buffer | null> {
  const subtle = globalThis.crypto?.subtle;
  const { buffer } = pdf;
  if (!subtle || !(buffer instanceof ArrayBuffer)) return null;
  if (start !== 0 || !fits(pdf, length) || !fits(pdf, resume) || !fits(pdf, rest)) return null;
  if (resume < length || resume + rest > pdf.length) return null;
  // The second part, the small one, moves up to the first while the browser takes its copy, which it does before it
  // answers (Web Cryptography, "digest", step 2); so that a file is not copied once more for every signature.
  const hidden = Uint8Array.from(pdf.subarray(length, length + rest));
  pdf.copyWithin(length, resume, resume + rest);
  let digest: Promise<ArrayBuffer>;
  try {
    digest = subtle.digest("SHA-256", new Uint8Array(buffer, pdf.byteOffset, length + rest));
  } finally {
    pdf.set(hidden, length);
  }
  return Buffer.from(await digest);
}

const fits = (pdf: Uint8Array, value: number | undefined): value is number =>
  value !== undefined && Number.isSafeInteger(value) && value >= 0 && value <= pdf.length;

/** An RFC 3161 token over the hash of an anchor. */
export const examineToken: AnchorTokenCheck = async (token, anchorHash, trusted) =>
  verifyTimestamp(token, { algorithm: "sha256", digest: () => anchorHash, trusted: certificatesOf(trusted) });
