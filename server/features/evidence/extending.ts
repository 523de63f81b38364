import type { SealTimestamp, Tasks } from "../../../workers/protocol.ts";
import type { Ts } from "../../kernel/clock.ts";
import type { Deps } from "../../kernel/deps.ts";
import { type Commit, RetryLater } from "../../kernel/job-runner.ts";
import { derOf } from "../../kernel/pem.ts";
import { type EnvelopeRecord, loadEnvelope, markSealExtended } from "../envelopes/service.ts";
import { authorities, rememberTimestampAnchor } from "../keys/service.ts";
import { scheduleAnchor } from "./anchors/signing.ts";
import { appendLeaf } from "./anchors/tree.ts";
import { earliest, lower, outputOf, rootsOf, SealFailure, sealPorts } from "./sealing.ts";
import * as store from "./store.ts";
import { type TimeSource, timeSources } from "./tsa.ts";
import { keepUp } from "./upkeep.ts";

const dayMs = 24 * 60 * 60 * 1000;
const levels = ["B-T", "B-LT", "B-LTA"] as const;
type Level = (typeof levels)[number];
type Extended = {
  parts: readonly [Uint8Array, Uint8Array];
  level: Level;
  archive: SealTimestamp | null;
  protectedUntil: Ts | null;
};
type Work = {
  record: EnvelopeRecord;
  goal: "B-LT" | "B-LTA";
  /** End of the protection that is to be outlived; null when the seal is to be raised. */
  renew: Ts | null;
  signal: AbortSignal;
};

/**
 * Raises the seal of an envelope to the level of the settings, or adds a document timestamp before the last one ends, in
 * both of its files. Nobody is told by mail. Repeating it before the commit leaves nothing but files that nobody names.
 * @returns what to commit; undefined when the seal is as it should be
 * @throws SealFailure or RetryLater while nothing can be added: it is tried again
 */
export async function extendSealed(deps: Deps, id: string, signal: AbortSignal): Promise<Commit | undefined> {
  const record = await loadEnvelope(deps.db.read, id);
  const work = record && (await dueWork(deps, record, signal));
  if (!work || !record) return undefined;
  const { sealed_sha256: before, certificate_sha256: standalone, sealed_at: sealedAt } = record.envelope;
  if (before === null || standalone === null || sealedAt === null) return undefined;
  const files = [await deps.blobs.get(before), await deps.blobs.get(standalone)] as const;
  const { document, certificate, foreign } = await extendWithFirst(deps, files, work);
  const stored = await Promise.all([deps.blobs.put(document.parts), deps.blobs.put(certificate.parts)]);
  const level = lower(document.level, certificate.level);
  const validUntil = earliest([document, certificate]);
  return async (tx) => {
    // Another extension was faster: what it made counts, also when it brought only the certificate further.
    const now = await loadEnvelope(tx, id);
    if (now?.envelope.certificate_sha256 !== standalone) return;
    const [{ sha256: sealedSha256 }, { sha256: certificateSha256 }] = stored;
    const extended = { before, sealedSha256, certificateSha256, level };
    const auditHash = await markSealExtended(tx, deps, now, extended);
    if (auditHash === undefined) return;
    await appendLeaf(tx, {
      v: 1,
      type: "svc.leaf",
      envelope: id,
      documentSha256: sealedSha256,
      auditHash,
      sealedAt,
      testMode: record.envelope.test_mode === 1,
    });
    for (const anchor of foreign) await rememberTimestampAnchor(tx, deps, anchor);
    await scheduleAnchor(tx, deps);
    await keepUp(tx, deps, { envelope: id, level, validUntil });
  };
}

async function dueWork(deps: Deps, record: EnvelopeRecord, signal: AbortSignal): Promise<Work | undefined> {
  const { id, seal, seal_level: level, documents_deleted_at: deleted } = record.envelope;
  const goal = deps.config.sealLevel;
  if (seal !== "sealed" || level === null || deleted !== null) return undefined;
  if (level === "B-LTA") {
    // The sweep has moved the term on by a day when it queued this.
    const term = await store.findSealTerm(deps.db.read, id);
    const due = term !== undefined && Date.parse(term.renew_at) <= deps.clock.now() + dayMs;
    return due ? { record, goal: "B-LTA", renew: term.valid_until, signal } : undefined;
  }
  if (goal === "B-T" || levels.indexOf(level) >= levels.indexOf(goal)) return undefined;
  return { record, goal, renew: null, signal };
}

type Pair = { document: Extended; certificate: Extended; foreign: Uint8Array[] };

/** The first source of time that brings both files further. */
async function extendWithFirst(deps: Deps, files: readonly [Uint8Array, Uint8Array], work: Work): Promise<Pair> {
  let refusal: Error | undefined;
  let best: Pair | undefined;
  for (const source of await timeSources(deps)) {
    try {
      const [document, certificate] = await Promise.all(files.map((pdf) => extendWith(deps, source, pdf, work)));
      if (!document || !certificate) throw new Error("two files were given");
      const foreign = source.internal ? [] : rootsOf(deps, [document.archive, certificate.archive]);
      const pair = { document, certificate, foreign };
      if (lower(document.level, certificate.level) === work.goal) return pair;
      best ??= pair;
    } catch (error) {
      if (!(error instanceof SealFailure || error instanceof RetryLater)) throw error;
      refusal = error;
    }
    deps.log.warn(
      { envelope: work.record.envelope.id, authority: source.label },
      "a seal could not be brought further",
    );
  }
  const reached = best && lower(best.document.level, best.certificate.level);
  const level = work.record.envelope.seal_level;
  if (best && reached && level && levels.indexOf(reached) > levels.indexOf(level)) return best;
  throw refusal ?? new SealFailure("extend", "seal-delayed", `the seal stays at ${level}`);
}

/** @throws RetryLater when the new timestamp would end no later than the one that it is to outlive */
async function extendWith(deps: Deps, source: TimeSource, pdf: Uint8Array, work: Work): Promise<Extended> {
  const { seals, timestamps } = await authorities(deps.db.read);
  const input: Tasks["extend"]["input"] = {
    pdf,
    trusted: seals.map(derOf),
    trustedTimestamp: timestamps.map(derOf),
    goal: work.goal,
    renew: work.renew !== null,
    archive: source.next(),
    at: deps.clock.ts(),
  };
  const ports = sealPorts(deps, source, () => Promise.reject(new Error("nothing is signed by an extension")));
  const result = await deps.pool.run("extend", input, { signal: work.signal, ports });
  const { tail, level, shortfall, archive, protectedUntil } = outputOf("extend", result);
  if (level === "B-B") throw new Error("a sealed file has a time stamp");
  if (work.renew !== null) {
    if (archive === null) throw new SealFailure("extend", "timestamp-refused", shortfall ?? "no time stamp");
    // ISO 8601 in UTC sorts as text.
    if ((protectedUntil ?? "") <= work.renew) throw new RetryLater("the authority's certificate ends no later", dayMs);
  }
  return { parts: [pdf, tail], level, archive, protectedUntil };
}
