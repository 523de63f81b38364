import { open, readFile, rm } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { writeDurably } from "../../kernel/durable.ts";
import { AppError } from "../../kernel/errors.ts";
import { jsonIn } from "../../kernel/json-text.ts";
import { storageFault } from "../../kernel/storage-fault.ts";
import { Hex64, Ts } from "../../kernel/wire.ts";
import { Loss } from "./contract.ts";
import { updateFolder } from "./installation.ts";
import { outcomes, phases } from "./state.ts";
import { versionPattern } from "./versions.ts";

/**
 * Where an update stands: one small file, written before each step. It lies with the program, not with the data: whoever
 * serves may read it and may not tell root what to do next.
 */

const ReleaseRef = z.object({
  version: z.string().regex(versionPattern),
  program: z.object({ node: z.string(), main: z.string() }),
});

const Snapshot = z.object({ sha256: Hex64, size: z.int() });

export const Journal = z.object({
  v: z.literal(1),
  id: z.string().regex(/^upd_[0-9a-f]{16}$/),
  kind: z.enum(["update", "rollback"]),
  phase: z.enum(phases),
  startedAt: Ts,
  at: Ts,
  operator: z.string(),
  /** The file that is applied; null for a rollback. */
  file: z.string().nullable(),
  manifestSha256: Hex64.nullable(),
  from: ReleaseRef,
  to: ReleaseRef,
  dataDir: z.string(),
  /** The verified backup that was written for it; null where none are set up. */
  backup: z.string().nullable().default(null),
  /** The database as it was before. */
  snapshot: Snapshot.nullable(),
  /** The snapshot that a rollback brings back; null when the data stays. */
  restore: Snapshot.nullable().default(null),
  /** What is lost by that. */
  loss: Loss.nullable().default(null),
  outcome: z.enum(outcomes).nullable(),
  /** Why it did not go on. */
  cause: z.string().nullable(),
});
export type Journal = z.infer<typeof Journal>;

const journalFile = (root: string) => path.join(updateFolder(root), "journal.json");
const historyFile = (root: string) => path.join(updateFolder(root), "history.jsonl");

/** The update that is under way, or the last one. @throws AppError `conflict` when the file cannot be understood */
export async function readJournal(root: string): Promise<Journal | null> {
  const text = await readIfThere(journalFile(root));
  if (text === null) return null;
  const parsed = Journal.safeParse(jsonIn(text));
  if (parsed.success) return parsed.data;
  const detail = `${journalFile(root)} cannot be understood: it was written by another release, or by somebody else.`;
  throw new AppError("conflict", { detail });
}

/** Readable for everybody, because whoever serves the appliance says where its update stands. */
export async function writeJournal(root: string, journal: Journal): Promise<void> {
  await withReserve(root, () =>
    writeDurably(journalFile(root), `${JSON.stringify(asRead(journal), null, 2)}\n`, 0o644),
  );
}

/** A way back leads to releases that understand no journal without the number of the process that goes on with it. */
const asRead = (journal: Journal) => ({ ...journal, pid: process.pid });

/** Every update that ended, newest first. */
export async function readHistory(root: string): Promise<Journal[]> {
  const text = (await readIfThere(historyFile(root))) ?? "";
  // A line that a loss of power cut off is not understood and left out; the journal still holds it.
  const ended = text.split("\n").flatMap((line) => Journal.safeParse(jsonIn(line)).data ?? []);
  return [...new Map(ended.map((one) => [one.id, one])).values()].reverse();
}

export async function appendHistory(root: string, journal: Journal): Promise<void> {
  await withReserve(root, () => appendDurably(root, journal));
}

async function appendDurably(root: string, journal: Journal): Promise<void> {
  const handle = await open(historyFile(root), "a", 0o644);
  try {
    await handle.chmod(0o644);
    // On a line of its own, whatever a loss of power left of the one before.
    await handle.writeFile(`\n${JSON.stringify(asRead(journal))}`);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const reserveFile = (root: string) => path.join(updateFolder(root), "reserve");

/** Sets room aside, so that an update that filled the volume, or found it filled, can still write down what is taken back. */
export async function makeReserve(root: string): Promise<void> {
  await writeDurably(reserveFile(root), Buffer.alloc(256 * 1024), 0o644);
}

/** Writes; where there is no room, once more with what was set aside. */
async function withReserve(root: string, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (storageFault(error) !== "full") throw error;
    await rm(reserveFile(root), { force: true });
    await write();
  }
}

async function readIfThere(file: string): Promise<string | null> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
