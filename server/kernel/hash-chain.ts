import { createHash } from "node:crypto";
import { canonicalize, type Json } from "./canonical.ts";

/** Records that each name the hash of the one before: none can be changed, taken from the middle or put in later unseen. */

/** `prevHash` of the first one. */
export const chainStart = "0".repeat(64);

type Unhashed = { readonly seq: number; readonly prevHash: string } & { readonly [name: string]: Json };
export type Chained = Unhashed & { readonly hash: string };

/** Where a chain stands; undefined before its first entry. */
export type ChainHead = { seq: number; hash: string } | undefined;

export type ChainReport = { valid: boolean; length: number; headHash: string; brokenAtSeq: number | null };

/** Lower-hex SHA-256 of the RFC 8785 text of an entry without its own hash. */
export const chainHash = (entry: Json): string =>
  createHash("sha256").update(canonicalize(entry), "utf8").digest("hex");

/**
 * Lets an entry follow the head. Read the head and store the entry in one transaction.
 * @throws TypeError for what I-JSON cannot hold
 */
export function follow<E extends { readonly [name: string]: Json }>(
  head: ChainHead,
  content: E,
): E & { seq: number; prevHash: string; hash: string } {
  const entry = { ...content, seq: (head?.seq ?? 0) + 1, prevHash: head?.hash ?? chainStart };
  return { ...entry, hash: chainHash(entry) };
}

/** Walks a chain from its start. What cannot be parsed is the place where it breaks. */
export class ChainWalk {
  #length = 0;
  #head = chainStart;
  #brokenAt: number | null = null;

  get length(): number {
    return this.#length;
  }

  /** @param read gives the next entry as it was hashed @returns whether it follows */
  next(read: () => Chained): boolean {
    if (this.#brokenAt !== null) return false;
    const entry = readable(read);
    if (entry === null || entry.seq !== this.#length + 1 || entry.prevHash !== this.#head) {
      this.#brokenAt = this.#length + 1;
      return false;
    }
    this.#length += 1;
    this.#head = entry.hash;
    return true;
  }

  report(): ChainReport {
    return {
      valid: this.#brokenAt === null,
      length: this.#length,
      headHash: this.#head,
      brokenAtSeq: this.#brokenAt,
    };
  }
}

/** Null for what was not written by us: it does not parse, or does not have its hash. */
function readable(read: () => Chained): Chained | null {
  try {
    const entry = read();
    const { hash, ...rest } = entry;
    return chainHash(rest) === hash ? entry : null;
  } catch {
    return null;
  }
}
