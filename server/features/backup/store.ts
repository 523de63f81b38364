import type { Ts } from "../../kernel/clock.ts";
import type { Reader, Tx } from "../../kernel/db.ts";
import type { DrillOpener, DrillStatus, RunStatus, Trigger } from "./contract.ts";
import type { Heads } from "./manifest.ts";

export type RunRow = {
  id: string;
  trigger: Trigger;
  folder: string;
  status: RunStatus;
  started_at: Ts;
  ended_at: Ts | null;
  cause: string | null;
  files: number | null;
  bytes: number | null;
  copied_bytes: number | null;
  verified_at: Ts | null;
};
export type DrillRow = {
  id: string;
  backup: string | null;
  status: DrillStatus;
  started_at: Ts;
  ended_at: Ts | null;
  cause: string | null;
  /** JSON: how many of what were checked. */
  checked: string;
  opened_by: DrillOpener | null;
};

declare module "../../kernel/db.ts" {
  interface Tables {
    backup_runs: RunRow;
    backup_drills: DrillRow;
  }
}

export async function insertRun(tx: Tx, row: Pick<RunRow, "id" | "trigger" | "folder" | "started_at">): Promise<void> {
  const open = { ended_at: null, cause: null, files: null, bytes: null, copied_bytes: null, verified_at: null };
  await tx
    .insertInto("backup_runs")
    .values({ ...row, status: "running", ...open })
    .execute();
}

type RunEnd = Partial<RunRow> & { status: Exclude<RunStatus, "running">; ended_at: Ts };

/** @returns whether it ran until now */
export async function endRun(tx: Tx, id: string, end: RunEnd): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("backup_runs")
    .set(end)
    .where("id", "=", id)
    .where("status", "=", "running")
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function findRun(reader: Reader, id: string): Promise<RunRow | undefined> {
  return await reader.selectFrom("backup_runs").selectAll().where("id", "=", id).executeTakeFirst();
}

/** Newest first. */
export async function listRuns(reader: Reader, limit: number): Promise<RunRow[]> {
  return await reader
    .selectFrom("backup_runs")
    .selectAll()
    .orderBy("started_at", "desc")
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
}

/** The newest that this data folder began, up to a date (`latestDate`): one that was found in the folder of backups is of another life or another appliance. */
export async function lastRun(reader: Reader, latest: Ts): Promise<RunRow | undefined> {
  return await ownRuns(reader).where("started_at", "<=", latest).executeTakeFirst();
}

/** The newest that was found whole, whenever that was. */
export async function lastVerified(reader: Reader, latest: Ts): Promise<RunRow | undefined> {
  return await ownRuns(reader)
    .where("started_at", "<=", latest)
    .where("verified_at", "is not", null)
    .executeTakeFirst();
}

/** What is noted as running, whatever its date. */
export async function openRuns(reader: Reader): Promise<RunRow[]> {
  return await reader.selectFrom("backup_runs").selectAll().where("status", "=", "running").execute();
}

export async function openDrills(reader: Reader): Promise<DrillRow[]> {
  return await reader.selectFrom("backup_drills").selectAll().where("status", "=", "running").execute();
}

const ownRuns = (reader: Reader) =>
  reader
    .selectFrom("backup_runs")
    .selectAll()
    .where("trigger", "!=", "found")
    .orderBy("started_at", "desc")
    .orderBy("id", "desc")
    .limit(1);

/** Notes what a check of a backup found; one of another life of this data folder gets its row now. */
export async function noteVerified(tx: Tx, row: RunRow): Promise<void> {
  const { verified_at, status, cause } = row;
  await tx
    .insertInto("backup_runs")
    .values(row)
    .onConflict((conflict) => conflict.column("id").doUpdateSet({ verified_at, status, cause }))
    .execute();
}

export async function insertDrill(tx: Tx, row: Pick<DrillRow, "id" | "backup" | "started_at">): Promise<void> {
  await tx
    .insertInto("backup_drills")
    .values({ ...row, status: "running", ended_at: null, cause: null, checked: "{}", opened_by: null })
    .execute();
}

export async function endDrill(
  tx: Tx,
  id: string,
  end: Pick<DrillRow, "status" | "ended_at" | "cause" | "checked"> & { backup?: string; opened_by?: DrillOpener },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("backup_drills")
    .set(end)
    .where("id", "=", id)
    .where("status", "=", "running")
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function findDrill(reader: Reader, id: string): Promise<DrillRow | undefined> {
  return await reader.selectFrom("backup_drills").selectAll().where("id", "=", id).executeTakeFirst();
}

export async function lastDrill(reader: Reader, latest: Ts): Promise<DrillRow | undefined> {
  return await reader
    .selectFrom("backup_drills")
    .selectAll()
    .where("started_at", "<=", latest)
    .orderBy("started_at", "desc")
    .limit(1)
    .executeTakeFirst();
}

/** The first of these jobs that waits for its turn, claimed by nobody. */
export async function firstWaiting(
  reader: Reader,
  names: readonly string[],
): Promise<{ name: string; id: string } | undefined> {
  const row = await reader
    .selectFrom("jobs")
    .select(["name", "subject"])
    .where("name", "in", names)
    .where("status", "=", "queued")
    .orderBy("created_at")
    .orderBy("id")
    .executeTakeFirst();
  return row && row.subject !== null ? { name: row.name, id: row.subject } : undefined;
}

/** Where every chain stands in this database. */
export async function readHeads(reader: Reader): Promise<Heads> {
  const operatorAudit = await reader
    .selectFrom("operator_audit")
    .select(["seq", "hash"])
    .orderBy("seq", "desc")
    .limit(1)
    .executeTakeFirst();
  const anchor = await reader
    .selectFrom("anchors")
    .select(["sequence", "tree_size as treeSize", "root_hash as rootHash", "anchor_hash as anchorHash"])
    .orderBy("sequence", "desc")
    .limit(1)
    .executeTakeFirst();
  const leaves = await reader
    .selectFrom("leaves")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .executeTakeFirst();
  const envelopes = await reader
    .selectFrom("envelopes")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .executeTakeFirst();
  return {
    operatorAudit: operatorAudit ?? null,
    anchor: anchor ?? null,
    leaves: leaves?.count ?? 0,
    envelopes: envelopes?.count ?? 0,
  };
}
