/**
 * What the worker threads can do: bytes and plain data in, bytes or a coded failure out.
 * The file is types only, so the server may name tasks without loading what runs them; `parsing-tasks.ts` and
 * `sealing-tasks.ts` hold the functions.
 */

import type { KeyObject } from "node:crypto";
import type { Words } from "../locales/translate.ts";
import type { TimestampReport } from "./seal/timestamp-verify.ts";
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
/** In pixels. */
export type PictureSize = { width: number; height: number };
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

/** Types of fields that can be found in a PDF; they are those of templates. */
export type ProposedType =
  | "signature"
  | "initials"
  | "date_signed"
  | "full_name"
  | "email"
  | "company"
  | "job_title"
  | "phone"
  | "text_input"
  | "number"
  | "date"
  | "checkbox"
  | "radio"
  | "dropdown"
  | "image"
  | "attachment";
/** A field as a template would hold it; it has the members that its type may have. */
export type ProposedField = Box & {
  id: string;
  type: ProposedType;
  role: string;
  label?: string;
  tooltip?: string;
  required?: boolean;
  readOnly?: boolean;
  default?: string | number | boolean;
  multiline?: boolean;
  cells?: number;
  minLength?: number;
  maxLength?: number;
  placeholder?: string;
  min?: number | string;
  max?: number | string;
  decimals?: number;
  format?: string;
  options?: { value: string; label?: string; box?: Box }[];
  size?: number;
  align?: "left" | "center" | "right";
  color?: string;
};
/** Where a proposal comes from: a form field of the PDF, a tag in its text, or a line or box of the page. */
export type ProposalSource = "form" | "tag" | "line";
export type Proposal = { field: ProposedField; source: ProposalSource };
/** A field of a template: its id and the places that it takes. */
export type TakenField = { id: string; boxes: Box[] };

/** How a text goes into its box. */
export type TextFit = {
  /** The size that it is set in (points). */
  size: number;
  /** Whole, at a size of at least 6 points or at its own. */
  fits: boolean;
  /** How many of its characters would fit; null when all do. */
  room: number | null;
};

export type Watermark = "TEST" | "PREVIEW";

export type InspectCode =
  | "not-a-pdf"
  | "damaged"
  | "encrypted"
  | "xfa"
  | "no-pages"
  | "too-many-pages"
  | "page-too-large"
  | "too-complex"
  | "active-content";
/**
 * What becomes of scripts, actions, media and attached files in uploads; null removes what acts and keeps attached files,
 * with a warning for each.
 */
export type ActiveContentPolicy = "warn" | "remove" | "refuse" | null;
export type DrawCode = "damaged" | "page-out-of-range" | "bad-image" | "missing-font" | "too-complex";
export type PictureCode = "bad-image" | "image-too-large";
export type SealCode = "damaged" | "signature-too-large" | "bad-certificate" | "timestamp-refused" | "seal-invalid";

export type CertificatePerson = {
  name: string;
  email: string;
  role: string;
  kind: "signer" | "countersigner";
  order: number;
  /** How they showed who they are; "automatic" for countersigners, whom nobody asks. */
  verification: "none" | "email_otp" | "sms_otp" | "operator_delivered" | "automatic";
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
  /** Of the words: BCP 47. */
  language: string;
  /** The catalogue `certificate` in that language. */
  words: Words;
  envelope: string;
  title: string;
  organization: string;
  template: string;
  templateVersion: number;
  testMode: boolean;
  createdAt: string;
  completedAt: string;
  /** SHA-256 of revision 0 and of each revision before the seal, in order. */
  revisions: { /** Who had signed; null for revision 0. */ after: string | null; sha256: string }[];
  people: CertificatePerson[];
  cc: CertificateName[];
  viewers: CertificateName[];
  audit: { length: number; headHash: string };
  seal: CertificateSeal;
  remarks: CertificateRemark[];
  verifyUrl: string;
  /** Size of the last page of the document in points, so that the certificate matches the paper. */
  pageSize: { width: number; height: number };
};

/** What the document is sealed with, as far as it is known before, and what came of it. */
export type CertificateSeal = {
  subject: string;
  /** SHA-256 of the seal certificate (DER). */
  certificateSha256: string;
  /** SHA-256 of its public key (DER of the SubjectPublicKeyInfo, RFC 5280 §4.1.2.7). */
  keySha256: string;
  /** The level of the settings. */
  goal: SealLevel;
  authority: string;
  /** The authority is the appliance itself. */
  internalTime: boolean;
  /** ISO 8601 */
  beganAt: string;
  /** Known on the standalone certificate only: these pages stand under the seal in the document. */
  made: {
    level: SealLevel;
    documentSha256: string;
    /** ISO 8601, each by the authority's clock. */
    stampedAt: string | null;
    archivedAt: string | null;
  } | null;
};

/** What a reader must know besides. */
export type CertificateRemark =
  | { code: "already-signed" | "signatures-removed" | "repaired" | "decrypted" }
  | { code: "reassigned"; from: CertificateName; to: CertificateName; at: string; reason: string };
export type CertificateName = { name: string | null; email: string };

/** PAdES baseline levels (ETSI EN 319 142-1), each holding all of the one before. */
export type SealLevel = "B-B" | "B-T" | "B-LT" | "B-LTA";

export type SealInput = {
  pdf: Uint8Array;
  /** A PDF whose pages come behind the last page, in a revision of their own under the signature. */
  pages: Uint8Array | null;
  /** DER, the signing certificate first, its chain after it. */
  certificates: Uint8Array[];
  key: "rsa" | "ec-p256";
  /** A key in software: the thread signs with it. Without one `sign` is asked, as for keys in a token. */
  privateKey?: KeyObject | null | undefined;
  /** ISO 8601; written as /M. */
  at: string;
  name: string;
  reason: string;
  location: string | null;
  /** The level to reach; B-LT and B-LTA fall back to what could be had, never below B-T. */
  level: SealLevel;
  /** An identifier for the signature field, unique in the document; that of the document timestamp is made from it. */
  fieldName: string;
};

/** Whose revocation list is wanted: the issuer by the SHA-256 of its certificate, and where it publishes lists. */
export type RevocationAsk = { issuer: string; urls: string[] };

/** What long-term levels need. What cannot be had now is refused with `Unavailable` (workers/seal/long-term.ts). */
export type LongTermPorts = {
  /** DER of a current revocation list; whatever it throws means that there is none now. */
  revocationList: (ask: RevocationAsk) => Promise<Uint8Array>;
  /** An RFC 3161 TimeStampToken over this SHA-256 imprint of the whole file. */
  archiveTimestamp: (imprint: Uint8Array) => Promise<Uint8Array>;
};

/** What the seal itself needs: a signature, and a timestamp token over it. */
export type SealPorts = LongTermPorts & {
  /** Signs the DER of the signed attributes (RFC 5652 §5.4): PKCS#1 v1.5 with SHA-256 for RSA, DER-encoded ECDSA with SHA-256. */
  sign: (signedAttributes: Uint8Array) => Promise<Uint8Array>;
  /** An RFC 3161 TimeStampToken (DER ContentInfo) over this SHA-256 imprint. */
  timestamp: (imprint: Uint8Array) => Promise<Uint8Array>;
  /** DER of the certificates that the chain of that token may end in; asked once the token is there. */
  timestampRoots: () => readonly Uint8Array[];
};

/** Where the timestamp of a seal comes from. It is issued or verified in the worker, so that no task waits for another. */
export type TimestampSource =
  /**
   * The built-in authority: `serial` is hexadecimal and never used before, its own certificate (DER) stands first,
   * `privateKey` as for the seal.
   */
  | {
      kind: "built-in";
      certificates: Uint8Array[];
      policy: string;
      serial: string;
      privateKey?: KeyObject | null | undefined;
    }
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
  /** Until when the authority's certificate is valid, ISO 8601. */
  validUntil: string | null;
};

/** What a running task asks of the main thread: the clock, the network and the token stay there. */
export type TaskPorts = {
  /** Signs with the seal key; see `SealPorts`. */
  sign: (signedAttributes: Uint8Array) => Promise<Uint8Array>;
  /** Signs with the key of the built-in time-stamping authority, in the same way. */
  signTimestamp: (signedAttributes: Uint8Array) => Promise<Uint8Array>;
  /** The time that the built-in authority states for this imprint: ISO 8601 in ASCII, read when it is asked. */
  timestampTime: (imprint: Uint8Array) => Promise<Uint8Array>;
  /** Sends a TimeStampReq (RFC 3161 §2.4.1), returns the TimeStampResp. A failure is one of the authority, not of the task. */
  requestTimestamp: (request: Uint8Array) => Promise<Uint8Array>;
  /** A `RevocationAsk` as JSON → the DER of the list. A failure means that the level below stands. */
  revocationList: (ask: Uint8Array) => Promise<Uint8Array>;
};

export type SealOutput = {
  tail: Uint8Array;
  level: SealLevel;
  /** Why the level asked for was not reached; null when it was. */
  shortfall: string | null;
  /** The new document timestamp. */
  archive: SealTimestamp | null;
  /** Until when the newest document timestamp's authority vouches, ISO 8601; null below B-LTA. */
  protectedUntil: string | null;
};

/** Whether a value of this type could hold a handle of a key, or a function that uses one. */
type MayHoldKey<T> = unknown extends T
  ? true
  : T extends KeyObject | CryptoKey | ((...given: never[]) => unknown)
    ? true
    : T extends string | number | bigint | boolean | null | undefined | Uint8Array | Words
      ? false
      : T extends readonly (infer Element)[]
        ? MayHoldKey<Element>
        : [keyof T] extends [never]
          ? true
          : { [Key in keyof T]-?: MayHoldKey<T[Key]> }[keyof T];

/** The type itself, or `never` when a value of it could hold a handle of a key: then nothing can be passed. */
export type Keyless<T> = true extends MayHoldKey<T> ? never : T;

type ParsingTask<Input, Output, Code extends string> = { input: Keyless<Input>; output: Output; code: Code };

/**
 * Tasks on bytes from outside: uploads, and what people typed or drew. The threads that run them are given no key, by the
 * type of their input and by a check of what it holds, and they can ask for no signature.
 */
export type ParsingTasks = {
  /** What is this PDF, and can it be stamped and sealed? `pdf` comes back only when it had to be rewritten. */
  inspect: ParsingTask<
    { pdf: Uint8Array; maxPages: number; activeContent?: ActiveContentPolicy },
    { pageCount: number; pages: PageBox[]; hasFormFields: boolean; warnings: Warning[]; pdf: Uint8Array | null },
    InspectCode
  >;
  /** Which fields a template of this PDF could have: at most `limit`. `roles` are the names that they use. */
  propose: ParsingTask<{ pdf: Uint8Array; limit: number }, { data: Proposal[]; roles: string[] }, DrawCode>;
  /**
   * What a template with these fields is drawn on: when one of them takes the place of a form field, a revision without
   * form, and when one takes that of a tag, without tags. `tail` is null when nothing changes, as for a file that others signed.
   */
  takeProposals: ParsingTask<
    {
      pdf: Uint8Array;
      fields: TakenField[];
      /** ISO 8601 */
      at: string;
    },
    { tail: Uint8Array | null; formTaken: boolean; warnings: Warning[] },
    DrawCode
  >;
  /** Whether a new PNG or JPEG is sound and no larger than `limit` (pixels), so that it can be drawn later. */
  readPicture: ParsingTask<{ picture: Uint8Array; limit: PictureSize }, PictureSize, PictureCode>;
  /** Makes one revision that draws these things over the pages; `tail` belongs behind the input, which stays as it is. */
  stamp: ParsingTask<
    {
      pdf: Uint8Array;
      drawings: Drawing[];
      watermark: Watermark | null;
      /** ISO 8601 */
      at: string;
      /** The pictures were accepted nowhere yet, so they are read as strictly as `readPicture` does. */
      newPictures?: boolean;
    },
    { tail: Uint8Array; pageCount: number; warnings: Warning[] },
    DrawCode
  >;
  /** How the texts among these drawings would go into their boxes, in their order. */
  fit: ParsingTask<{ drawings: Drawing[] }, { fits: (TextFit | null)[] }, never>;
  /** Typesets the certificate of completion. */
  certificate: ParsingTask<CertificateData, { pdf: Uint8Array; pageCount: number }, DrawCode>;
  /** Verifies every seal of a PDF against trusted certificates; a bad file is a report, not a failure. */
  verifyPdf: ParsingTask<{ pdf: Uint8Array } & VerifyTrust, SealReport, never>;
  /** Verifies an RFC 3161 token over a SHA-256 `imprint`; a bad token is a report. */
  verifyToken: ParsingTask<
    { token: Uint8Array; imprint: Uint8Array; trusted: readonly Uint8Array[] },
    TimestampReport,
    never
  >;
};

/** Tasks that sign, with a key that they are given or by asking the main thread, and those that ask for time. */
export type SealingTasks = {
  /**
   * Makes the PAdES signature, its timestamp from where `timestamp` says (null only for level B-B), and the pages under
   * it, and what makes it last: one task, so that a large file crosses to the worker and is hashed there once. `tail`
   * belongs behind `pdf`; `archive` stamps the whole file and is null below B-LTA.
   */
  seal: {
    input: SealInput & { timestamp: TimestampSource | null; archive: TimestampSource | null };
    output: SealOutput & { timestamp: SealTimestamp | null };
    code: SealCode;
  };
  /** Appends what raises a seal to its level, or with `renew` one more document timestamp. Existing bytes stay. */
  extend: {
    input: {
      pdf: Uint8Array;
      /** DER certificates that the seal must lead to. */
      trusted: Uint8Array[];
      /** For timestamps; the same as `trusted` when absent. */
      trustedTimestamp?: Uint8Array[] | undefined;
      goal: "B-LT" | "B-LTA";
      renew: boolean;
      archive: TimestampSource;
      /** ISO 8601 */
      at: string;
    };
    output: SealOutput;
    code: SealCode;
  };
  /** Asks an outside authority for a token over a SHA-256 `imprint` and verifies its answer; `at` is our own time. */
  timestamp: {
    input: { imprint: Uint8Array; source: Extract<TimestampSource, { kind: "request" }> /** ISO 8601 */; at: string };
    output: { token: Uint8Array; timestamp: SealTimestamp };
    code: "timestamp-refused";
  };
};

/** Every task: its input, its output, the codes it may fail with. */
export type Tasks = ParsingTasks & SealingTasks;
export type TaskName = keyof Tasks;
export type TaskResult<N extends TaskName> = Result<Tasks[N]["output"], Tasks[N]["code"]>;
