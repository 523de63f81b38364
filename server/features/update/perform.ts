import { rm } from "node:fs/promises";
import { z } from "zod";
import { AppError } from "../../kernel/errors.ts";
import type { SnapshotName } from "../../kernel/snapshots.ts";
import { storageFault } from "../../kernel/storage-fault.ts";
import { Hex64 } from "../../kernel/wire.ts";
import type { BundleFacts } from "./bundle.ts";
import { checkRoom } from "./checks.ts";
import type { SelfTestFailure } from "./contract.ts";
import type { Snapshot } from "./database.ts";
import { type Release, releaseFolder, switchTo } from "./installation.ts";
import { appendHistory, type Journal, makeReserve, readHistory, writeJournal } from "./journal.ts";
import type { PinnedKeys } from "./manifest.ts";
import { type Hold, healthOf, holdStill, letIn, passGate, type Site } from "./site.ts";
import { dropStaged, stageRelease } from "./staging.ts";
import { type Phase, recoveryOf } from "./state.ts";

/**
 * The phases of an update and of a way back, one after another. Each is in the journal before it is begun; whatever ends this
 * process, the next one finds there what to take back.
 */

/** What an update that did not go through left: the release and the data of before. */
export class UpdateUndone extends AppError {
  readonly journal: Journal;
  constructor(journal: Journal, cause: unknown) {
    super("conflict", {
      detail: `${journal.cause ?? "It failed."} Version ${journal.from.version} is in its place, its data is as it was.`,
      cause,
    });
    this.journal = journal;
  }
}

const SnapshotAnswer = z.object({ sha256: Hex64, size: z.int() });
const CloseAnswer = z.object({ closed: z.boolean() });
/** Releases that are older than `migratedMs` do not say how long their migration took. */
const TrialAnswer = z.object({
  version: z.string(),
  problems: z.array(z.string()),
  migratedMs: z.number().nonnegative().default(0),
});

const BackupAnswer = z.object({
  backup: z.object({ id: z.string(), ok: z.boolean(), cause: z.string().nullable() }).nullable(),
});

export type Bundle = { file: string; pinned: PinnedKeys; facts: BundleFacts };

/**
 * @property known what the release that is served cannot do, before anything of this began
 * @property confirm looks once more whether what is lost may be lost, when nothing is written any more
 */
export type Plan = {
  bundle: Bundle | null;
  known: readonly SelfTestFailure[];
  confirm: () => Promise<Pick<Journal, "restore" | "loss">>;
};

/** Goes through the phases. @throws UpdateUndone after all was put back */
export async function perform(site: Site, first: Journal, { bundle, known, confirm }: Plan): Promise<Journal> {
  let journal = first;
  let hold: Hold | null = null;
  const { root } = site;
  const { from, to } = first;
  const done = () => site.onBoundary?.(`${journal.phase}:done`);
  const enter = async (phase: Phase, change: Partial<Journal> = {}) => {
    journal = await write(site, journal, phase, change);
  };
  try {
    await enter("checking");
    await checkRoom(root, site.dataDir, bundle?.facts.manifest ?? null, site.reserveBytes);
    await makeReserve(root);
    done();
    await enter("draining");
    hold = await holdStill(site, journal);
    done();
    const confirmed = await confirm();
    await enter("backing-up", confirmed);
    const backup = await backUp(site, journal);
    const snapshot = SnapshotAnswer.parse(await site.run(from, ["update", "inner", "snapshot"]));
    done();
    await enter("staging", { backup, snapshot });
    if (bundle) {
      const { file, pinned, facts } = bundle;
      await stageRelease(root, { file, pinned, manifestSha256: facts.manifestSha256 }, to.version, (share) =>
        site.tell({ phase: "staging", share }),
      );
    }
    done();
    await enter("trying");
    const migratedMs = await tryOut(site, journal);
    done();
    hold.stillHeld();
    await enter("switching");
    const before = await healthOf(site);
    if (journal.restore) await bring(site, journal, journal.restore);
    else await switchTo(root, to.version);
    done();
    if (journal.restore === null) hold.stillHeld();
    await enter("restarting");
    if (journal.restore === null) await site.service.stop();
    await site.service.start();
    await passGate(site, journal, { version: to.version, before: before?.pid ?? null, known, migratedMs });
    done();
    await enter("committed");
  } catch (error) {
    const undone = await undo(site, journal, causeOf(error), false).finally(() => hold?.release());
    throw new UpdateUndone(undone, error);
  }
  // Beyond this it is never taken back: people may have worked with it.
  return await finish(site, journal, false).finally(() => hold?.release());
}

/** @returns the id of the verified backup; null when none are set up @throws AppError when it failed */
async function backUp(site: Site, { from }: Journal): Promise<string | null> {
  const about = ["--operator", site.address.operator];
  const { backup } = BackupAnswer.parse(await site.run(from, ["update", "inner", "backup", ...about]));
  if (backup === null || backup.ok) return backup?.id ?? null;
  const detail = `The backup before the update failed: ${backup.cause ?? "no cause is known"}. Signet backup says more.`;
  throw new AppError("conflict", { detail });
}

/** The release and the database of before the last update come together; nobody may serve while one of them is not there. */
async function bring(site: Site, { id, from, to }: Journal, { sha256 }: Snapshot): Promise<void> {
  const { closed } = CloseAnswer.parse(await site.run(from, ["update", "inner", "close", "--id", id]));
  if (!closed) throw new AppError("conflict", { detail: "The appliance does not hold still any more." });
  await switchTo(site.root, to.version);
  site.onBoundary?.("switching:switched");
  await site.service.stop();
  await site.run(from, ["update", "inner", "put-back", "--id", id, "--snapshot", "kept", "--sha256", sha256]);
}

/**
 * The other release brings a copy up to date and looks at it; what is wrong with today's data is not held against it.
 * @returns how long the migration took, in milliseconds
 */
async function tryOut(site: Site, { from, to, snapshot, restore }: Journal): Promise<number> {
  const ask = async (release: Release, name: SnapshotName, taken: Snapshot | null) => {
    const about = ["--snapshot", name, "--sha256", taken?.sha256 ?? ""];
    return TrialAnswer.parse(await site.run(release, ["update", "inner", "trial", ...about]));
  };
  const { version, problems, migratedMs } = restore
    ? await ask(to, "kept", restore)
    : await ask(to, "before", snapshot);
  if (version !== to.version)
    throw new AppError("conflict", { detail: `The program says that it is ${version}, and should be ${to.version}.` });
  if (problems.length === 0) return migratedMs;
  const known = new Set((await ask(from, "before", snapshot)).problems);
  const fresh = problems.find((problem) => !known.has(problem));
  if (fresh !== undefined)
    throw new AppError("conflict", { detail: `The database would be wrong after this update: ${fresh}` });
  return migratedMs;
}

export async function finish(site: Site, journal: Journal, beforeStart: boolean): Promise<Journal> {
  if (!beforeStart) await letIn(site, journal, "applied");
  site.onBoundary?.("committed:let-in");
  // Without it there is one way back less, which keeps nobody from working.
  await site.run(journal.to, ["update", "inner", "keep"]).catch(() => undefined);
  await dropOlder(site, journal);
  return await close(site, journal, "applied");
}

/** Puts everything back as it was before. What it does may be done again, as often as it is cut off. */
export async function undo(site: Site, journal: Journal, cause: string, beforeStart: boolean): Promise<Journal> {
  const isBack = recoveryOf(journal.phase) === "take-back";
  try {
    const undoing = await write(site, journal, isBack ? "taking-back" : "returning", { cause });
    return isBack ? await takeBack(site, undoing) : await comeBack(site, undoing, beforeStart);
  } catch (error) {
    const detail = `${cause} Then it could not be put back: ${sentence(error)} Set that right, and say: signet update resume`;
    throw new AppError("conflict", { detail, cause: error });
  }
}

/** The release of before is in its place, and runs unless it did not before. */
async function takeBack(site: Site, journal: Journal): Promise<Journal> {
  await clearAway(site, journal);
  site.onBoundary?.("taking-back:cleared");
  await letIn(site, journal, "taken-back");
  return await close(site, journal, "taken-back");
}

/** The new release may have been started, and may have changed the database. */
async function comeBack(site: Site, journal: Journal, beforeStart: boolean): Promise<Journal> {
  const { from, id, snapshot } = journal;
  await switchTo(site.root, from.version);
  site.onBoundary?.("returning:switched");
  if (snapshot === null) throw new Error("the journal names no snapshot");
  const before = await healthOf(site);
  const { closed } = CloseAnswer.parse(await site.run(from, ["update", "inner", "close", "--id", id]));
  if (!closed) {
    // Only the release of before lets work in by itself: the new one was not started.
    if (before === null || before.version === from.version) return await takeBack(site, journal);
    throw new Error(`version ${before.version} serves, and people may have worked with it`);
  }
  site.onBoundary?.("returning:closed");
  if (!beforeStart) await site.service.stop();
  const about = ["--id", id, "--snapshot", "before", "--sha256", snapshot.sha256];
  await site.run(from, ["update", "inner", "put-back", ...about]);
  site.onBoundary?.("returning:put-back");
  if (!beforeStart) {
    await site.service.start();
    await awaitReturn(site, journal, before?.pid ?? null);
  }
  site.onBoundary?.("returning:started");
  await letIn(site, journal, "returned");
  await clearAway(site, journal);
  return await close(site, journal, "returned");
}

/** The release of before has the time that a start usually takes, however short the next one's was to be, in seconds. */
const leastReturnSeconds = 120;

/** The database is back already: where nobody starts what ended, there is nothing to wait for, and the next start serves. */
async function awaitReturn(site: Site, journal: Journal, before: number | null): Promise<void> {
  const gateSeconds = site.service.starts ? Math.max(site.gateSeconds, leastReturnSeconds) : site.gateSeconds;
  try {
    await passGate({ ...site, gateSeconds }, journal, {
      version: journal.from.version,
      before,
      known: null,
      migratedMs: 0,
    });
  } catch (error) {
    if (site.service.starts || (await healthOf(site)) !== null) throw error;
  }
}

async function clearAway(site: Site, journal: Journal): Promise<void> {
  // Before the snapshot was taken nothing was unpacked: a release of that version is there from before, for a way back.
  if (journal.kind === "update" && journal.snapshot !== null) await dropStaged(site.root, journal.to.version);
  await site.run(journal.from, ["update", "inner", "drop"]);
}

/** Releases that updates brought, but for the present one and the one before. */
async function dropOlder({ root }: Site, { from, to }: Journal): Promise<void> {
  for (const { outcome, to: old } of await readHistory(root))
    if (outcome === "applied" && old.version !== from.version && old.version !== to.version)
      await rm(releaseFolder(root, old.version), { recursive: true, force: true });
}

async function close(site: Site, journal: Journal, outcome: Journal["outcome"]): Promise<Journal> {
  const ended = { ...journal, phase: "done" as const, at: site.ts(), outcome };
  await appendHistory(site.root, ended);
  return await write(site, journal, "done", { outcome });
}

async function write(site: Site, journal: Journal, phase: Phase, change: Partial<Journal>): Promise<Journal> {
  const next: Journal = { ...journal, ...change, phase, at: site.ts() };
  await writeJournal(site.root, next);
  site.tell({ phase, share: null });
  site.onBoundary?.(`${phase}:written`);
  return next;
}

const causeOf = (error: unknown): string =>
  storageFault(error) === "full"
    ? `The volume ran full while the update was applied: make room, then apply it again (${error instanceof Error ? error.message : ""}).`
    : sentence(error);

const sentence = (error: unknown): string => {
  const text = error instanceof Error ? error.message : String(error);
  return /[.!?]$/.test(text) ? text : `${text}.`;
};
