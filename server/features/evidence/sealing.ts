import type {
  CertificateData,
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
import { type EnvelopeRecord, loadEnvelope, markSealed } from "../envelopes/progress.ts";
import { type CertifiedSigner, rememberTimestampAnchor, sealSigner } from "../keys/service.ts";
import { ensureRevisions } from "../signing/service.ts";
import { scheduleAnchor } from "./anchoring.ts";
import { certificateData } from "./certificate-data.ts";
import { tellCompleted } from "./completion.ts";
import { appendLeaf } from "./tree.ts";
import { type TimeSource, timeSources, trustedRoot } from "./tsa.ts";

const level = "B-T";

/** A worker said why it cannot. */
class SealFailure extends Error {
  readonly code: string;
  constructor(task: string, code: string, message: string) {
    super(`${task}: ${code}: ${message}`);
    this.name = "SealFailure";
    this.code = code;
  }
}

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
  const sealed = await sealWithFirst(deps, await timeSources(deps), { record, about, signer, signal });
  const [document, certificate] = await Promise.all([
    deps.blobs.put(sealed.document.parts),
    deps.blobs.put(sealed.certificate.parts),
  ]);
  const foreign = foreignAnchors(deps, sealed);
  deps.metrics.sealSeconds.observe((performance.now() - begun) / 1000);
  return async (tx) => {
    const files = { sealedSha256: document.sha256, certificateSha256: certificate.sha256 };
    const { auditHash } = await markSealed(tx, deps, { envelope: id, ...files, level, sealedAt: sealed.at });
    await appendLeaf(tx, {
      v: 1,
      type: "svc.leaf",
      envelope: id,
      documentSha256: document.sha256,
      auditHash,
      sealedAt: sealed.at,
      testMode: record.envelope.test_mode === 1,
    });
    for (const anchor of foreign) await rememberTimestampAnchor(tx, deps, anchor);
    await tellCompleted(tx, deps, record, files);
    await scheduleAnchor(tx, deps);
    countSeal(tx, deps, "sealed");
  };
}

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
type Sealed = { parts: readonly [Uint8Array, Uint8Array]; timestamp: SealTimestamp | null };
type SealedPair = { document: Sealed; certificate: Sealed; at: Ts; internal: boolean };

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
  const run = async <N extends TaskName>(
    task: N,
    input: Tasks[N]["input"],
    ports?: TaskPorts,
  ): Promise<Tasks[N]["output"]> =>
    outputOf(task, await deps.pool.run(task, input, { signal, ...(ports && { ports }) }));
  const seal = async (pdf: Uint8Array, pages: Uint8Array | null, reason: string): Promise<Sealed> => {
    const { tail, timestamp } = await run(
      "seal",
      {
        pdf,
        pages,
        certificates: signer.certificates,
        key: signer.kind,
        at,
        name: about.organization,
        reason,
        location: null,
        level,
        // Unique in the file: nobody else can have known it.
        fieldName: `Seal ${record.envelope.id}`,
        timestamp: source.next(),
      },
      {
        sign: (bytes) => signer.sign(bytes),
        signTimestamp: (bytes) => source.signTimestamp(bytes),
        timestampTime: (imprint) => source.timestampTime(imprint),
        requestTimestamp: (request) => source.requestTimestamp(request),
      },
    );
    return { parts: [pdf, tail], timestamp };
  };
  const pages = await run("certificate", {
    ...about,
    seal: {
      certificateSha256: signer.certificateSha256,
      subject: signer.subject,
      level,
      timestampAuthority: source.label,
      internalTime: source.internal,
    },
  });
  const original = await deps.blobs.get(newestRevision(record));
  const [document, certificate] = await Promise.all([
    seal(original, pages.pdf, "All parties have signed this document"),
    seal(pages.pdf, null, "Certificate of completion"),
  ]);
  return { document, certificate, at, internal: source.internal };
}

function outputOf<N extends TaskName>(task: N, result: TaskResult<N>): Tasks[N]["output"] {
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
  const fingerprints = [sealed.document, sealed.certificate].map(({ timestamp }) => timestamp?.anchorSha256 ?? null);
  return [...new Set(fingerprints)].flatMap((sha256) => {
    const root = sha256 === null ? undefined : trustedRoot(deps.config, sha256);
    return root === undefined ? [] : [root];
  });
}
