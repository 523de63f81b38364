import path from "node:path";
import { performBackup } from "../features/backup/acts.ts";
import { beginBackup } from "../features/backup/service.ts";
import { isSetUp } from "../features/backup/settings.ts";
import { newBackupId } from "../features/backup/target.ts";
import { type OperatorAct, recordOperatorAct } from "../features/operators/service.ts";
import {
  closeData,
  dropTrial,
  dropWork,
  examine,
  layTrial,
  migrateTrial,
  putBack,
  takeSnapshot,
} from "../features/update/database.ts";
import { installationOf } from "../features/update/installation.ts";
import { readJournal } from "../features/update/journal.ts";
import { compareWithKept, keepSnapshot } from "../features/update/kept.ts";
import { endOf, keepOut, readMaintenance, recordEnd, removeMaintenance } from "../features/update/maintenance.ts";
import { outcomes } from "../features/update/state.ts";
import { lockDataFolder } from "../kernel/data-lock.ts";
import type { Deps } from "../kernel/deps.ts";
import { type SnapshotName, snapshotNames } from "../kernel/snapshots.ts";
import type { Actor } from "../kernel/wire.ts";
import { version } from "../version.ts";
import { type CommandContext, chosen, print, required, UsageError } from "./command.ts";
import { withDeps } from "./with-deps.ts";

/** How long a supervisor that starts one process after another may be in the way. */
const waitMs = 60_000;

type Step = (context: CommandContext) => Promise<unknown>;

/**
 * The steps of an update on the data, each in a process of its own that belongs to the data's owner. An update calls them of
 * the release of before and of the next one: their names, options and answers stay as they are.
 */
const steps: Readonly<Record<string, Step>> = {
  /** Copies and checks the database. */
  snapshot: (context) => withDeps(context, (deps) => takeSnapshot(deps, context.config.dataDir), { updating: true }),
  /** Writes a backup into the folder of the settings and reads it again; noted once it ended, so that none stays open. */
  async backup(context) {
    if (!isSetUp(context.config)) return { backup: null };
    const backUp = async (deps: Deps) => {
      const id = newBackupId(deps.clock.ts());
      const { ok, cause, commit } = await performBackup(deps, id, { told: () => undefined });
      await deps.db.tx(async (tx) => {
        await beginBackup(tx, deps, { actor: operatorOf(context), trigger: "update", id });
        await commit(tx);
      });
      return { backup: { id, ok, cause } };
    };
    return await withDeps(context, backUp, { updating: true });
  },
  /** What is in the database and not in the one that is kept of the update before. */
  compare: (context) => compareWithKept(context.config.dataDir, required(context, "sha256")),
  /** Brings a copy of a snapshot up to date with this release, and looks at it. */
  async trial(context) {
    const { config } = context;
    const folder = await layTrial(config.dataDir, snapshotOf(context), required(context, "sha256"));
    try {
      const trial = { ...context, config: { ...config, dataDir: folder, adminSocket: path.join(folder, "none.sock") } };
      const migratedMs = await migrateTrial(folder);
      return { version, problems: await withDeps(trial, examine), migratedMs };
    } finally {
      await dropTrial(config.dataDir);
    }
  },
  /** Keeps work out, where nothing runs. */
  async hold(context) {
    const { dataDir } = context.config;
    const lock = await lockDataFolder(dataDir);
    try {
      const [id, to] = [required(context, "id"), required(context, "to")];
      const actor = operatorOf(context);
      await keepOut(dataDir, { v: 1, id, from: version, to, actor, closed: false });
      const begun: OperatorAct = { actor, action: "update.begun", target: to, data: { from: version, to } };
      await withDeps(context, (deps) => deps.db.tx((tx) => recordOperatorAct(tx, deps, begun)), { updating: true });
      return {};
    } finally {
      await lock.release();
    }
  },
  /** Lets work in again, where nothing runs. */
  async release(context) {
    const { dataDir } = context.config;
    const about = await readMaintenance(dataDir);
    if (about?.id !== required(context, "id")) return {};
    const outcome = outcomes.find((one) => one === context.options.outcome);
    if (outcome === undefined) throw new UsageError(`--outcome is one of ${outcomes.join(", ")}`);
    const root = installationOf(context.program)?.root;
    const journal = root === undefined ? null : await readJournal(root);
    const ended = endOf(about, outcome, journal?.id === about.id ? journal : null);
    await withDeps(context, (deps) => deps.db.tx((tx) => recordEnd(tx, deps, ended)), { updating: true });
    await removeMaintenance(dataDir);
    return {};
  },
  /** From now on nobody may serve until `put-back`. */
  close: async (context) => ({ closed: await closeData(context.config.dataDir, required(context, "id")) }),
  /** Puts a snapshot into the place of the database. */
  async "put-back"(context) {
    const about = { id: required(context, "id"), name: snapshotOf(context), sha256: required(context, "sha256") };
    await putBack(context.config.dataDir, { ...about, waitMs });
    return {};
  },
  /** Forgets the snapshot. */
  async drop(context) {
    await dropWork(context.config.dataDir);
    return {};
  },
  /** Keeps the snapshot for a way back. */
  async keep(context) {
    await keepSnapshot(context.config.dataDir);
    return {};
  },
};

const operatorOf = (context: CommandContext): Actor => ({
  type: "operator",
  id: null,
  name: required(context, "operator"),
  email: null,
});

function snapshotOf(context: CommandContext): SnapshotName {
  const name = snapshotNames.find((one) => one === context.options.snapshot);
  if (name === undefined) throw new UsageError(`--snapshot is one of ${snapshotNames.join(", ")}`);
  return name;
}

/** Called by updates only. */
export async function inner(context: CommandContext, [name = ""]: readonly string[]): Promise<number> {
  const step = chosen(steps, name);
  if (!step) throw new UsageError("these are the steps of an update, which it calls by itself");
  print(context, await step(context), "done");
  return 0;
}
