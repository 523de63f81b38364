import { createHash } from "node:crypto";
import type { SealReport } from "../../../workers/seal/verify.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { Outbound } from "../../kernel/outbound.ts";
import { type AnchorKey, AnchorKeys } from "../keys/contract.ts";
import { caCertificates, publicAnchorKeys } from "../keys/service.ts";
import { VerifyResult } from "./contract.ts";
import { certificatesIn, derOf } from "./pem.ts";
import { lookUpDocument } from "./service.ts";
import { type Step, verifyEvidence } from "./verify.ts";

/** Where leaf, proof, anchor, keys and certificates come from. */
export type EvidenceSource = {
  lookUp(sha256: string): Promise<VerifyResult>;
  keys: readonly AnchorKey[];
  /** DER of CA certificates. */
  certificates: readonly Uint8Array[];
};

export type FileVerdict =
  /** Everything holds, under keys that are trusted from outside. */
  | "valid"
  /** Everything holds, but the keys came with the evidence. */
  | "unpinned"
  /** The seal holds under trusted keys, and no anchor covers it yet. */
  | "not-anchored"
  | "invalid";

export type FileReport = {
  verdict: FileVerdict;
  /** 0 valid, 2 consistent but not proven, 1 anything wrong. */
  exitCode: 0 | 1 | 2;
  sha256: string;
  size: number;
  /** The PDF's own signatures and time stamps. */
  seals: SealReport;
  /** What the look-up says. */
  evidence: VerifyResult;
  /** Leaf, path, anchor, signature, key; empty without an anchor. */
  steps: Step[];
  /** What is wrong, in sentences. */
  problems: string[];
};

export type Pins = {
  /** `kid` of trusted anchor keys. */
  kids: readonly string[];
  /** SHA-256, lower-case hex, of trusted CA certificates. */
  certificates: readonly string[];
};

/**
 * Checks a sealed PDF completely: its seals, and that it stands in a signed anchor.
 * @param pins what is trusted from outside of `source`: without them the verdict is at best `unpinned`
 */
export async function verifyFile(
  deps: Pick<Deps, "pool" | "clock">,
  bytes: Uint8Array,
  source: EvidenceSource,
  pins: Pins,
): Promise<FileReport> {
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const [checked, evidence] = await Promise.all([
    deps.pool.run("verifyPdf", { pdf: bytes, trusted: [...source.certificates], at: deps.clock.ts() }),
    source.lookUp(sha256),
  ]);
  if (!checked.ok) throw new Error("the file could not be verified");
  const seals = checked.value;
  const anchored =
    evidence.status === "anchored"
      ? verifyEvidence({ ...evidence, sha256, keys: source.keys, pinnedKids: pins.kids })
      : null;
  const problems = [
    ...sealProblems(seals),
    ...(evidence.status === "unknown" ? ["Nobody sealed exactly these bytes here."] : []),
    ...(evidence.status !== "unknown" && evidence.leaf.documentSha256 !== sha256
      ? ["The leaf names another file."]
      : []),
    ...(anchored?.steps ?? []).filter(({ ok }) => !ok).map(({ detail }) => detail),
  ];
  const pinned =
    (anchored?.pinned ?? true) && source.certificates.every((der) => pins.certificates.includes(hashOf(der)));
  const verdict = problems.length > 0 ? "invalid" : !pinned ? "unpinned" : anchored === null ? "not-anchored" : "valid";
  const exitCode = verdict === "valid" ? 0 : verdict === "invalid" ? 1 : 2;
  return {
    verdict,
    exitCode,
    sha256,
    size: bytes.length,
    seals,
    evidence,
    steps: anchored?.steps ?? [],
    problems,
  };
}

function sealProblems(report: SealReport): string[] {
  const ofFile = report.problems.map((problem) => `The PDF: ${problem}.`);
  return [
    ...ofFile,
    ...ownSignatures(report).flatMap(({ field, problems, timestamp }) => [
      ...problems.map((problem) => `Signature “${field}”: ${problem}.`),
      ...(timestamp?.problems ?? []).map((problem) => `Time stamp of “${field}”: ${problem}.`),
    ]),
  ];
}

/** Those that were in the file before it was sealed say nothing about the seal. */
export const ownSignatures = ({ signatures }: SealReport) => signatures.filter(({ foreign }) => !foreign);

const hashOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** The data folder at hand: its own keys are trusted. */
export async function ownEvidence(deps: Deps): Promise<{ source: EvidenceSource; pins: Pins }> {
  const [keys, pems] = await Promise.all([publicAnchorKeys(deps.db.read), caCertificates(deps.db.read)]);
  const certificates = pems.map(derOf);
  const source = { lookUp: (sha256: string) => lookUpDocument(deps, sha256), keys, certificates };
  return { source, pins: { kids: keys.map(({ kid }) => kid), certificates: certificates.map(hashOf) } };
}

const timeoutMs = 20_000;
const largestAnswer = 8 * 1024 * 1024;

/**
 * An installation that is asked over HTTP; what it says of its keys is believed by nobody unless pinned.
 * @param server its base URL
 * @throws OutboundError, or Error when the answers are not those of a Signet
 */
export async function remoteEvidence(outbound: Outbound, server: string): Promise<EvidenceSource> {
  const base = server.replace(/\/+$/, "");
  const call = async (path: string, body?: unknown): Promise<Uint8Array> => {
    const answer = await outbound.fetch("verify", `${base}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: body === undefined ? {} : { "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      timeoutMs,
      maxBytes: largestAnswer,
    });
    if (answer.status !== 200) throw new Error(`${base}${path} answered with status ${answer.status}`);
    return answer.body;
  };
  const text = async (path: string, body?: unknown) => Buffer.from(await call(path, body)).toString("utf8");
  const { keys } = AnchorKeys.parse(JSON.parse(await text("/.well-known/svc/keys.json")));
  const certificates = certificatesIn(await text("/.well-known/svc/certificates.pem"));
  return {
    lookUp: async (sha256) => VerifyResult.parse(JSON.parse(await text("/v1/public/verify", { sha256 }))),
    keys,
    certificates,
  };
}
