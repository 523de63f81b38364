import { randomBytes } from "node:crypto";
import { access, realpath } from "node:fs/promises";
import path from "node:path";
import { AppError } from "../../kernel/errors.ts";
import { readBundle } from "./bundle.ts";
import { checkClock, checkFits, checkRoom } from "./checks.ts";
import { currentVersion, type Program, type Release, releaseFolder } from "./installation.ts";
import { type Journal, readHistory, readJournal } from "./journal.ts";
import { lockUpdates } from "./lock.ts";
import type { Manifest, PinnedKeys } from "./manifest.ts";
import { finish, perform, undo } from "./perform.ts";
import { knownFailures, refuseBusy, type Site } from "./site.ts";
import { recoveryOf } from "./state.ts";
import { wayBack } from "./way-back.ts";

/** Another release in the place of this one, and back. */

export type ApplyRequest = { file: string; pinned: PinnedKeys; installed: Release };

/**
 * Applies a signed update.
 * @throws AppError `validation-failed` or `conflict` before anything was changed; UpdateUndone after all was put back
 */
export async function applyUpdate(site: Site, { file, pinned, installed }: ApplyRequest): Promise<Journal> {
  return await alone(site, async () => {
    await checkServed(site, installed);
    await refuseBusy(site);
    const facts = await readBundle(file, pinned, {
      async manifest({ manifest }) {
        checkFits(manifest, installed.version);
        checkClock(manifest, site.now());
        await checkRoom(site.root, site.dataDir, manifest, site.reserveBytes);
      },
      progress: (share) => site.tell({ phase: "checking", share }),
    });
    const to = { version: facts.manifest.version, program: programOf(site.root, facts.manifest, installed.program) };
    const journal = begin(site, "update", installed, to, { file, manifestSha256: facts.manifestSha256 });
    const known = await knownFailures(site);
    const confirm = async () => ({ restore: null, loss: null });
    return await perform(site, journal, { bundle: { file, pinned, facts }, known, confirm });
  });
}

/**
 * Goes back to the release before the last update: with today's data where that release knows it, otherwise with the database
 * of before, if nothing is lost by that or the loss was accepted.
 * @param accepted how many things may be lost at most, of all that the refusal names
 * @throws AppError `conflict`; UpdateUndone after all was put back
 */
export async function rollBack(site: Site, installed: Release, accepted: number | null = null): Promise<Journal> {
  return await alone(site, async () => {
    await checkServed(site, installed);
    await refuseBusy(site);
    const last = (await readHistory(site.root)).find(
      ({ outcome, to }) => outcome === "applied" && to.version === installed.version,
    );
    if (!last)
      throw new AppError("conflict", {
        detail: `No update brought version ${installed.version}: there is nothing to go back to.`,
      });
    await access(releaseFolder(site.root, last.from.version)).catch(() => {
      throw new AppError("conflict", { detail: `Release ${last.from.version} is not there any more.` });
    });
    await checkRoom(site.root, site.dataDir, null, site.reserveBytes);
    const confirm = () => wayBack(site, last, installed, accepted);
    const journal = begin(site, "rollback", installed, last.from, { file: null, manifestSha256: null });
    const found = await confirm();
    const known = await knownFailures(site);
    return await perform(site, { ...journal, ...found }, { bundle: null, known, confirm });
  });
}

/**
 * Ends what an update left that was cut off: takes it back, or finishes it once the new release was found well.
 * @param beforeStart nothing runs, and whoever calls starts `current` next
 * @returns null when there is nothing to do, or another process is doing it and starts what has to be started
 * @throws AppError `conflict` when another process is doing it, or it is of other data than these
 */
export async function resumeUpdate(site: Site, beforeStart: boolean): Promise<Journal | null> {
  const unlock = await lockUpdates(site.root, site.dataDir);
  if (unlock === null) {
    if (beforeStart) return null;
    throw underWay();
  }
  try {
    const journal = await readJournal(site.root);
    if (journal === null || recoveryOf(journal.phase) === "none") return null;
    await checkData(site, journal);
    const cause = journal.cause ?? `The update was cut off while it was ${journal.phase}.`;
    if (recoveryOf(journal.phase) === "finish") return await finish(site, journal, beforeStart);
    return await undo(site, journal, cause, beforeStart);
  } finally {
    await unlock();
  }
}

async function alone<T>(site: Site, work: () => Promise<T>): Promise<T> {
  const unlock = await lockUpdates(site.root, site.dataDir);
  if (unlock === null) throw underWay();
  try {
    const before = await readJournal(site.root);
    if (before && before.phase !== "done")
      throw new AppError("conflict", { detail: "An update was cut off: signet update resume ends it." });
    return await work();
  } finally {
    await unlock();
  }
}

const underWay = () => new AppError("conflict", { detail: "Another update is under way." });

/**
 * The program of before would come back, and the data that the next one may have changed would stay as they are.
 * @throws AppError `conflict` when the update was begun on another data folder, unless that was moved, and while nothing is there
 */
async function checkData({ dataDir }: Site, journal: Journal): Promise<void> {
  const begun = await realpath(journal.dataDir).catch(() => null);
  if (begun !== null && begun !== (await realpath(dataDir)))
    throw new AppError("conflict", {
      detail: `The update that was cut off is of the data in ${journal.dataDir}, and not in ${dataDir}: set SIGNET_DATA_DIR=${journal.dataDir}, then say this again.`,
    });
  // A volume that is not mounted looks like an empty folder. While a database is put back only the second is there.
  if (!(await isThere(dataDir, "signet.db")) && !(await isThere(dataDir, "maintenance.json")))
    throw new AppError("conflict", {
      detail: `There is no database in ${dataDir}: see that its volume is mounted, then say this again.`,
    });
}

async function isThere(...names: readonly string[]): Promise<boolean> {
  return await access(path.join(...names)).then(
    () => true,
    () => false,
  );
}

/** @throws AppError `conflict` when this program is not the one that is served */
async function checkServed({ root }: Site, { version }: Release): Promise<void> {
  const current = await currentVersion(root);
  if (current !== version)
    throw new AppError("conflict", { detail: `Version ${current} is served, and this is ${version}: use that one.` });
}

function programOf(root: string, { version, program }: Manifest, own: Program): Program {
  return {
    node: program.node === null ? own.node : `${releaseFolder(root, version)}/${program.node}`,
    main: program.main,
  };
}

function begin(
  site: Site,
  kind: Journal["kind"],
  from: Release,
  to: Release,
  about: Pick<Journal, "file" | "manifestSha256">,
): Journal {
  const at = site.ts();
  const id = `upd_${randomBytes(8).toString("hex")}`;
  const { operator } = site.address;
  const open = { phase: "checking" as const, backup: null, snapshot: null, restore: null, loss: null };
  return {
    v: 1,
    id,
    kind,
    startedAt: at,
    at,
    operator,
    from,
    to,
    dataDir: site.dataDir,
    ...about,
    ...open,
    outcome: null,
    cause: null,
  };
}
