import { type Ts, toTs } from "../../kernel/clock.ts";
import type { Reader, Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError, notFound } from "../../kernel/errors.ts";
import { newId } from "../../kernel/ids.ts";
import { findLive, removeLive } from "../../kernel/job-store.ts";
import { enqueue, type JobType } from "../../kernel/jobs.ts";
import { type Actor, systemActor } from "../../kernel/wire.ts";
import { recordOperatorAct } from "../operators/service.ts";
import type { Activity } from "./activity.ts";
import { type Backup, type BackupProgress, type BackupState, Checked, type Trigger } from "./contract.ts";
import { isAhead, latestDate } from "./dates.ts";
import { causeOf, isDenied, unreadableBy } from "./denied.ts";
import { runBackup, runDrill, runVerify } from "./jobs.ts";
import { BackupDamaged } from "./manifest.ts";
import { openAsAppliance } from "./opened.ts";
import { WrongBackupKey } from "./recipient.ts";
import { backupFolder, backupSettings, isSetUp, NoBackupSettings } from "./settings.ts";
import * as store from "./store.ts";
import { newBackupId, openTarget, type Target } from "./target.ts";
import { StepLost, TargetBusy, TargetSilent } from "./target-errors.ts";
import type { Found } from "./target-folder.ts";

export { backupFindings } from "./findings.ts";

/** What administrators ask for; the jobs do it (`acts.ts`). */

const hourMs = 3_600_000;

type Reads = Pick<Deps, "config" | "clock" | "db">;

export async function readBackupState(
  { config, clock, db }: Reads,
  activity: Pick<Activity, "current">,
): Promise<BackupState> {
  const latest = latestDate(clock);
  const last = await store.lastRun(db.read, latest);
  const verified = await store.lastVerified(db.read, latest);
  const drill = await store.lastDrill(db.read, latest);
  const ready = isSetUp(config);
  const verifiedAt = verified?.verified_at ?? null;
  return {
    settings: ready
      ? {
          folder: backupFolder(config),
          openedBy: config.backupRecipient ?? "passphrase",
          intervalHours: config.backupIntervalHours,
          keep: config.backupKeep.join(","),
        }
      : null,
    running: await readRunning(db.read, activity),
    last: last ? presentRun(last) : null,
    lastVerified:
      verified && verifiedAt !== null
        ? {
            id: verified.id,
            at: verifiedAt,
            // Of its data, which no later check makes younger.
            ageHours: hoursSince(verified.started_at, clock),
          }
        : null,
    lastDrill: drill ? { ...presentDrill(drill), ageHours: hoursSince(drill.started_at, clock) } : null,
    nextAt: ready ? toTs(Math.max(clock.now(), dueAt(last, config))) : null,
  };
}

/** One that failed is tried again after an hour. */
function dueAt(
  last: store.RunRow | undefined,
  { backupIntervalHours }: Pick<Deps["config"], "backupIntervalHours">,
): number {
  if (!last) return 0;
  return Date.parse(last.started_at) + hourMs * (last.status === "failed" ? 1 : backupIntervalHours);
}

const jobs = { backup: runBackup, verify: runVerify, drill: runDrill } as const;
const nothing = { done: 0, all: 0 };

/** What this process does, or else what waits in the queue: after a restart nobody but the queue knows of it. */
async function readRunning(reader: Reader, activity: Pick<Activity, "current">): Promise<BackupProgress | null> {
  const running = activity.current();
  if (running !== null) return running;
  const waiting = await store.firstWaiting(
    reader,
    Object.values(jobs).map(({ name }) => name),
  );
  for (const kind of ["backup", "verify", "drill"] as const)
    if (waiting?.name === jobs[kind].name)
      return { kind, id: waiting.id, step: "waiting", files: nothing, bytes: nothing, secondsLeft: null };
  return null;
}

const hoursSince = (at: Ts, clock: Deps["clock"]) => Math.max(0, Math.floor((clock.now() - Date.parse(at)) / hourMs));

const presentRun = (row: store.RunRow) => ({
  id: row.id,
  trigger: row.trigger,
  status: row.status,
  startedAt: row.started_at,
  endedAt: row.ended_at,
  cause: row.cause,
  verifiedAt: row.verified_at,
});

const presentDrill = (row: store.DrillRow) => ({
  id: row.id,
  backup: row.backup,
  status: row.status,
  startedAt: row.started_at,
  endedAt: row.ended_at,
  cause: row.cause,
  checked: Checked.parse(JSON.parse(row.checked)),
  openedBy: row.opened_by,
});

/** @throws AppError `conflict` when no folder is set or it cannot be read */
export async function listBackups({ config, clock, db }: Reads): Promise<Backup[]> {
  const target = openTarget(refusing(() => backupFolder(config)));
  const found = await target.list().catch((cause: unknown) => refuseUnread(target, cause));
  const runs = new Map((await store.listRuns(db.read, 10_000)).map((run) => [run.id, run]));
  return found.map(({ id, manifest, unreadable }) => {
    const run = runs.get(id);
    const damaged = (manifest === null && unreadable === null) || run?.status === "damaged";
    const verifiedAt = run?.verified_at ?? null;
    return {
      id,
      createdAt: manifest?.createdAt ?? null,
      version: manifest?.version ?? null,
      files: manifest?.blobs.count ?? null,
      bytes: manifest
        ? manifest.blobs.bytes + Object.values(manifest.files).reduce((sum, { bytes }) => sum + bytes, 0)
        : null,
      addedBytes: run?.copied_bytes ?? null,
      status: damaged ? "damaged" : verifiedAt === null ? "unverified" : "verified",
      verifiedAt,
      ahead: isAhead(id, clock),
      cause: manifest === null ? whyWithout(unreadable, target.folder) : (run?.cause ?? null),
    };
  });
}

/** What this user may not read, and what the disk or share did not give this time, is not damaged for that. */
function whyWithout(unreadable: Found["unreadable"], folder: string): string {
  if (unreadable === null) return "Its manifest is missing or damaged.";
  const error = Object.assign(new Error(unreadable.message), { code: unreadable.code });
  if (isDenied(error)) return `Its manifest cannot be read: ${unreadableBy(error, folder)}`;
  return `Its manifest cannot be read: ${unreadable.message}: see that the disk or share of ${folder} is there and sound, then verify it.`;
}

function refuseUnread(target: Target, cause: unknown): never {
  const reason = causeOf(cause, target.folder);
  throw new AppError("conflict", { detail: `The backups in ${target.folder} cannot be read: ${reason}`, cause });
}

/** Puts a backup into the queue. @throws AppError `conflict` when something runs, or it is not set up */
export async function startBackup(deps: Deps, activity: Activity, actor: Actor): Promise<{ id: string }> {
  await refuseBusy(deps, activity);
  await backupSettings(deps.config).catch(asConflict);
  return await enqueueBackup(deps, activity, { actor, trigger: "operator" });
}

async function enqueueBackup(
  deps: Deps,
  activity: Pick<Activity, "expect">,
  { actor, trigger }: { actor: Actor; trigger: Trigger },
): Promise<{ id: string }> {
  const id = await deps.db.tx(async (tx) => {
    const begun = await beginBackup(tx, deps, { actor, trigger });
    await enqueue(tx, runBackup, { id: begun });
    return begun;
  });
  activity.expect({ kind: "backup", id });
  return { id };
}

/** Notes that a backup begins. @returns its id */
export async function beginBackup(
  tx: Tx,
  deps: Pick<Deps, "config" | "clock">,
  { actor, trigger, ...about }: { actor: Actor; trigger: Trigger; id?: string },
): Promise<string> {
  const at = deps.clock.ts();
  const id = about.id ?? newBackupId(at);
  await store.insertRun(tx, { id, trigger, folder: backupFolder(deps.config), started_at: at });
  await recordOperatorAct(tx, deps, { actor, action: "backup.started", target: id, data: { trigger } });
  return id;
}

/** @throws AppError `not-found`, `conflict` */
export async function startVerify(deps: Deps, activity: Activity, actor: Actor, id: string): Promise<{ id: string }> {
  await refuseBusy(deps, activity);
  await requireBackup(deps, id);
  await refuseForeign(deps, id);
  await deps.db.tx(async (tx) => {
    await recordOperatorAct(tx, deps, { actor, action: "backup.verify_started", target: id });
    await enqueue(tx, runVerify, { id, actor });
  });
  activity.expect({ kind: "verify", id });
  return { id };
}

/** @throws AppError `not-found`, `conflict` */
export async function startDrill(
  deps: Deps,
  activity: Activity,
  actor: Actor,
  backup: string | undefined,
): Promise<{ id: string }> {
  await refuseBusy(deps, activity);
  await requireBackup(deps, backup);
  const id = await deps.db.tx(async (tx) => {
    const begun = await beginDrill(tx, deps, actor, backup ?? null);
    await enqueue(tx, runDrill, { id: begun, backup: backup ?? null });
    return begun;
  });
  activity.expect({ kind: "drill", id });
  return { id };
}

/** Notes that a drill begins. @returns its id */
export async function beginDrill(tx: Tx, deps: Pick<Deps, "clock">, actor: Actor, backup: string | null) {
  const id = newId("drl");
  await store.insertDrill(tx, { id, backup, started_at: deps.clock.ts() });
  await recordOperatorAct(tx, deps, { actor, action: "drill.started", target: id, data: { backup } });
  return id;
}

/** @throws AppError `conflict` when nothing runs */
export async function cancelBackup(deps: Deps, activity: Activity, actor: Actor): Promise<BackupState> {
  const running = await readRunning(deps.db.read, activity);
  if (running === null) throw new AppError("conflict", { detail: "No backup, check or drill runs." });
  const { id, kind } = running;
  await deps.db.tx(async (tx) => {
    const end = { ended_at: deps.clock.ts(), cause: null } as const;
    if (kind === "backup") await store.endRun(tx, id, { status: "cancelled", ...end });
    if (kind === "drill") await store.endDrill(tx, id, { status: "cancelled", checked: "{}", ...end });
    if (kind !== "restore") await removeLive(tx, jobs[kind], id);
    await recordOperatorAct(tx, deps, { actor, action: `${kind}.cancelled`, target: id });
  });
  activity.cancel();
  return await readBackupState(deps, activity);
}

/** A run at every hour's look; half an hour early is in time, so that it does not move through the day. */
const earlyMs = hourMs / 2;

/** Begins a backup when the last one, or the last try an hour ago, is due. */
export async function scheduleBackup(deps: Deps, activity: Pick<Activity, "expect" | "current">): Promise<void> {
  if (!isSetUp(deps.config) || activity.current() !== null) return;
  await endForsaken(deps);
  if ((await store.openRuns(deps.db.read)).length > 0) return;
  const last = await store.lastRun(deps.db.read, latestDate(deps.clock));
  if (deps.clock.now() < dueAt(last, deps.config) - earlyMs) return;
  await enqueueBackup(deps, activity, { actor: systemActor, trigger: "schedule" });
}

/**
 * A command that made a backup or tried one was killed, or the database is the one in a backup that a command made: nobody ends
 * these rows any more, and no other backup would ever be planned behind them.
 */
async function endForsaken(deps: Deps): Promise<void> {
  const forsaken = async <Row extends { id: string }, P>(rows: Row[], job: JobType<P>): Promise<Row[]> => {
    const left = [];
    for (const row of rows) if ((await findLive(deps.db.read, job, row.id)).length === 0) left.push(row);
    return left;
  };
  const runs = await forsaken(await store.openRuns(deps.db.read), runBackup);
  const drills = await forsaken(await store.openDrills(deps.db.read), runDrill);
  if (runs.length === 0 && drills.length === 0) return;
  // Whoever is at work holds it.
  const release = await openTarget(backupFolder(deps.config))
    .lock("exclusive")
    .catch((error: unknown) => {
      // Who is at work on a share that is gone still holds it when it is back.
      if (error instanceof TargetBusy || error instanceof TargetSilent) return null;
      return async () => undefined;
    });
  if (release === null) return;
  await release();
  await deps.db.tx(async (tx) => {
    for (const { id } of runs) await endUnended(tx, deps, { kind: "backup", id, cause: forsakenCause });
    for (const { id } of drills) await endUnended(tx, deps, { kind: "drill", id, cause: forsakenCause });
  });
}

const forsakenCause = "its process ended before it did";

/** Notes of what came to no end that it failed. */
export async function endUnended(
  tx: Tx,
  deps: Pick<Deps, "clock">,
  { kind, id, cause }: { kind: "backup" | "drill"; id: string; cause: string },
): Promise<void> {
  const end = { status: "failed", ended_at: deps.clock.ts(), cause } as const;
  const ended = kind === "backup" ? store.endRun(tx, id, end) : store.endDrill(tx, id, { ...end, checked: "{}" });
  if (!(await ended)) return;
  await recordOperatorAct(tx, deps, { actor: systemActor, action: `${kind}.failed`, target: id, data: { cause } });
}

async function refuseBusy({ db }: Pick<Deps, "db">, activity: Activity): Promise<void> {
  const running = await readRunning(db.read, activity);
  if (running === null) return;
  throw new AppError("conflict", { detail: `A ${running.kind} runs already: wait for its end, or cancel it.` });
}

async function requireBackup({ config }: Pick<Deps, "config">, id: string | undefined): Promise<void> {
  const target = openTarget(refusing(() => backupFolder(config)));
  const ids = await target.ids().catch((cause: unknown) => refuseUnread(target, cause));
  if (id === undefined ? ids.length === 0 : !ids.includes(id))
    throw notFound(id === undefined ? "A backup" : `The backup ${id}`);
}

/** Of another appliance, or of before a rotation of the master key: only its recipient can open it. */
async function refuseForeign({ config, secrets }: Pick<Deps, "config" | "secrets">, id: string): Promise<void> {
  const target = openTarget(backupFolder(config));
  try {
    openAsAppliance(await target.read(id), secrets);
  } catch (cause) {
    if (cause instanceof StepLost) refuseUnread(target, cause);
    if (cause instanceof WrongBackupKey) throw new AppError("conflict", { detail: `${cause.message}.`, cause });
    // What is damaged the check itself finds and notes.
    if (!(cause instanceof BackupDamaged)) throw cause;
  }
}

function refusing<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    return asConflict(error);
  }
}

function asConflict(error: unknown): never {
  if (error instanceof NoBackupSettings || error instanceof StepLost)
    throw new AppError("conflict", { detail: `${error.message}.`, cause: error });
  throw error;
}
