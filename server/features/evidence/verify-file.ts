import { createHash, X509Certificate } from "node:crypto";
import { inflateRawSync } from "node:zlib";
import type { SealReport } from "../../../workers/seal/verify.ts";
import type { Deps } from "../../kernel/deps.ts";
import { english } from "../../kernel/english.ts";
import type { Outbound } from "../../kernel/outbound.ts";
import { certificatesIn, derOf } from "../../kernel/pem.ts";
import { TaskCrashed, TaskTimeout } from "../../kernel/pool.ts";
import { type AnchorKey, AnchorKeys } from "../keys/contract.ts";
import { authorities, publicAnchorKeys } from "../keys/service.ts";
import { toHex } from "./anchors/anchor.ts";
import { type BundleChecks, type BundleReport, checkBundle, type Pins } from "./bundle/check.ts";
import { readZip } from "./bundle/zip.ts";
import { verifyCertificate } from "./certificate-check.ts";
import { type Leaf, VerifyResult } from "./contract.ts";
import { type Authorities, examineUnder, sealSteps, tokenStep, trustedOf } from "./seal-steps.ts";
import { lookUpDocument } from "./service.ts";
import { keysUnder, type SaidStep, type Step, saidStep, sha256, stepOf, verifyEvidence } from "./verify.ts";
import type { SayEvidence } from "./words.ts";

/** Reports and the command line speak English. */
export const evidenceWords = (): SayEvidence => english("evidence");

/** What is known of a file; evidence that was handed over knows no envelope but its id. */
export type Known = VerifyResult | (Omit<VerifyResult & { status: "anchored" }, "envelope"> & { envelope: null });

/** Where leaf, proof, anchor, keys and certificates come from. */
export type EvidenceSource = {
  lookUp(sha256: string): Promise<Known>;
  keys: readonly AnchorKey[];
  authorities: Authorities;
};

export type FileVerdict =
  /** Everything holds, under keys that are trusted from outside. */
  | "valid"
  /** Everything holds, but the keys came with the evidence. */
  | "unpinned"
  /** Everything holds under trusted keys, and was made in test mode: it says nothing of who signed. */
  | "test"
  /** Everything holds under trusted keys, and the bundle has something in it that nothing proves. */
  | "incomplete"
  /** The seal holds under trusted keys, and no anchor covers it yet. */
  | "not-anchored"
  /** The evidence holds; the document was deleted, and no copy of it was given. */
  | "no-document"
  /** Nobody sealed exactly these bytes here; of a file that could be looked into. */
  | "unknown"
  /** Something is wrong: `causes` says what. */
  | "invalid";

export type FileReport = {
  verdict: FileVerdict;
  /** 0 valid, 2 consistent but not proven, 1 anything wrong. */
  exitCode: 0 | 1 | 2;
  /** Of the file that was checked; null where only the evidence of one was there. */
  sha256: string | null;
  size: number | null;
  /** The PDF's own signatures and time stamps. */
  seals: SealReport | null;
  /** Made in test mode, as the leaf says; null without one. */
  testMode: boolean | null;
  /** What the look-up says; null for a bundle that cannot be read. */
  evidence: Known | null;
  /** What the file certifies, when it is a certificate of completion and not a sealed document, and its record names it. */
  certificateOf: { envelope: string; documentSha256: string } | null;
  /** Of a bundle: each file, and part of one, that proves nothing, or is not there. */
  unproven: BundleReport["unproven"];
  /** Every check: leaf, path, anchor, signature, key, what else a bundle holds, and the PDF's own. */
  steps: SaidStep[];
  /** What is wrong, one code a cause. */
  causes: string[];
  /** The same in sentences. */
  problems: string[];
};

const exitCodes = {
  valid: 0,
  unpinned: 2,
  test: 2,
  incomplete: 2,
  "not-anchored": 2,
  "no-document": 2,
  unknown: 1,
  invalid: 1,
} as const;

type CheckDeps = Pick<Deps, "pool" | "clock">;

/** The complete validation, in the worker threads. */
function checksOf({ pool, clock }: CheckDeps): BundleChecks {
  return {
    at: clock.ts(),
    async pdf(pdf, { seals, timestamps }, at) {
      const trust = { trusted: certificatesOf(seals), trustedTimestamp: certificatesOf(timestamps), at };
      const checked = await pool.run("verifyPdf", { pdf, ...trust }).catch((error: unknown) => {
        if (error instanceof TaskTimeout || error instanceof TaskCrashed) return null;
        throw error;
      });
      if (checked === null) return beyondChecking(pdf);
      if (!checked.ok) throw new Error("the file could not be verified");
      return checked.value;
    },
    async token(token, imprint, trusted) {
      const checked = await pool.run("verifyToken", { token, imprint, trusted: certificatesOf(trusted) });
      if (!checked.ok) throw new Error("the token could not be verified");
      return checked.value;
    },
  };
}

/** Of a file that takes longer, or more memory, than any that is sealed here: made to resist, it is not believed. */
const beyondChecking = (pdf: Uint8Array): SealReport => ({
  valid: false,
  sha256: createHash("sha256").update(pdf).digest("hex"),
  size: pdf.length,
  problems: ["too-complex"],
  signatures: [],
  level: null,
  protectedUntil: null,
});

/** Each must be a certificate before a worker takes it for one. @throws TypeError */
function certificatesOf(trusted: readonly Uint8Array[]): Uint8Array[] {
  try {
    return trusted.map((der) => new X509Certificate(der).raw);
  } catch (cause) {
    throw new TypeError("not a certificate", { cause });
  }
}

/**
 * Checks a sealed PDF completely: its seals, and that it stands in a signed anchor.
 * @param pins what is trusted from outside of `source`: without them the verdict is at best `unpinned`
 */
export async function verifyFile(
  deps: CheckDeps,
  bytes: Uint8Array,
  source: EvidenceSource,
  pins: Pins,
): Promise<FileReport & { seals: SealReport }> {
  const checks = checksOf(deps);
  const { authorities } = source;
  const under = { authorities, pins, at: checks.at };
  const { report: seals, pinned: sealsPinned } = await examineUnder(checks.pdf, bytes, under);
  const evidence = await source.lookUp(seals.sha256);
  const certificate = evidence.status === "unknown" ? evidence.certificate : undefined;
  const { leaf, anchor } = certificate ?? evidence;
  const keys = keysUnder(source.keys, pins);
  const record = certificate
    ? verifyCertificate({ ...certificate, sha256: seals.sha256, ...keys })
    : evidence.status === "anchored"
      ? verifyEvidence({ ...evidence, sha256: seals.sha256, ...keys })
      : null;
  const stampers = trustedOf(authorities, pins).timestamps;
  const token = anchor ? [await tokenStep(anchor, stampers, checks.token)] : [];
  const steps = [...(record?.steps ?? [documentStep(evidence, seals.sha256)]), ...token, ...sealSteps(seals)];
  const pinned = (record?.pinned ?? true) && sealsPinned;
  const testMode = leaf?.testMode ?? null;
  const unnamed = steps.some(({ code }) => code === "certificate-unnamed");
  const complete = anchor === null ? "not-anchored" : unnamed ? "incomplete" : "valid";
  const holding = !pinned ? "unpinned" : testMode ? "test" : complete;
  const tooComplex = seals.problems.includes("too-complex");
  const wrong = leaf === null && !tooComplex ? "unknown" : "invalid";
  const verdict = steps.some(({ ok }) => ok === false) ? wrong : holding;
  // Entries of the first versions name no certificate: then nothing but the server's word ties this file to the envelope.
  const isNamed = steps.some(({ name, ok }) => name === "certificate" && ok === true);
  const certificateOf = certificate && isNamed ? certifiedBy(certificate) : null;
  const about = { sha256: seals.sha256, size: bytes.length, certificateOf, unproven: [] };
  return { ...judged(verdict, steps), ...about, seals, testMode, evidence };
}

const certifiedBy = ({ leaf }: { leaf: Leaf }) => ({ envelope: leaf.envelope, documentSha256: leaf.documentSha256 });

function documentStep(evidence: Known, own: string): Step {
  const stated = evidence.leaf?.documentSha256;
  const code = stated === undefined ? "document-unknown" : stated === own ? "document-fits" : "document-differs";
  return stepOf("document", { ok: stated === own, code, bytes: [{ label: "sha256-file", value: own }] });
}

/** What follows from the steps: the causes are theirs, by the closest name. */
function judged(verdict: FileVerdict, checked: readonly Step[]) {
  const steps = checked.map((step) => saidStep(evidenceWords(), step));
  const wrong = steps.filter(({ ok }) => ok === false);
  const causes = wrong.flatMap(({ code, values }) => (values.problems?.length ? [...values.problems] : [code]));
  return {
    verdict,
    exitCode: exitCodes[verdict],
    steps,
    causes: [...new Set<string>(causes)],
    problems: wrong.map(({ detail }) => detail),
  };
}

const largestBundle = 1024 * 1024 * 1024;

/**
 * Checks an evidence bundle and everything in it, without a server.
 * @param held the file that somebody has; without it the one of the bundle
 * @throws ZipError when the archive cannot be read
 */
export async function verifyBundle(
  deps: CheckDeps,
  archive: Uint8Array,
  pins: Pins,
  held?: Uint8Array,
): Promise<FileReport> {
  const files = await readZip(archive, async (bytes, size) =>
    inflateRawSync(bytes, { maxOutputLength: Math.min(size + 1, largestBundle) }),
  );
  const report = await checkBundle(files, pins, checksOf(deps), held);
  const { verdict, steps, evidence, document, certificateOf, unproven, testMode } = report;
  return {
    ...judged(verdict, steps),
    sha256: document?.sha256 ?? null,
    size: document?.size ?? null,
    certificateOf,
    unproven,
    seals: document?.seals ?? null,
    testMode: evidence && testMode,
    evidence: evidence && {
      status: "anchored",
      sha256: evidence.leaf.documentSha256,
      envelope: null,
      leaf: evidence.leaf,
      proof: evidence.proof,
      anchor: evidence.anchor,
    },
  };
}

/** The data folder at hand: its own keys are trusted. */
export async function ownEvidence(deps: Deps): Promise<{ source: EvidenceSource; pins: Pins }> {
  const [keys, pems] = await Promise.all([publicAnchorKeys(deps.db.read), authorities(deps.db.read)]);
  const own = { seals: pems.seals.map(derOf), timestamps: pems.timestamps.map(derOf) };
  const prints = (list: readonly Uint8Array[]) => list.map((der) => toHex(sha256(der)));
  return {
    source: { lookUp: (sha256: string) => lookUpDocument(deps, sha256), keys, authorities: own },
    pins: { kids: [], keys, certificates: prints(own.seals), timestamps: prints(own.timestamps) },
  };
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
  const listed = async (path: string) => certificatesIn(await text(`/.well-known/svc/${path}`));
  const authorities = {
    seals: await listed("certificates.pem"),
    timestamps: await listed("timestamp-certificates.pem"),
  };
  return {
    lookUp: async (sha256) => VerifyResult.parse(JSON.parse(await text("/v1/public/verify", { sha256 }))),
    keys,
    authorities,
  };
}
