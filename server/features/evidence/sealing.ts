import { createHash, X509Certificate } from "node:crypto";
import type {
  CertificateData,
  CertificateSeal,
  SealLevel,
  SealTimestamp,
  TaskName,
  TaskPorts,
  TaskResult,
  Tasks,
} from "../../../workers/protocol.ts";
import type { Ts } from "../../kernel/clock.ts";
import type { Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { Commit } from "../../kernel/job-runner.ts";
import { type EnvelopeRecord, loadEnvelope, markSealed } from "../envelopes/service.ts";
import { type CertifiedSigner, rememberTimestampAnchor, sealSigner } from "../keys/service.ts";
import { ensureRevisions, submissionsOf } from "../signing/service.ts";
import { scheduleAnchor } from "./anchors/signing.ts";
import { appendLeaf } from "./anchors/tree.ts";
import { certificateData } from "./certificate-data.ts";
import { tellCompleted } from "./completion.ts";
import { revocationList } from "./revocation.ts";
import { type TimeSource, timeSources, trustedRoot } from "./tsa.ts";
import { keepUp } from "./upkeep.ts";

/** What an envelope may be sealed with. */
type Level = Exclude<SealLevel, "B-B">;

/** A worker said why it cannot. */
export class SealFailure extends Error {
  readonly code: string;
  constructor(task: string, code: string, message: string) {
    super(`${task}: ${code}: ${message}`);
    this.name = "SealFailure";
    this.code = code;
  }
}

const inTheDocument = new Set(["damaged", "too-complex", "page-out-of-range", "bad-image", "missing-font"]);

/** Whether the cause lies in what is to be sealed. Keys, certificates and authorities can be put right while the seal waits. */
export const isInDocument = ({ code }: SealFailure): boolean => inTheDocument.has(code);

/**
 * Seals a completed envelope: certificate pages, PAdES signature with its time stamp, and the standalone certificate,
 * always from the stored bytes. Repeating it before the commit leaves nothing but a file that nobody names.
 * @returns what to commit; undefined when the envelope does not wait for its seal
 * @throws SealFailure, and what pool, blobs and keys throw: the seal stays pending and is tried again
 */
export async function sealCompleted(deps: Deps, id: string, signal: AbortSignal): Promise<Commit | undefined> {
  const begun = performance.now();
  const waiting = await loadEnvelope(deps.db.read, id);
  if (!isPending(waiting)) return undefined;
  await ensureRevisions(deps, id);
  const record = await loadEnvelope(deps.db.read, id);
  if (!isPending(record)) return undefined;
  const signer = await sealSigner(deps);
  const about = await certificateData(deps, record);
  const submitted = (await submissionsOf(deps.db.read, id)).flatMap((one) => one.attachments);
  const attachments = submitted.map((one) => one.id);
  const sealed = await sealWithFirst(deps, await timeSources(deps), { record, about, signer, signal });
  const foreign = foreignAnchors(deps, sealed);
  deps.metrics.sealSeconds.observe((performance.now() - begun) / 1000);
  return async (tx) => {
    const { files } = sealed;
    const level = lower(sealed.document.level, sealed.certificate.level);
    const made = { envelope: id, ...files, attachments, level, sealedAt: sealed.at };
    const { auditHash } = await markSealed(tx, deps, made);
    await appendLeaf(tx, {
      v: 1,
      type: "svc.leaf",
      envelope: id,
      documentSha256: files.sealedSha256,
      auditHash,
      sealedAt: sealed.at,
      testMode: record.envelope.test_mode === 1,
    });
    for (const anchor of foreign) await rememberTimestampAnchor(tx, deps, anchor);
    await tellCompleted(tx, deps, record, files);
    await scheduleAnchor(tx, deps);
    await keepUp(tx, deps, { envelope: id, level, validUntil: earliest([sealed.document, sealed.certificate]) });
    countSeal(tx, deps, "sealed");
  };
}

/** The key as the certificate names it. */
function sealOf({ certificates: [own], certificateSha256, subject }: CertifiedSigner) {
  if (!own) throw new Error("the seal key has no certificate");
  const publicKey = new X509Certificate(own).publicKey.export({ type: "spki", format: "der" });
  return { certificateSha256, subject, keySha256: createHash("sha256").update(publicKey).digest("hex") };
}

const authorityOf = ({ label, internal }: TimeSource) => ({ authority: label, internalTime: internal });

/** Counts once the outcome is durable. */
export function countSeal(tx: Tx, deps: Deps, outcome: "sealed" | "failed"): void {
  deps.db.afterCommit(tx, () => deps.metrics.seals.inc({ outcome }));
}

function isPending(record: EnvelopeRecord | undefined): record is EnvelopeRecord {
  return record?.envelope.seal === "pending";
}

type SealJob = {
  record: EnvelopeRecord;
  about: Omit<CertificateData, "seal">;
  signer: CertifiedSigner;
  signal: AbortSignal;
};
/** The file as it was and what the seal appends. */
type Sealed = {
  parts: readonly [Uint8Array, Uint8Array];
  level: Level;
  timestamp: SealTimestamp | null;
  /** The document timestamp. */
  archive: SealTimestamp | null;
  protectedUntil: string | null;
};
type SealedPair = {
  document: Sealed;
  certificate: Sealed;
  /** Both are stored, and nobody names them yet. */
  files: { sealedSha256: string; certificateSha256: string };
  at: Ts;
  internal: boolean;
};

/** The certificate names its source of time, so that everything is done again with the next one when a source refuses. */
async function sealWithFirst(deps: Deps, sources: readonly TimeSource[], job: SealJob): Promise<SealedPair> {
  let refusal: SealFailure | undefined;
  for (const source of sources) {
    try {
      return await sealWith(deps, source, job);
    } catch (error) {
      if (!(error instanceof SealFailure) || error.code !== "timestamp-refused") throw error;
      refusal = error;
      deps.log.warn({ authority: source.label, reason: error.message }, "a time-stamping authority gave no time stamp");
    }
  }
  throw refusal ?? new Error("there is no time-stamping authority");
}

async function sealWith(deps: Deps, source: TimeSource, job: SealJob): Promise<SealedPair> {
  const { record, about, signer, signal } = job;
  const at = deps.clock.ts();
  const goal = deps.config.sealLevel;
  const seal = async (pdf: Uint8Array, pages: Uint8Array | null, reason: string): Promise<Sealed> => {
    const made = await deps.pool.run(
      "seal",
      {
        pdf,
        pages,
        certificates: signer.certificates,
        key: signer.kind,
        privateKey: signer.privateKey,
        at,
        name: about.organization,
        reason,
        location: null,
        level: goal,
        // Unique in the file: nobody else can have known it.
        fieldName: `Seal ${record.envelope.id}`,
        timestamp: source.next(),
        archive: goal === "B-LTA" ? source.next() : null,
      },
      { signal, ports: sealPorts(deps, source, (bytes) => signer.sign(bytes)) },
    );
    const { tail, timestamp, archive, level, shortfall, protectedUntil } = outputOf("seal", made);
    if (level === "B-B") throw new Error("a seal needs a time stamp");
    if (shortfall !== null)
      deps.log.warn({ envelope: record.envelope.id, level, goal, reason: shortfall }, "a seal is to be raised later");
    return { parts: [pdf, tail], timestamp, archive, level, protectedUntil };
  };
  const typeset = async (made: CertificateSeal["made"]) => {
    const seal = { ...sealOf(signer), goal, ...authorityOf(source), beganAt: at, made };
    return outputOf("certificate", await deps.pool.run("certificate", { ...about, seal }, { signal }));
  };
  const [pages, original] = await Promise.all([typeset(null), deps.blobs.get(newestRevision(record))]);
  const document = await seal(original, pages.pdf, "All parties have signed this document");
  const { sha256: sealedSha256 } = await deps.blobs.put(document.parts);
  // The standalone certificate can say what became of the seal, which pages under it cannot.
  const standalone = await typeset({
    level: document.level,
    documentSha256: sealedSha256,
    stampedAt: document.timestamp?.at ?? null,
    archivedAt: document.archive?.at ?? null,
  });
  const certificate = await seal(standalone.pdf, null, "Certificate of completion");
  const { sha256: certificateSha256 } = await deps.blobs.put(certificate.parts);
  return { document, certificate, files: { sealedSha256, certificateSha256 }, at, internal: source.internal };
}

const levels: readonly Level[] = ["B-T", "B-LT", "B-LTA"];
/** An envelope is sealed as well as the weaker of its two files. */
export const lower = (a: Level, b: Level): Level => (levels.indexOf(a) <= levels.indexOf(b) ? a : b);

/** When the first of the document timestamps loses its certificate; null when a file has none. */
export function earliest(files: readonly { protectedUntil: Ts | null }[]): Ts | null {
  const ends = files.map(({ protectedUntil }) => protectedUntil);
  return ends.reduce((a, b) => (a === null || b === null ? null : a < b ? a : b));
}

/** Keys and network for a worker that seals or extends. */
export function sealPorts(deps: Deps, source: TimeSource, sign: TaskPorts["sign"]): TaskPorts {
  return {
    sign,
    signTimestamp: (bytes) => source.signTimestamp(bytes),
    timestampTime: (imprint) => source.timestampTime(imprint),
    requestTimestamp: (request) => source.requestTimestamp(request),
    revocationList: (ask) => revocationList(deps, ask),
  };
}

export function outputOf<N extends TaskName>(task: N, result: TaskResult<N>): Tasks[N]["output"] {
  if (result.ok) return result.value;
  throw new SealFailure(task, result.error.code, result.error.message);
}

/** @throws Error while a submission is not drawn */
function newestRevision({ envelope, recipients, revisions }: EnvelopeRecord): string {
  const newest = revisions.at(-1);
  const submissions = recipients.filter(({ status }) => status === "completed").length;
  if (!newest || newest.number !== submissions) throw new Error(`${envelope.id} lacks the revision of a submission`);
  return newest.sha256;
}

/** Roots of outside authorities that the new time stamps lead to. */
function foreignAnchors(deps: Deps, sealed: SealedPair): Uint8Array[] {
  if (sealed.internal) return [];
  return rootsOf(
    deps,
    [sealed.document, sealed.certificate].flatMap(({ timestamp, archive }) => [timestamp, archive]),
  );
}

/** The trusted roots that these time stamps lead to. */
export function rootsOf(deps: Deps, stamps: readonly (SealTimestamp | null)[]): Uint8Array[] {
  const fingerprints = stamps.map((stamp) => stamp?.anchorSha256 ?? null);
  return [...new Set(fingerprints)].flatMap((sha256) => {
    const root = sha256 === null ? undefined : trustedRoot(deps.config, sha256);
    return root === undefined ? [] : [root];
  });
}
