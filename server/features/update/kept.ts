import { rename, stat } from "node:fs/promises";
import path from "node:path";
import { toTs } from "../../kernel/clock.ts";
import { openForReading, type Reader } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { syncFolder } from "../../kernel/durable.ts";
import { snapshotFile } from "../../kernel/snapshots.ts";
import type { Loss } from "./contract.ts";
import { dropSnapshot, dropWork, hashOf } from "./database.ts";
import { countLosses } from "./losses.ts";

/**
 * The database as it was before the last update that went through: the way back to a release that does not know today's.
 * It holds what people may delete, so it is kept for some days, and not longer than until documents are deleted.
 */

const keptMs = 7 * 86_400_000;

/** What was taken for the update that went through is kept from now on, in the place of the one before. */
export async function keepSnapshot(dataDir: string): Promise<void> {
  const [before, kept] = [snapshotFile(dataDir, "before"), snapshotFile(dataDir, "kept")];
  await rename(before, kept).catch((error: unknown) => {
    // Done already by the process that was cut off.
    if (!isMissing(error)) throw error;
  });
  await dropWork(dataDir);
  await syncFolder(path.dirname(kept)).catch((error: unknown) => {
    if (!isMissing(error)) throw error;
  });
}

/** Removes what was kept long enough, or what holds documents' data that were deleted since. */
export async function forgetKept({ db, config, clock }: Pick<Deps, "db" | "config" | "clock">): Promise<void> {
  const file = snapshotFile(config.dataDir, "kept");
  const taken = await stat(file).catch(() => null);
  if (taken === null) return;
  const deleted = await db.read
    .selectFrom("envelopes")
    .select("id")
    .where("documents_deleted_at", ">=", toTs(taken.mtimeMs))
    .limit(1)
    .executeTakeFirst();
  if (deleted === undefined && clock.now() - taken.mtimeMs < keptMs) return;
  await dropSnapshot(config.dataDir, "kept");
}

/** @property sameSchema both were written by releases that know the same tables */
export type Comparison = { kept: false } | { kept: true; sameSchema: boolean; loss: Loss };

/** What is in the database and was not in the one that is kept. Both are read as they are, whichever release wrote them. */
export async function compareWithKept(dataDir: string, sha256: string): Promise<Comparison> {
  const file = snapshotFile(dataDir, "kept");
  const found = await hashOf(file).catch((error: unknown) => {
    if (isMissing(error)) return null;
    throw error;
  });
  if (found !== sha256) return { kept: false };
  const then = await openForReading(file);
  const now = await openForReading(path.join(dataDir, "signet.db"));
  try {
    const loss = { ...(await changedEnvelopes(then.read, now.read)), ...(await countLosses(now.read, file)) };
    return { kept: true, sameSchema: (await schemaOf(then.read)) === (await schemaOf(now.read)), loss };
  } finally {
    await then.close();
    await now.close();
  }
}

async function schemaOf(reader: Reader): Promise<string> {
  const migrations = await reader.selectFrom("migrations").select("name").orderBy("name").execute();
  return migrations.map(({ name }) => name).join();
}

const atOnce = 500;

/** Whatever happens to an envelope stands in its audit trail. */
async function changedEnvelopes(then: Reader, now: Reader): Promise<Pick<Loss, "envelopes" | "deleted">> {
  const changed = { envelopes: 0, deleted: 0 };
  let after = "";
  for (;;) {
    const page = await now
      .selectFrom("envelopes")
      .select("id")
      .where("id", ">", after)
      .orderBy("id")
      .limit(atOnce)
      .execute();
    const ids = page.map(({ id }) => id);
    const [before, today] = [await trailsOf(then, ids), await trailsOf(now, ids)];
    for (const id of ids) {
      const [old, fresh] = [before.get(id), today.get(id)];
      if (old?.head !== fresh?.head) changed.envelopes += 1;
      if (old?.deleted === false && fresh?.deleted) changed.deleted += 1;
    }
    after = ids.at(-1) ?? "";
    if (ids.length < atOnce) return changed;
  }
}

/** The last entry of each trail; of those envelopes that there are. */
async function trailsOf(
  reader: Reader,
  ids: readonly string[],
): Promise<Map<string, { head: string | null; deleted: boolean }>> {
  if (ids.length === 0) return new Map();
  const rows = await reader
    .selectFrom("envelopes")
    .select(({ selectFrom }) => [
      "id",
      "documents_deleted_at",
      selectFrom("audit_entries")
        .select("hash")
        .whereRef("envelope", "=", "envelopes.id")
        .orderBy("seq", "desc")
        .limit(1)
        .as("head"),
    ])
    .where("id", "in", ids)
    .execute();
  return new Map(rows.map((row) => [row.id, { head: row.head, deleted: row.documents_deleted_at !== null }]));
}

const isMissing = (error: unknown) => error instanceof Error && "code" in error && error.code === "ENOENT";
