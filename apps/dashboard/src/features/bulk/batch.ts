import { z } from "zod";

/**
 * What is remembered of a batch, so that the same file goes on where it stopped: no content and no addresses, only the
 * identity of the batch, how its columns were read, and which rows have their envelope.
 */

const Batch = z.object({
  v: z.literal(1),
  id: z.string(),
  /** What the file was called, for whoever comes back to it. */
  name: z.string(),
  /** SHA-256 of its headers: a corrected file has the same. */
  headers: z.string(),
  templateVersion: z.int(),
  mapping: z.array(z.string().nullable()),
  decimal: z.enum([".", ","]),
  startedAt: z.number(),
  /** Envelope by row number. */
  sent: z.record(z.string(), z.string()),
  /** Fingerprint of what was sent, by row number. */
  contents: z.record(z.string(), z.string()),
  /** How often a row was refused for good, by row number: a further try is a new request. */
  refused: z.record(z.string(), z.int()),
});
export type Batch = z.infer<typeof Batch>;

/** How long the service recognises a repeated request (specification, Idempotency). */
export const recognisedMs = 24 * 3_600_000;
const keptMs = 7 * recognisedMs;
const prefix = "signet.bulk.";

/** Where the batches of an organization, mode and template are kept; the hash of the file follows. */
export function batchesPlace(parts: { organization: string; testMode: boolean; template: string }): string {
  return `${prefix}${parts.organization}.${parts.testMode ? "test" : "live"}.${parts.template}.`;
}

export function newBatch(
  reading: Pick<Batch, "name" | "headers" | "templateVersion" | "mapping" | "decimal">,
  now: number,
): Batch {
  return { v: 1, id: crypto.randomUUID(), ...reading, startedAt: now, sent: {}, contents: {}, refused: {} };
}

/** The batch kept at a place; null when there is none, or storage is forbidden. Old ones are thrown away on the way. */
export function readBatch(place: string, now: number): Batch | null {
  try {
    for (const name of Object.keys(localStorage).filter((key) => key.startsWith(prefix))) {
      const kept = parse(localStorage.getItem(name));
      if (kept === null || kept.startedAt < now - keptMs) localStorage.removeItem(name);
    }
    return parse(localStorage.getItem(place));
  } catch {
    return null;
  }
}

/** The newest batch of another file with the same headers: perhaps what is chosen now is that file, corrected. */
export function readPredecessor(places: string, headers: string): Batch | null {
  try {
    const batches = Object.keys(localStorage)
      .filter((key) => key.startsWith(places))
      .map((key) => parse(localStorage.getItem(key)))
      .filter((batch) => batch?.headers === headers)
      .filter((batch) => batch !== null);
    return batches.toSorted((a, b) => b.startedAt - a.startedAt)[0] ?? null;
  } catch {
    return null;
  }
}

/** Which rows of a corrected file have their envelope already: those of the same content, first those in the same place. */
export async function carryOver(
  batch: Batch,
  rows: readonly { number: number; content: string }[],
): Promise<Pick<Batch, "sent" | "contents">> {
  const carried: Pick<Batch, "sent" | "contents"> = { sent: {}, contents: {} };
  const free = new Map(Object.entries(batch.contents));
  const fingerprints = await Promise.all(
    rows.map(async ({ number, content }) => ({ row: String(number), print: await fingerprint(batch.id, content) })),
  );
  const take = (row: string, print: string, from: string): void => {
    const envelope = batch.sent[from];
    if (envelope === undefined) return;
    free.delete(from);
    carried.sent[row] = envelope;
    carried.contents[row] = print;
  };
  for (const { row, print } of fingerprints) if (free.get(row) === print) take(row, print, row);
  const places = new Map<string, string[]>();
  for (const [from, print] of free) places.set(print, [...(places.get(print) ?? []), from]);
  for (const { row, print } of fingerprints) {
    const from = carried.sent[row] === undefined ? places.get(print)?.shift() : undefined;
    if (from !== undefined) take(row, print, from);
  }
  return carried;
}

/** Tells rows of a batch apart without keeping what they say. */
export async function fingerprint(batch: string, content: string): Promise<string> {
  return (await sha256(JSON.stringify([batch, content]))).slice(0, 20);
}

function parse(text: string | null): Batch | null {
  if (text === null) return null;
  try {
    return Batch.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

/**
 * Keeps a batch together with what another tab sent of it; one that was begun anew in the meantime is not overwritten.
 * @returns whether the browser kept it
 */
export function keepBatch(place: string, batch: Batch): boolean {
  try {
    const kept = parse(localStorage.getItem(place));
    if (kept !== null && kept.id !== batch.id && kept.startedAt > batch.startedAt) return true;
    const joined =
      kept?.id === batch.id
        ? { ...batch, sent: { ...kept.sent, ...batch.sent }, contents: { ...kept.contents, ...batch.contents } }
        : batch;
    localStorage.setItem(place, JSON.stringify(joined));
    return true;
  } catch {
    return false;
  }
}

export function forgetBatch(place: string): void {
  try {
    localStorage.removeItem(place);
  } catch {
    // Nothing was kept.
  }
}

/** SHA-256 in hex. */
export async function sha256(content: Uint8Array<ArrayBuffer> | string): Promise<string> {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * The Idempotency-Key of a row: the same for every try whose outcome is unknown, so that none of them sends twice.
 * @param refused how often the service refused the row for good: its stored refusal would be repeated under the same key
 */
export async function rowKey(batch: string, row: number, content: string, refused: number): Promise<string> {
  return `bulk-${await sha256(JSON.stringify([batch, row, content, refused]))}`;
}
