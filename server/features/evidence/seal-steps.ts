import type { TimestampReport } from "../../../workers/seal/timestamp-verify.ts";
import type { SealReport, SignatureReport } from "../../../workers/seal/verify.ts";
import { fromBase64, fromHex, toHex } from "./anchors/anchor.ts";
import type { Anchor } from "./contract.ts";
import { type Finding, type Step, sha256, stepOf } from "./verify.ts";
import type { Problem } from "./words.ts";

/** What the validation of a PDF found, as steps that people read. Isomorphic. */

/**
 * DER of authorities. Two lists, for a time-stamping authority may stand under a root that certifies anybody: a seal under
 * it proves nothing. Whoever may vouch for seals may vouch for time stamps too.
 */
export type Authorities = { seals: readonly Uint8Array[]; timestamps: readonly Uint8Array[] };

/**
 * The complete validation of a PDF; `at` says when to look at seals without a time stamp (ISO 8601). A bad file is a report.
 * @throws TypeError when one of `trusted` is no certificate
 */
export type PdfCheck = (pdf: Uint8Array, trusted: Authorities, at: string) => Promise<SealReport>;
/** The complete validation of an RFC 3161 token over the hash of an anchor. */
export type AnchorTokenCheck = (
  token: Uint8Array,
  anchorHash: Uint8Array,
  trusted: readonly Uint8Array[],
) => Promise<TimestampReport>;

/** Those that were in the file before it was sealed say nothing about the seal. */
export const ownSignatures = ({ signatures }: SealReport): SignatureReport[] =>
  signatures.filter(({ foreign }) => !foreign);

/** The seal itself, its certificate, its time stamp: which problem speaks of what. */
const chainProblems: readonly Problem[] = ["stray-certificate", "may-not-seal", "untrusted", "revoked"];
const timeProblems: readonly Problem[] = ["timestamp-invalid", "timestamp-out-of-order"];
const laterProblems: readonly Problem[] = ["changed-after"];
const elsewhere: readonly Problem[] = [...chainProblems, ...timeProblems, ...laterProblems];

/** Every step about the PDF itself, in the order in which the parts were added. */
export function sealSteps(report: SealReport): Step[] {
  const { problems, size, sha256: fileHash } = report;
  const whole: Finding =
    problems.length > 0
      ? { ok: false, code: "pdf-wrong", values: { problems } }
      : // Ranges alone: what they hold is judged below.
        { ok: report.valid || null, code: "pdf-sealed", values: { size } };
  return [
    stepOf("pdf", { ...whole, bytes: [{ label: "sha256-file", value: fileHash }] }),
    ...ownSignatures(report).flatMap(signatureSteps),
    ...validationSteps(report),
    ...report.signatures
      .filter(({ foreign }) => foreign)
      .map(({ field }) => stepOf("foreign", { ok: null, code: "foreign-signature", values: { field } })),
  ];
}

function signatureSteps(signature: SignatureReport): Step[] {
  const { kind } = signature;
  if (kind === "document-timestamp") return [documentTimestampStep(signature), ...revisionSteps(signature)];
  return [sealStep(signature), ...chainSteps(signature), ...sealTimestampSteps(signature), ...revisionSteps(signature)];
}

const rangeText = ({ byteRange: [start = 0, length = 0, resume = 0, rest = 0] }: SignatureReport): string =>
  `${start} – ${start + length}, ${resume} – ${resume + rest}`;

function sealStep(signature: SignatureReport): Step {
  const { field, level, claimedAt, reason } = signature;
  const problems = signature.problems.filter((problem) => !elsewhere.includes(problem));
  return stepOf("seal", {
    ok: problems.length === 0,
    code: problems.length === 0 ? "seal-holds" : "seal-wrong",
    values: { field, level, problems },
    bytes: [
      { label: "byteRange", value: rangeText(signature) },
      ...(claimedAt ? [{ label: "claimedAt", value: claimedAt }] : []),
      ...(reason ? [{ label: "reason", value: reason }] : []),
    ],
  });
}

function chainSteps({ field, certificate, problems: all }: SignatureReport): Step[] {
  if (!certificate) return [];
  const problems = all.filter((problem) => chainProblems.includes(problem));
  const { subject, issuer, sha256: fingerprint, validFrom, validTo } = certificate;
  const bytes = [
    { label: "subject", value: subject },
    { label: "issuer", value: issuer },
    { label: "validity", value: `${validFrom} – ${validTo}` },
    { label: "certificateSha256", value: fingerprint },
  ];
  const code = problems.length === 0 ? "chain-holds" : "chain-wrong";
  return [stepOf("chain", { ok: problems.length === 0, code, values: { field, subject, issuer, problems }, bytes })];
}

function stampBytes(stamp: TimestampReport | null): Step["bytes"] {
  const bytes = [
    { label: "time", value: stamp?.at },
    { label: "authority", value: stamp?.authority },
    { label: "serial", value: stamp?.serial },
    { label: "policy", value: stamp?.policy },
    { label: "certificateSha256", value: stamp?.certificateSha256 },
    { label: "authoritySha256", value: stamp?.anchorSha256 },
  ];
  return bytes.flatMap(({ label, value }) => (value ? [{ label, value }] : []));
}

/** The cause stands in the token's own problems when it has some. */
function stampProblems(own: readonly Problem[], stamp: TimestampReport | null): Problem[] {
  const inner = stamp?.problems ?? [];
  return [...own.filter((problem) => problem !== "timestamp-invalid" || inner.length === 0), ...inner];
}

function sealTimestampSteps({ field, timestamp, level, problems: all }: SignatureReport): Step[] {
  if (!timestamp) {
    return level === "B-B" ? [stepOf("seal-timestamp", { ok: null, code: "timestamp-absent", values: { field } })] : [];
  }
  const problems = stampProblems(
    all.filter((problem) => timeProblems.includes(problem)),
    timestamp,
  );
  const values = { field, at: timestamp.at, authority: timestamp.authority, problems };
  const code = problems.length === 0 ? "timestamp-holds" : "timestamp-wrong";
  return [stepOf("seal-timestamp", { ok: problems.length === 0, code, values, bytes: stampBytes(timestamp) })];
}

function documentTimestampStep(signature: SignatureReport): Step {
  const { field, timestamp } = signature;
  const own = signature.problems.filter((problem) => !laterProblems.includes(problem));
  const problems = stampProblems(own, timestamp);
  return stepOf("document-timestamp", {
    ok: problems.length === 0,
    code: problems.length === 0 ? "timestamp-holds" : "timestamp-wrong",
    values: { field, at: timestamp?.at ?? null, authority: timestamp?.authority ?? null, problems },
    bytes: [{ label: "byteRange", value: rangeText(signature) }, ...stampBytes(timestamp)],
  });
}

function revisionSteps({ field, kind, later, problems: all, coveredTo, coversWholeFile }: SignatureReport): Step[] {
  const problems = all.filter((problem) => laterProblems.includes(problem));
  const bytes = [{ label: "coveredTo", value: String(coveredTo) }];
  if (problems.length > 0)
    return [stepOf("revisions", { ok: false, code: "revisions-wrong", values: { field, problems }, bytes })];
  if (later.length > 0)
    return [stepOf("revisions", { ok: true, code: "revisions-allowed", values: { field, changes: later }, bytes })];
  return kind === "seal" && coversWholeFile
    ? [stepOf("revisions", { ok: true, code: "revisions-none", values: { field }, bytes })]
    : [];
}

function validationSteps({ level, protectedUntil, valid }: SealReport): Step[] {
  if (!valid || level === null) return [];
  const code =
    level === "B-LTA" ? "validation-lasting" : level === "B-LT" ? "validation-stored" : ("validation-none" as const);
  const bytes = protectedUntil ? [{ label: "protectedUntil", value: protectedUntil }] : [];
  return [
    stepOf("validation", { ok: level === "B-B" ? null : true, code, values: { level, until: protectedUntil }, bytes }),
  ];
}

/** The RFC 3161 token that an anchor may carry: over its hash, by an authority that may not be trusted here. */
export async function tokenStep(
  { timestampToken, anchorHash }: Anchor,
  trusted: readonly Uint8Array[],
  check: AnchorTokenCheck,
): Promise<Step> {
  if (timestampToken === null) return stepOf("token", { ok: null, code: "token-absent" });
  try {
    const report = await check(fromBase64(timestampToken), fromHex(anchorHash), trusted);
    const { at, authority, problems } = report;
    const bytes = [{ label: "token", value: timestampToken }, ...stampBytes(report)];
    const values = { at, authority, problems };
    if (problems.length === 0) return stepOf("token", { ok: true, code: "token-holds", values, bytes });
    // Another authority's is no fault of the anchor: it says who stamped, and leaves the trust to the reader.
    if (problems.every((problem) => problem === "untrusted"))
      return stepOf("token", { ok: null, code: "token-unknown-authority", values, bytes });
    return stepOf("token", { ok: false, code: "token-broken", values, bytes });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return stepOf("token", { ok: false, code: "token-broken", values: { problems: ["malformed"] } });
  }
}

/** SHA-256 of trusted certificates, lower-case hex: behind seals, and for time stamps alone. */
export type TrustPins = { certificates: readonly string[]; timestamps?: readonly string[] };

/** Those among the authorities that are trusted from elsewhere. */
export function trustedOf({ seals, timestamps }: Authorities, pins: TrustPins): Authorities {
  const isPinned = (der: Uint8Array, list: readonly string[]) => list.includes(toHex(sha256(der)));
  const stampers = [...pins.certificates, ...(pins.timestamps ?? [])];
  return {
    seals: seals.filter((der) => isPinned(der, pins.certificates)),
    timestamps: [...seals, ...timestamps].filter((der) => isPinned(der, stampers)),
  };
}

/**
 * Validates under the trusted authorities among those that came with the evidence; when that fails, or none is trusted,
 * under all of them, which proves nothing but that everything fits.
 */
export async function examineUnder(
  check: PdfCheck,
  pdf: Uint8Array,
  { authorities, pins, at }: { authorities: Authorities; pins: TrustPins; at: string },
): Promise<{ report: SealReport; pinned: boolean }> {
  const trusted = trustedOf(authorities, pins);
  const all = { seals: authorities.seals, timestamps: [...authorities.seals, ...authorities.timestamps] };
  if (trusted.seals.length > 0) {
    const report = await check(pdf, trusted, at);
    if (report.valid || trusted.timestamps.length === all.timestamps.length) return { report, pinned: report.valid };
  }
  return { report: await check(pdf, all, at), pinned: false };
}
