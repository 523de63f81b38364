import { checkpointStep, witnessSteps } from "../../../../server/features/evidence/anchors/checkpoint-check.ts";
import { pemsIn } from "../../../../server/features/evidence/bundle/read.ts";
import { verifyCertificate } from "../../../../server/features/evidence/certificate-check.ts";
import {
  type CertificateMatch,
  getCheckpoint,
  getWitnesses,
  type VerifyResult,
  verifyDocument,
} from "../../../../server/features/evidence/contract.ts";
import { type Authorities, sealSteps } from "../../../../server/features/evidence/seal-steps.ts";
import { type Step, stepOf, verifyEvidence } from "../../../../server/features/evidence/verify.ts";
import { getAnchorKeys, getCertificates, getTimestampCertificates } from "../../../../server/features/keys/contract.ts";
import type { SealReport } from "../../../../workers/seal/verify.ts";
import { callEndpoint, ProblemResponse } from "../../../shared/api/client.ts";
import type { FromWorker, ToWorker } from "./verify.worker.ts";

export type Verdict =
  | "anchored"
  | "pending"
  /** Not a sealed document but its certificate of completion: proven; not anchored yet; or named by no audit entry. */
  | "certificate"
  | "certificate-pending"
  | "certificate-unnamed"
  /** The service knows the file, and something does not hold. */
  | "wrong"
  /** Not known, and why: it carries our seal and was changed; it carries somebody else's; none; it is no PDF … */
  | "altered"
  | "elsewhere"
  | "unsealed"
  | "not-pdf"
  | "encrypted"
  | "unreadable"
  | "too-large";
export type Stage = "hashing" | "looking" | "checking";
export type Progress = { stage: Stage; share: number | null };
export type Outcome = {
  verdict: Verdict;
  file: { name: string; size: number; sha256: string };
  result: VerifyResult;
  /** Leaf, path, anchor, signature, key, time stamp: what the public record says. */
  record: Step[];
  /** What the PDF itself carries; null where it could not be looked into. */
  seals: SealReport | null;
  pdf: Step[];
};

/** The file could not be read: it was moved, it is a folder, or access was taken back. */
export class FileUnreadable extends Error {}

/**
 * Hashes the file, looks it up, and checks leaf, proof, anchor, signature, key and the PDF's own seals here.
 * @throws ProblemResponse, NoAnswer, FileUnreadable
 */
export async function checkFile(file: File, onProgress: (progress: Progress) => void): Promise<Outcome> {
  const worker = openWorker((share) => onProgress({ stage: "hashing", share }));
  try {
    onProgress({ stage: "hashing", share: null });
    // All is asked for while the file is hashed, and its seals are looked at while it is looked up; a failure is heard below.
    const published = publishedTrust();
    const examined = published.then(({ trusted }) => worker.examine(trusted, new Date().toISOString()));
    heardLater(published, examined);
    const sha256 = await worker.hash(file);
    onProgress({ stage: "looking", share: null });
    const [result, { keys, trusted }] = await Promise.all([
      callEndpoint(verifyDocument, { body: { sha256 } }),
      published,
    ]);
    onProgress({ stage: "checking", share: null });
    const { anchor } = certificateOf(result) ?? result;
    const [seals, told, token] = await Promise.all([
      examined,
      anchor && toldOf(anchor.sequence),
      anchor && worker.token(anchor, trusted.timestamps),
    ]);
    const record = recordSteps(result, sha256, keys);
    if (anchor && told && token)
      record.push(token, checkpointStep(told.note, { anchor, keys }), ...witnessSteps(told.witnesses));
    const pdf = seals && seals.problems[0] !== "not-a-pdf" ? sealSteps(seals) : [];
    const about = { name: file.name, size: file.size, sha256 };
    return { verdict: verdictOf(result, [...record, ...pdf], seals), file: about, result, record, seals, pdf };
  } finally {
    worker.close();
  }
}

function heardLater(...promises: readonly Promise<unknown>[]): void {
  for (const promise of promises) promise.catch(() => undefined);
}

/** The anchor as others were told it, and who took it. */
async function toldOf(sequence: number) {
  const params = { sequence: String(sequence) };
  const [note, witnesses] = await Promise.all([
    callEndpoint(getCheckpoint, { params }).catch((error: unknown) => {
      // Anchors of the first versions have none.
      if (error instanceof ProblemResponse && error.problem.code === "not-found") return null;
      throw error;
    }),
    callEndpoint(getWitnesses, { params }),
  ]);
  return { note: note && new TextDecoder().decode(note.bytes), witnesses };
}

async function publishedTrust() {
  const [{ keys }, seals, timestamps] = await Promise.all([
    callEndpoint(getAnchorKeys, {}),
    callEndpoint(getCertificates, {}),
    callEndpoint(getTimestampCertificates, {}),
  ]);
  const read = ({ bytes }: { bytes: Uint8Array }) => pemsIn(new TextDecoder().decode(bytes));
  return { keys, trusted: { seals: read(seals), timestamps: read(timestamps) } };
}

type Keys = Awaited<ReturnType<typeof publishedTrust>>["keys"];

/** What is known of the file as a certificate of completion; undefined when it is none, or the document itself. */
export const certificateOf = (result: VerifyResult): CertificateMatch | undefined =>
  result.status === "unknown" ? result.certificate : undefined;

function recordSteps(result: VerifyResult, sha256: string, keys: Keys): Step[] {
  const certificate = certificateOf(result);
  if (certificate) return verifyCertificate({ ...certificate, sha256, keys }).steps;
  if (result.status === "unknown") return [];
  const { leaf, proof, anchor } = result;
  if (proof && anchor) return verifyEvidence({ sha256, leaf, proof, anchor, keys }).steps;
  const ok = leaf.documentSha256 === sha256;
  const bytes = [{ label: "sha256-file", value: sha256 }];
  return [stepOf("document", { ok, code: ok ? "document-fits" : "document-differs", bytes })];
}

function verdictOf(result: VerifyResult, steps: readonly Step[], seals: SealReport | null): Verdict {
  const { status } = result;
  const certificate = certificateOf(result);
  if ((status !== "unknown" || certificate) && steps.some(({ ok }) => ok === false)) return "wrong";
  if (steps.some(({ code }) => code === "certificate-unnamed")) return "certificate-unnamed";
  if (certificate) return certificate.status === "anchored" ? "certificate" : "certificate-pending";
  if (status !== "unknown") return status;
  if (!seals) return "too-large";
  if (seals.problems.includes("not-a-pdf")) return "not-pdf";
  if (seals.problems.includes("damaged") || seals.problems.includes("too-complex")) return "unreadable";
  // A seal under this installation's authority over other bytes: the file was changed behind it, or within.
  const ours = seals.signatures.some(({ kind, problems }) => kind === "seal" && !problems.includes("untrusted"));
  if (ours) return "altered";
  if (seals.problems.includes("encrypted")) return "encrypted";
  return seals.signatures.length > 0 ? "elsewhere" : "unsealed";
}

const startWorker = () => new Worker(new URL("./verify.worker.ts", import.meta.url), { type: "module" });
/** Started before there is a file, so that nobody waits for it; one for each file, so that its memory ends with it. */
let spare = startWorker();

function openWorker(onShare: (share: number) => void) {
  const worker = spare;
  // Each is asked for once, several at a time.
  const waiting = new Map<FromWorker["kind"], (data: FromWorker) => void>();
  const failing = new Set<(error: Error) => void>();
  const fail = (error: Error) => {
    for (const reject of failing) reject(error);
  };
  worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
    if (data.kind === "progress") onShare(data.share);
    else if (data.kind === "failed") fail(new FileUnreadable(data.message));
    else waiting.get(data.kind)?.(data);
  };
  worker.onerror = (event) => fail(new Error(event.message));
  const ask = <K extends FromWorker["kind"]>(message: ToWorker, kind: K) =>
    new Promise<Extract<FromWorker, { kind: K }>>((resolve, reject) => {
      const isAnswer = (data: FromWorker): data is Extract<FromWorker, { kind: K }> => data.kind === kind;
      waiting.set(kind, (data) => {
        if (isAnswer(data)) resolve(data);
      });
      failing.add(reject);
      worker.postMessage(message);
    });
  return {
    hash: async (file: File) => (await ask({ kind: "hash", file }, "hashed")).sha256,
    examine: async (trusted: Authorities, at: string) =>
      (await ask({ kind: "examine", trusted, at }, "examined")).seals,
    token: async (anchor: NonNullable<VerifyResult["anchor"]>, trusted: readonly Uint8Array[]) =>
      (await ask({ kind: "token", anchor, trusted }, "token")).step,
    close: () => {
      worker.terminate();
      spare = startWorker();
    },
  };
}
