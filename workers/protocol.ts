/**
 * What the worker threads can do: bytes and plain data in, bytes or a coded failure out.
 * The file is types only, so the server may name tasks without loading what runs them; `tasks.ts` holds the functions.
 */

import type { SealReport, VerifyTrust } from "./seal/verify.ts";

/** A failure that the caller must expect. Anything thrown instead is a defect and counts as a crashed task. */
export type WorkerFailure<Code extends string> = {
  code: Code;
  message: string;
  detail?: Record<string, string | number>;
};
export type Result<T, Code extends string> = { ok: true; value: T } | { ok: false; error: WorkerFailure<Code> };

/** Points; origin top left of the page as displayed. `page` is 1-based. */
export type Box = { page: number; x: number; y: number; width: number; height: number };
/** Size in points of the page as displayed (after rotation and crop). */
export type PageBox = { page: number; width: number; height: number; rotation: 0 | 90 | 180 | 270 };
export type Warning = { code: string; message: string; page?: number; count?: number };

export type TextStyle = {
  face?: string | undefined;
  /** points */
  size?: number | undefined;
  /** #rrggbb */
  color?: string | undefined;
  weight?: "normal" | "bold" | undefined;
  italic?: boolean | undefined;
  underline?: boolean | undefined;
  align?: "left" | "center" | "right" | "justify" | undefined;
  /** multiple of the size */
  lineHeight?: number | undefined;
  /** points from the top of the box to the first baseline */
  baseline?: number | undefined;
  /** points on all sides */
  padding?: number | undefined;
};

/** One thing to draw on a page. Text is final: variables are replaced and values formatted before it comes here. */
export type Drawing =
  | ({ kind: "text"; text: string; multiline?: boolean; cells?: number | undefined } & Box & TextStyle)
  | ({ kind: "whiteout"; color?: string | undefined } & Box)
  | ({ kind: "image" /** PNG or JPEG */; image: Uint8Array } & Box)
  /** A typed signature, set in a handwriting face to fit the box. */
  | ({ kind: "script"; text: string; font: string } & Box)
  /** A tick, drawn as vectors to fit the box. */
  | ({ kind: "check" } & Box)
  /** A dot in the middle of the box (radio). */
  | ({ kind: "dot" } & Box)
  /** Preview only: an outlined, labelled field. */
  | ({ kind: "placeholder"; label: string } & Box);

export type Watermark = "TEST" | "PREVIEW";

export type InspectCode = "not-a-pdf" | "damaged" | "encrypted" | "xfa" | "no-pages" | "too-many-pages" | "too-complex";
export type DrawCode = "damaged" | "page-out-of-range" | "bad-image" | "missing-font" | "too-complex";
export type SealCode = "damaged" | "signature-too-large" | "bad-certificate" | "timestamp-refused" | "seal-invalid";

export type CertificatePerson = {
  name: string;
  email: string;
  role: string;
  kind: "signer" | "countersigner";
  order: number;
  /** For example "e-mail code", "none". */
  verification: string;
  /** ISO 8601 UTC; null prints as "not recorded". */
  verifiedAt: string | null;
  sentAt: string | null;
  viewedAt: string | null;
  consentedAt: string | null;
  completedAt: string | null;
  declinedAt: string | null;
  ip: string | null;
  userAgent: string | null;
  /** PNG; null when the signature was typed or none was needed. */
  signatureImage: Uint8Array | null;
  signatureText: { text: string; font: string } | null;
  consentLocale: string | null;
  consentSha256: string | null;
  attachments: { filename: string; sha256: string; size: number }[];
};

/** Everything that the certificate of completion prints; evidence.md names each line. */
export type CertificateData = {
  envelope: string;
  title: string;
  organization: string;
  template: string;
  templateVersion: number;
  testMode: boolean;
  createdAt: string;
  completedAt: string;
  /** SHA-256 of revision 0 and of each revision before the seal, in order. */
  revisions: { label: string; sha256: string }[];
  people: CertificatePerson[];
  cc: { name: string | null; email: string }[];
  viewers: { name: string | null; email: string }[];
  audit: { length: number; headHash: string };
  /** SHA-256 of the seal certificate (DER), and what it will be sealed with. */
  seal: {
    certificateSha256: string;
    subject: string;
    level: string;
    timestampAuthority: string;
    internalTime: boolean;
  };
  warnings: string[];
  verifyUrl: string;
  /** Size of the last page of the document in points, so that the certificate matches the paper. */
  pageSize: { width: number; height: number };
};

export type SealInput = {
  pdf: Uint8Array;
  /** A PDF whose pages come behind the last page, in a revision of their own under the signature. */
  pages: Uint8Array | null;
  /** DER, the signing certificate first, its chain after it. */
  certificates: Uint8Array[];
  key: "rsa" | "ec-p256";
  /** ISO 8601; written as /M. */
  at: string;
  name: string;
  reason: string;
  location: string | null;
  level: "B-B" | "B-T";
  /** An identifier for the signature field, unique in the document. */
  fieldName: string;
};

/** What the seal itself needs: a signature, and a timestamp token over it. */
export type SealPorts = {
  /** Signs the DER of the signed attributes (RFC 5652 §5.4): PKCS#1 v1.5 with SHA-256 for RSA, DER-encoded ECDSA with SHA-256. */
  sign: (signedAttributes: Uint8Array) => Promise<Uint8Array>;
  /** An RFC 3161 TimeStampToken (DER ContentInfo) over this SHA-256 imprint. */
  timestamp: (imprint: Uint8Array) => Promise<Uint8Array>;
};

/** Where the timestamp of a seal comes from. It is issued or verified in the worker, so that no task waits for another. */
export type TimestampSource =
  /** The built-in authority: `serial` is hexadecimal and never used before, its own certificate (DER) stands first. */
  | { kind: "built-in"; certificates: Uint8Array[]; policy: string; serial: string }
  /** An RFC 3161 authority: `nonce` is hexadecimal, `trusted` are DER certificates that its chain may end in. */
  | {
      kind: "request";
      nonce: string;
      trusted: Uint8Array[] /** seconds that its clock may be off */;
      tolerance: number;
    };

export type SealTimestamp = {
  /** ISO 8601 */
  at: string;
  /** Subject of the authority's certificate. */
  authority: string | null;
  /** SHA-256 of the trusted certificate that its chain ends in. */
  anchorSha256: string | null;
};

/** What a running task asks of the main thread: keys and network stay there. */
export type TaskPorts = {
  /** Signs with the seal key; see `SealPorts`. */
  sign: (signedAttributes: Uint8Array) => Promise<Uint8Array>;
  /** Signs with the key of the built-in time-stamping authority, in the same way. */
  signTimestamp: (signedAttributes: Uint8Array) => Promise<Uint8Array>;
  /** The time that the built-in authority states for this imprint: ISO 8601 in ASCII, read when it is asked. */
  timestampTime: (imprint: Uint8Array) => Promise<Uint8Array>;
  /** Sends a TimeStampReq (RFC 3161 §2.4.1), returns the TimeStampResp. A failure is one of the authority, not of the task. */
  requestTimestamp: (request: Uint8Array) => Promise<Uint8Array>;
};

/** Every task: its input, its output, the codes it may fail with. `inspect` runs on hostile input and alone has the shorter limits. */
export type Tasks = {
  /** What is this PDF, and can a revision be appended to it? `pdf` comes back only when it had to be rewritten. */
  inspect: {
    input: { pdf: Uint8Array; maxPages: number };
    output: {
      pageCount: number;
      pages: PageBox[];
      hasFormFields: boolean;
      warnings: Warning[];
      pdf: Uint8Array | null;
    };
    code: InspectCode;
  };
  /** Makes one revision that draws these things over the pages; `tail` belongs behind the input, which stays as it is. */
  stamp: {
    input: { pdf: Uint8Array; drawings: Drawing[]; watermark: Watermark | null /** ISO 8601 */; at: string };
    output: { tail: Uint8Array; pageCount: number; warnings: Warning[] };
    code: DrawCode;
  };
  /** Typesets the certificate of completion. */
  certificate: { input: CertificateData; output: { pdf: Uint8Array; pageCount: number }; code: DrawCode };
  /**
   * Makes the PAdES signature, its timestamp from where `timestamp` says (null only for level B-B), and the pages under
   * it: one task, so that a large file crosses to the worker and is hashed there once. `tail` belongs behind `pdf`.
   */
  seal: {
    input: SealInput & { timestamp: TimestampSource | null };
    output: { tail: Uint8Array; timestamp: SealTimestamp | null };
    code: SealCode;
  };
  /** Verifies every seal of a PDF against trusted certificates; a bad file is a report, not a failure. */
  verifyPdf: { input: { pdf: Uint8Array } & VerifyTrust; output: SealReport; code: never };
};
export type TaskName = keyof Tasks;
export type TaskResult<N extends TaskName> = Result<Tasks[N]["output"], Tasks[N]["code"]>;
