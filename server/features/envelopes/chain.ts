import type { Json } from "../../kernel/canonical.ts";
import type { Ts } from "../../kernel/clock.ts";
import { chainHash, chainStart } from "../../kernel/hash-chain.ts";
import type { Actor } from "../../kernel/wire.ts";
import type { AuditEntry, AuditType } from "./audit-contract.ts";

/** What an entry says, before it takes its place in the chain. */
export type AuditDraft = {
  type: AuditType;
  actor: Actor;
  ip?: string | null;
  userAgent?: string | null;
  /** Whole numbers only: the canonical text of a fraction is a trap for other implementations. */
  data?: Readonly<Record<string, Json>>;
};

/** Where a chain ends: `head` is the hash of entry `length`; `at` is its time, where it matters. */
export type ChainEnd = { length: number; head: string; at?: Ts | null };

/** Lower-hex SHA-256 of the RFC 8785 text of the entry without its own hash (sha256-jcs-v1). */
export function entryHash(entry: Omit<AuditEntry, "hash">): string {
  const { v, envelope, seq, id, type, at, actor, ip, userAgent, data, prevHash } = entry;
  return chainHash({ v, envelope, seq, id, type, at, actor, ip, userAgent, data, prevHash });
}

/**
 * Lets drafts follow the end of the chain; pure, so the caller decides when they are stored. None is dated
 * before its predecessor, wherever the clock was set to.
 */
export function extendChain(
  envelope: string,
  end: ChainEnd,
  at: Ts,
  drafts: readonly (AuditDraft & { id: string })[],
): { entries: AuditEntry[]; end: ChainEnd } {
  let { length, head } = end;
  const dated = end.at && end.at > at ? end.at : at;
  const entries = drafts.map((draft) => {
    const entry = {
      v: 1 as const,
      envelope,
      seq: length + 1,
      id: draft.id,
      type: draft.type,
      at: dated,
      actor: draft.actor,
      ip: draft.ip ?? null,
      userAgent: draft.userAgent ?? null,
      data: { ...draft.data },
      prevHash: head,
    };
    const hash = entryHash(entry);
    length += 1;
    head = hash;
    return { ...entry, hash };
  });
  return { entries, end: { length, head } };
}

/**
 * Checks a whole chain, entries in order of `seq`.
 * @param end where the envelope's row says that the chain ends; a chain cut short is found only with it
 * @returns `brokenAtSeq`: the first entry that does not fit, or the first one missing
 */
export function checkChain(
  entries: readonly AuditEntry[],
  end?: ChainEnd,
): { valid: boolean; length: number; headHash: string; brokenAtSeq: number | null } {
  let head = chainStart;
  for (const [index, entry] of entries.entries()) {
    if (entry.seq !== index + 1 || entry.prevHash !== head || !hashFits(entry)) {
      return {
        valid: false,
        length: entries.length,
        headHash: entries.at(-1)?.hash ?? chainStart,
        brokenAtSeq: index + 1,
      };
    }
    head = entry.hash;
  }
  const short = end !== undefined && (end.length !== entries.length || end.head !== head);
  const brokenAtSeq = short ? Math.min(end.length, entries.length) + (end.length === entries.length ? 0 : 1) : null;
  return { valid: !short, length: entries.length, headHash: head, brokenAtSeq };
}

function hashFits(entry: AuditEntry): boolean {
  try {
    return entryHash(entry) === entry.hash;
  } catch {
    // A stored value that is not I-JSON any more was not written by us.
    return false;
  }
}
