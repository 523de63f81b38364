import type { SealReport } from "../../../../workers/seal/verify.ts";
import type { AnchorKey } from "../../keys/contract.ts";
import { toHex } from "../anchors/anchor.ts";
import { checkpointStep } from "../anchors/checkpoint-check.ts";
import { checkNamed, entryHash, isSealOf } from "../certificate-check.ts";
import type { Leaf } from "../contract.ts";
import { type AnchorTokenCheck, examineUnder, type PdfCheck, sealSteps, tokenStep, trustedOf } from "../seal-steps.ts";
import { type Finding, findingOf, guarded, keysUnder, type Step, sha256, stepOf, verifyEvidence } from "../verify.ts";
import type { FindingCode, Problem } from "../words.ts";
import {
  bundleFiles,
  checkAttachments,
  checkCertificateName,
  checkLater,
  checkNames,
  type Files,
  fixedEntry,
  namingEntry,
} from "./contents.ts";
import { type BundleEvidence, isStripped, readBundle } from "./read.ts";
import { checkKeys, type Unproven, unprovenIn } from "./unproven.ts";

/** Checks everything in an evidence bundle with nothing but its bytes: no server, no network. Isomorphic. */

/** What is trusted from outside of the bundle. */
export type Pins = {
  /** Thumbprints of anchor keys of which nothing else is known. */
  kids: readonly string[];
  /** Anchor keys with their validity: the evidence's own entries for them do not count. */
  keys?: readonly AnchorKey[];
  /** SHA-256 of the certificates of authorities behind seals. */
  certificates: readonly string[];
  /** The same of authorities that are trusted for time stamps alone. */
  timestamps?: readonly string[];
};

export type BundleVerdict =
  /** Everything fits, under keys and authorities that are trusted from outside. */
  | "valid"
  /** Everything fits, but a forger could have made all of it, keys included. */
  | "unpinned"
  /** Everything fits under trusted keys, and was made in test mode, where members read the codes of others. */
  | "test"
  /** Everything fits under trusted keys, and holds something that nothing proves. */
  | "incomplete"
  /** Everything fits, and the document is not there: it was deleted, and nobody gave his copy. */
  | "no-document"
  | "invalid";

export type BundleReport = {
  verdict: BundleVerdict;
  steps: Step[];
  /** What the evidence says of the document; null when it cannot be read. */
  evidence: BundleEvidence | null;
  /** SHA-256 of the file that was checked, and what its seals say; null without a file. */
  document: { sha256: string; size: number; seals: SealReport } | null;
  /** What the file that somebody holds certifies, when it is a certificate of completion and not the document. */
  certificateOf: { envelope: string; documentSha256: string } | null;
  /** Every file, and part of one, that proves nothing, or is not there: all the rest is verified. */
  unproven: Unproven[];
  /** What the bundle brings along, to be compared with what is known from elsewhere. */
  anchorKid: string | null;
  authorities: string[];
  /** The same of those for time stamps alone. */
  timestampAuthorities: string[];
  /** As the leaf says. */
  testMode: boolean;
};

/** The machine's own ways to validate, and the time (ISO 8601). */
export type BundleChecks = { pdf: PdfCheck; token: AnchorTokenCheck; at: string };

/** A bundle that cannot be read. */
export const unreadableBundle = (finding: Finding): BundleReport => ({
  verdict: "invalid",
  steps: [stepOf("files", finding)],
  evidence: null,
  document: null,
  certificateOf: null,
  unproven: [],
  anchorKid: null,
  authorities: [],
  timestampAuthorities: [],
  testMode: false,
});

/**
 * Never throws on a bad bundle: what cannot be read has failed.
 * @param held instead of the bundle's own document: the file that somebody holds, the document or its certificate of completion
 */
export async function checkBundle(
  files: Files,
  pins: Pins,
  checks: BundleChecks,
  held?: Uint8Array,
): Promise<BundleReport> {
  let bundle: BundleEvidence;
  try {
    bundle = readBundle(files);
  } catch (error) {
    return unreadableBundle(findingOf(error));
  }
  const { leaf, proof, anchor, authorities } = bundle;
  const { keys, pinnedKids } = keysUnder(bundle.keys, pins);
  const pdf = held ?? files.get(bundleFiles.document) ?? null;
  const under = { authorities, pins, at: checks.at };
  const examined = pdf && (await examineReadable(checks.pdf, pdf, under));
  const seals = examined?.report ?? null;
  // The validation has hashed the file already.
  const fileHash = seals?.sha256 ?? (pdf ? toHex(sha256(pdf)) : leaf.documentSha256);
  // Of the bundle's own files each is what its name says; what somebody holds may be either of the two.
  const naming = held && fileHash !== leaf.documentSha256 ? namingEntry(bundle, fileHash) : undefined;
  const documentHash = naming ? leaf.documentSha256 : fileHash;
  const evidence = verifyEvidence({ sha256: documentHash, leaf, proof, anchor, keys, pinnedKids });
  const missing: Finding = { ok: null, code: "document-deleted", bytes: evidence.steps[0]?.bytes ?? [] };
  const certificate = await certificateSteps(files, bundle, under, checks.pdf);
  const token = await tokenStep(anchor, trustedOf(authorities, pins).timestamps, checks.token);
  const known = { keys: pins.keys ?? [], seals: pins.certificates, timestamps: pins.timestamps ?? [] };
  const unproven = unprovenIn(files, bundle, known, token.code);
  const sealsPinned = pdf ? (examined?.pinned ?? false) : pins.certificates.length > 0;
  const steps: Step[] = [
    ...(naming ? [stepOf("certificate", checkNamed(naming, fileHash))] : []),
    ...(pdf && !naming ? evidence.steps : [...(pdf ? [] : [stepOf("document", missing)]), ...evidence.steps.slice(1)]),
    // The anchor's signature does not cover the token: a forger may bring one, and its authority.
    token,
    checkpointStep(bundle.note, { anchor, keys }),
    stepOf("keys", checkKeys(bundle, pins.keys ?? [])),
    stepOf("files", checkNames(files)),
    ...unproven.map(({ file, part, reason }) => stepOf("files", { ok: null, code: reason, values: { file, part } })),
    ...(held ? checkOwnDocument(files, leaf) : []),
    guarded("audit", () => checkAudit(bundle)),
    ...checkLater(bundle).map((finding) => stepOf("audit", finding)),
    guarded("attachments", () => checkAttachments(files, bundle, isStripped(files))),
    ...(pdf && !seals
      ? [stepOf("files", { ok: false, code: "file-wrong", values: { file: bundleFiles.authorities } })]
      : []),
    ...(seals ? sealSteps(seals) : []),
    ...certificate.steps,
  ];
  const pinned = evidence.pinned && sealsPinned && certificate.pinned;
  return {
    verdict: verdictOf(steps, { there: pdf !== null, pinned, testMode: leaf.testMode }),
    steps,
    evidence: bundle,
    document: pdf && seals ? { sha256: fileHash, size: pdf.length, seals } : null,
    certificateOf: naming ? { envelope: leaf.envelope, documentSha256: leaf.documentSha256 } : null,
    unproven,
    anchorKid: anchor.kid,
    authorities: authorities.seals.map((der) => toHex(sha256(der))),
    timestampAuthorities: authorities.timestamps.map((der) => toHex(sha256(der))),
    testMode: leaf.testMode,
  };
}

/** The bundle's document, where another file was checked in its place. */
function checkOwnDocument(files: Files, leaf: Leaf): Step[] {
  const own = files.get(bundleFiles.document);
  if (!own || toHex(sha256(own)) === leaf.documentSha256) return [];
  return [stepOf("files", { ok: false, code: "file-wrong", values: { file: bundleFiles.document } })];
}

/** Something lies in the bundle that nothing proves. */
const openFindings: readonly FindingCode[] = ["audit-later", "attachments-unnamed", "certificate-unnamed"];

function verdictOf(
  steps: readonly Step[],
  { there, pinned, testMode }: { there: boolean; pinned: boolean; testMode: boolean },
): BundleVerdict {
  if (steps.some(({ ok }) => ok === false)) return "invalid";
  if (!there) return "no-document";
  if (!pinned) return "unpinned";
  if (testMode) return "test";
  return steps.some(({ code }) => openFindings.includes(code)) ? "incomplete" : "valid";
}

type Under = Parameters<typeof examineUnder>[2];

/** Null when what the bundle gives for authorities are no certificates. */
async function examineReadable(check: PdfCheck, pdf: Uint8Array, under: Under) {
  try {
    return await examineUnder(check, pdf, under);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return null;
  }
}

/** The standalone certificate of completion: the one that the trail names, sealed as the document is. */
async function certificateSteps(
  files: Files,
  bundle: BundleEvidence,
  under: Under,
  check: PdfCheck,
): Promise<{ steps: Step[]; pinned: boolean }> {
  const pdf = files.get(bundleFiles.certificate);
  if (!pdf) return { steps: [stepOf("certificate", { ok: null, code: "certificate-deleted" })], pinned: true };
  const examined = await examineReadable(check, pdf, under);
  const problems: Problem[] = examined
    ? [
        ...examined.report.problems,
        ...examined.report.signatures.filter(({ foreign }) => !foreign).flatMap(({ problems: own }) => own),
      ]
    : ["untrusted"];
  const ok = problems.length === 0;
  const code = ok ? "certificate-sealed" : "certificate-wrong";
  const steps = [
    guarded("certificate", () => checkCertificateName(bundle, pdf)),
    stepOf("certificate", { ok, code, values: { problems } }),
  ];
  return { steps, pinned: examined?.pinned ?? false };
}

/** Every entry's hash, every link, and that the leaf names the entry which names the sealed file (contract §4). */
function checkAudit({ audit, leaf }: BundleEvidence): Finding {
  let head = "0".repeat(64);
  for (const [index, entry] of audit.entries()) {
    const { hash } = entry;
    if (
      entryHash(entry) !== hash ||
      entry.prevHash !== head ||
      entry.seq !== index + 1 ||
      entry.envelope !== leaf.envelope
    )
      return { ok: false, code: "audit-broken", values: { at: index + 1 } };
    head = hash;
  }
  const sealed = fixedEntry({ audit, leaf });
  if (!sealed || !isSealOf(sealed, leaf)) return { ok: false, code: "audit-other" };
  return {
    ok: true,
    code: "audit-fits",
    values: { count: audit.length, fixed: sealed.seq },
    bytes: [
      { label: "auditHash", value: leaf.auditHash },
      { label: "headHash", value: head },
    ],
  };
}
