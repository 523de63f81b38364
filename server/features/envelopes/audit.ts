import type { Ts } from "../../kernel/clock.ts";
import type { Reader, Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { newId } from "../../kernel/ids.ts";
import { once } from "../../kernel/once.ts";
import type { AuditEntry, AuditVerification } from "./audit-contract.ts";
import {
  findCertificateEntry,
  findSealEntryOf,
  insertEntries,
  listChainEnds,
  moveChainEnd,
  readChain,
  readChainEnd,
  readEntries,
} from "./audit-store.ts";
import { type AuditDraft, type ChainEnd, checkChain, extendChain } from "./chain.ts";
import type { Noted } from "./observers.ts";
import { type EnvelopeRecord, readEnvelope } from "./store.ts";

/**
 * Appends to an envelope's audit chain, without reading it: the envelope's row says where it ends.
 * @throws when the envelope does not exist
 */
export async function appendAudit(
  tx: Tx,
  deps: Deps,
  envelope: string,
  drafts: readonly AuditDraft[],
): Promise<AuditEntry[]> {
  const end = await readChainEnd(tx, envelope);
  if (end === undefined) throw new Error(`there is no envelope ${envelope} to write an audit entry for`);
  const extended = draftEntries(envelope, end, deps.clock.ts(), drafts);
  if (!(await moveChainEnd(tx, envelope, end, extended.end))) throw new Error(`the audit chain of ${envelope} moved`);
  const read = once(() => recordOf(tx, envelope));
  await storeEntries(tx, deps, { envelope, entries: extended.entries, beside: { notify: true }, record: read });
  return extended.entries;
}

/** The entries that these drafts become behind `end`; the caller stores them and moves the end with its own update. */
export function draftEntries(
  envelope: string,
  end: ChainEnd,
  at: Ts,
  drafts: readonly AuditDraft[],
): { entries: AuditEntry[]; end: ChainEnd } {
  return extendChain(
    envelope,
    end,
    at,
    drafts.map((draft) => ({ ...draft, id: newId("evt") })),
  );
}

async function recordOf(tx: Tx, envelope: string): Promise<EnvelopeRecord> {
  const record = await readEnvelope(tx, envelope);
  if (record === undefined) throw new Error(`there is no envelope ${envelope}`);
  return record;
}

/** Stores entries, passes them to the observers, and wakes the followers of the envelope once they are durable. */
export async function storeEntries(tx: Tx, deps: Deps, noted: Noted): Promise<void> {
  if (noted.entries.length > 0) {
    await insertEntries(tx, noted.entries);
    for (const hear of (await deps.observers()).audit) await hear(tx, deps, noted);
  }
  announceEnvelope(tx, deps, noted.envelope);
}

/** Wakes whoever follows the envelope, or all of an organization's, once this transaction is durable. */
export function announceEnvelope(tx: Tx, deps: Deps, envelope: string): void {
  deps.db.afterCommit(tx, () => {
    deps.events.publish(envelopeTopic(envelope));
    deps.events.publish(changesTopic);
  });
}

/** Topic of `deps.events` that is published after every change of an envelope. */
export const envelopeTopic = (envelope: string): string => `envelope:${envelope}`;

/** Topic that is published after every change of any envelope. */
export const changesTopic = "envelopes";

/** All entries, oldest first, and the check of the chain, of one moment. @throws when the envelope does not exist */
export async function auditTrail(
  reader: Reader,
  envelope: string,
  checkedAt: Ts,
): Promise<{ entries: AuditEntry[]; verification: AuditVerification }> {
  const chain = await readChain(reader, envelope);
  if (chain === undefined) throw new Error(`there is no envelope ${envelope}`);
  const { valid, length, headHash, brokenAtSeq } = checkChain(chain.entries, chain.end);
  const verification = { valid, algorithm: "sha256-jcs-v1" as const, length, headHash, brokenAtSeq, checkedAt };
  return { entries: chain.entries, verification };
}

/**
 * The entry that names a file as a certificate of completion; for seals of the first versions, whose entries name none, the
 * seal entry of the envelope that keeps the file.
 */
export async function certificateEntry(reader: Reader, certificateSha256: string): Promise<AuditEntry | undefined> {
  return (await findCertificateEntry(reader, certificateSha256)) ?? (await findSealEntryOf(reader, certificateSha256));
}

const chainsAtOnce = 100;
const entriesAtOnce = 500;

/**
 * Every chain of an organization in one mode, page by page, so that memory stays the same however many there are. Each
 * chain is that of one moment: what is written to it later is left out.
 */
export async function* walkChains(
  reader: Reader,
  { organization, testMode }: { organization: string; testMode: boolean },
): AsyncGenerator<{ envelope: string; end: ChainEnd; entries: AsyncGenerator<AuditEntry[]> }> {
  let after = "";
  for (;;) {
    const page = await listChainEnds(reader, { organization, testMode, after, limit: chainsAtOnce });
    for (const { envelope, end } of page) yield { envelope, end, entries: entriesOf(reader, envelope, end.length) };
    const last = page.at(-1);
    if (last === undefined || page.length < chainsAtOnce) return;
    after = last.envelope;
  }
}

async function* entriesOf(reader: Reader, envelope: string, last: number): AsyncGenerator<AuditEntry[]> {
  let after = 0;
  while (after < last) {
    const page = await readEntries(reader, envelope, { after, last, limit: entriesAtOnce });
    const end = page.at(-1);
    // A missing entry is for the reader of the export to see: the head line names another length.
    if (end === undefined) return;
    yield page;
    after = end.seq;
  }
}
