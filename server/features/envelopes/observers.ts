import type { Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { AuditEntry } from "./audit-contract.ts";
import type { EnvelopeRecord } from "./store.ts";

/** Instructions that accompany entries; not stored, because entries are hashed. */
export type Beside = {
  /** False: nobody is told by mail. */
  notify: boolean;
};

/** Entries that an envelope's trail grows by. */
export type Noted = {
  envelope: string;
  entries: readonly AuditEntry[];
  beside: Beside;
  /** The envelope as it is now, with these entries; it is read at most once, for the first who asks. */
  record(): Promise<EnvelopeRecord>;
};

/**
 * Hears of entries inside the transaction that stores them. There it writes rows of its own feature, queues mails and enqueues
 * jobs, nothing else. What it throws undoes the entries.
 */
export type AuditObserver = (tx: Tx, deps: Deps, noted: Noted) => Promise<void>;
