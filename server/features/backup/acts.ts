import type { Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { notFound } from "../../kernel/errors.ts";
import { type Actor, systemActor } from "../../kernel/wire.ts";
import { recordOperatorAct } from "../operators/service.ts";
import type { DrillOpener } from "./contract.ts";
import { isAhead } from "./dates.ts";
import { causeOf, denialIn, isDenied, unreadableBy } from "./denied.ts";
import { drillBackup } from "./drill.ts";
import { BackupDamaged, isGenuine, type Manifest } from "./manifest.ts";
import { machineOf, type Opened, openAsAppliance, openAsRecipient } from "./opened.ts";
import type { Opener } from "./recipient.ts";
import { backupFolder, backupSettings } from "./settings.ts";
import * as store from "./store.ts";
import { openTarget, type Target, whileLocked } from "./target.ts";
import { TargetBusy } from "./target-errors.ts";
import { type Problem, verifyParts } from "./verify.ts";
import { BackupRefused, type Work, writeBackup } from "./write.ts";

/** Does what was begun, and gives what is to be committed about its end: jobs and commands run the same. */

/** @property ok of a verified backup, a whole one, a passed drill */
export type Ended = {
  ok: boolean;
  id: string;
  cause: string | null;
  checked: Record<string, number>;
  commit: (tx: Tx) => Promise<void>;
};

/** Whether a failure is none of the backup but of this moment. */
const isPassing = (error: unknown, { signal }: Work) => signal?.aborted || error instanceof TargetBusy;

/** @throws TargetBusy; the reason of the signal */
export async function performBackup(deps: Deps, id: string, work: Work): Promise<Ended> {
  const ended = (ok: boolean, end: Parameters<typeof store.endRun>[2], data: Record<string, number>): Ended => ({
    ok,
    id,
    cause: end.cause ?? null,
    checked: data,
    async commit(tx) {
      if (!(await store.endRun(tx, id, end))) return;
      const act = { actor: systemActor, action: `backup.${end.status}` as const, target: id };
      await recordOperatorAct(tx, deps, { ...act, data: { ...data, ...(end.cause ? { cause: end.cause } : {}) } });
    },
  });
  try {
    const settings = await backupSettings(deps.config);
    const runs = await store.listRuns(deps.db.read, 10_000);
    const usedBefore = runs.some((run) => run.folder === settings.folder && run.verified_at !== null);
    const noted = new Map(runs.map((run) => [run.id, run.status]));
    const about = { ...work, id, usedBefore, noted };
    const { manifest, copiedBytes, problems } = await writeBackup(deps, settings, about);
    const at = deps.clock.ts();
    const cause = describeProblems(problems);
    const figures = { files: manifest.blobs.count, bytes: manifest.blobs.bytes, copied_bytes: copiedBytes };
    const status = cause === null ? "verified" : "damaged";
    const verified_at = cause === null ? at : null;
    return ended(
      cause === null,
      { status, ended_at: at, cause, verified_at, ...figures },
      { files: figures.files, bytes: figures.bytes, copiedBytes },
    );
  } catch (error) {
    if (isPassing(error, work)) throw error;
    const cause = causeOf(error, deps.config.backupDir ?? "");
    return ended(false, { status: "failed", ended_at: deps.clock.ts(), cause }, {});
  }
}

export type VerifyAsked = { id: string | undefined; actor: Actor; opener?: Opener | undefined };

/**
 * Reads a backup again.
 * @throws TargetBusy, WrongBackupKey, AppError `not-found`; BackupRefused where this user may not read it; the reason of the signal
 */
export async function performVerify(deps: Deps, { id, actor, opener }: VerifyAsked, work: Work): Promise<Ended> {
  const target = openTarget(backupFolder(deps.config));
  return await whileRead(target, work, async (locked) => {
    try {
      // A name that was mistyped is no damaged backup.
      if (id !== undefined && !(await target.ids()).includes(id)) throw notFound(`The backup ${id}`);
      const manifest = await target.read(id ?? (await newestOwn(target, deps, opener)));
      const opened = opener ? await openAsRecipient(target, manifest, opener) : openAsAppliance(manifest, deps.secrets);
      const cause = describeProblems(await verifyParts(target, manifest, opened, locked));
      return verified(deps, { id: manifest.id, manifest, cause, actor });
    } catch (error) {
      const denial = denialIn(error);
      if (denial) throw new BackupRefused(unreadableBy(denial, target.folder), { cause: error });
      if (!(error instanceof BackupDamaged) || id === undefined) throw error;
      return verified(deps, { id, manifest: null, cause: error.message, actor });
    }
  });
}

type Verified = { id: string; manifest: Manifest | null; cause: string | null; actor: Actor };

function verified(deps: Deps, { id, manifest, cause, actor }: Verified): Ended {
  const files = manifest?.blobs.count ?? 0;
  const status = cause === null ? "verified" : "damaged";
  return {
    ok: cause === null,
    id,
    cause,
    checked: { files },
    async commit(tx) {
      const at = deps.clock.ts();
      const known = await store.findRun(tx, id);
      const found = { trigger: "found", copied_bytes: null, folder: backupFolder(deps.config) } as const;
      const figures = { files, bytes: manifest?.blobs.bytes ?? null };
      const row = { id, ...found, ...figures, started_at: manifest?.createdAt ?? at, ended_at: at, ...known };
      await store.noteVerified(tx, { ...row, status, cause, verified_at: cause === null ? at : null });
      const data = { files, ...(cause === null ? {} : { cause }) };
      await recordOperatorAct(tx, deps, { actor, action: `backup.${status}`, target: id, data });
    },
  };
}

export type DrillAsked = {
  id: string;
  backup: string | undefined;
  opener?: Opener | undefined;
  scratch?: string | undefined;
};

/** @property openedBy what opened the backup, or was tried on it: only what is kept away proves that this opens it */
export type Drilled = Ended & { openedBy: DrillOpener };

/** Restores into a scratch folder and walks through it. @throws TargetBusy; the reason of the signal */
export async function performDrill(
  deps: Deps,
  { id, backup, opener, scratch }: DrillAsked,
  work: Work,
): Promise<Drilled> {
  const openedBy = openerKind(opener);
  let tried = backup ?? null;
  const ended = (cause: string | null, checked: Record<string, number>): Drilled => ({
    ok: cause === null,
    id,
    cause,
    checked,
    openedBy,
    async commit(tx) {
      const status = cause === null ? "passed" : "failed";
      const end = { status, ended_at: deps.clock.ts(), cause, checked: JSON.stringify(checked) } as const;
      const about = tried === null ? {} : { backup: tried, opened_by: openedBy };
      if (!(await store.endDrill(tx, id, { ...end, ...about }))) return;
      const data = { backup: tried, openedBy, ...(cause === null ? {} : { cause }) };
      await recordOperatorAct(tx, deps, { actor: systemActor, action: `drill.${status}`, target: id, data });
    },
  });
  const target = openTarget(backupFolder(deps.config));
  return await whileRead(target, work, async (locked) => {
    try {
      const manifest = await target.read(backup ?? (await newestOwn(target, deps, opener)));
      tried = manifest.id;
      const opened = await openForRestore(target, manifest, { opener, secrets: deps.secrets });
      const { ok, checked, problems } = await drillBackup(deps, { ...locked, target, manifest, opened, scratch });
      return ended(ok ? null : problems.slice(0, 3).join("; ") || "something is wrong", checked);
    } catch (error) {
      if (isPassing(error, work)) throw error;
      return ended(causeOf(error, target.folder), {});
    }
  });
}

const openerKind = (opener: Opener | undefined): DrillOpener =>
  opener === undefined ? "appliance" : opener.kind === "x25519" ? "key" : "passphrase";

/** Others may read at the same time. @throws BackupRefused where this user may not read the folder */
async function whileRead<T>(target: Target, work: Work, perform: (work: Work) => Promise<T>): Promise<T> {
  return await whileLocked(target, "shared", { work, perform }).catch((error: unknown) => {
    throw isDenied(error) ? new BackupRefused(causeOf(error, target.folder), { cause: error }) : error;
  });
}

/**
 * Another appliance may write to the same folder, and one of the future is the newest only where there is no other.
 * @returns undefined for the newest of all, to be opened by its recipient
 */
async function newestOwn(
  target: Target,
  { secrets, clock }: Pick<Deps, "secrets" | "clock">,
  opener: Opener | undefined,
): Promise<string | undefined> {
  const all = await target.list();
  const own = opener ? all : all.filter(({ manifest }) => manifest !== null && isGenuine(manifest, secrets));
  return (own.find(({ id }) => !isAhead(id, clock)) ?? own[0])?.id;
}

async function openForRestore(
  target: Target,
  manifest: Manifest,
  by: { opener: Opener | undefined; secrets: Opened["secrets"] },
) {
  if (by.opener) return await openAsRecipient(target, manifest, by.opener);
  const opened = openAsAppliance(manifest, by.secrets);
  return { ...opened, machine: await machineOf(target, manifest, opened.backupKey) };
}

function describeProblems(problems: readonly Problem[]): string | null {
  const [first] = problems;
  if (!first) return null;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
  return `${first.part} ${first.file}: ${first.problem}${more}`;
}
