import { stat } from "node:fs/promises";
import { toTs } from "../../kernel/clock.ts";
import { openForReading } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { snapshotFile, snapshotNames } from "../../kernel/snapshots.ts";
import { indexNames } from "./names.ts";

/** Which files of the store are needed: by the database in use, or by one of before an update that may come back. */
export async function namesInUse(deps: Pick<Deps, "db" | "config">): Promise<(sha256: string) => boolean> {
  const all = [await indexNames(deps.db.read)];
  for (const name of snapshotNames) all.push(await namesOfSnapshot(deps, snapshotFile(deps.config.dataDir, name)));
  return (sha256) => all.some((isNamed) => isNamed(sha256));
}

const none = () => false;
const everything = () => true;

async function namesOfSnapshot({ db }: Pick<Deps, "db">, file: string): Promise<(sha256: string) => boolean> {
  const taken = await stat(file).catch(() => null);
  if (taken === null) return none;
  // It would bring back what had to go, so it never comes back itself and keeps no file from going.
  const deleted = await db.read
    .selectFrom("envelopes")
    .select("id")
    .where("documents_deleted_at", ">=", toTs(taken.mtimeMs))
    .limit(1)
    .executeTakeFirst();
  if (deleted !== undefined) return none;
  try {
    const { read, close } = await openForReading(file);
    return await indexNames(read).finally(close);
  } catch {
    // Written by a release whose tables this one does not know, or put away at this moment: it may name any of them.
    return everything;
  }
}
