import { readFile, rm } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { ConfigError } from "../../config.ts";
import { holdBeside } from "../../kernel/data-lock.ts";
import type { Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { syncFolder, writeDurably } from "../../kernel/durable.ts";
import { AppError } from "../../kernel/errors.ts";
import type { JobRunner } from "../../kernel/job-runner.ts";
import { Actor } from "../../kernel/wire.ts";
import type { OperatorAction } from "../operators/contract.ts";
import { type OperatorAct, recordOperatorAct } from "../operators/service.ts";
import { type Journal, readJournal } from "./journal.ts";
import { type Outcome, recoveryOf } from "./state.ts";

/**
 * While an update is under way nothing new is taken: what came before is finished, then nothing is written any more, so that
 * the database may be put back as it was. A file in the data folder says so, and holds over every start until the update ended.
 */

const MaintenanceFile = z.object({
  v: z.literal(1),
  /** Of the update. */
  id: z.string(),
  from: z.string(),
  to: z.string(),
  actor: Actor,
  /** The database is being put back: nobody may open it to serve. */
  closed: z.boolean(),
});
export type MaintenanceFile = z.infer<typeof MaintenanceFile>;

const fileOf = (dataDir: string) => path.join(dataDir, "maintenance.json");

/** @throws ConfigError when it cannot be understood: it must not be taken for none */
export async function readMaintenance(dataDir: string): Promise<MaintenanceFile | null> {
  const file = fileOf(dataDir);
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
  try {
    return MaintenanceFile.parse(JSON.parse(text));
  } catch {
    throw new ConfigError(`${file} cannot be understood; an update left it: signet update status says more`);
  }
}

export async function writeMaintenance(dataDir: string, about: MaintenanceFile): Promise<void> {
  await writeDurably(fileOf(dataDir), `${JSON.stringify(about)}\n`);
}

export async function removeMaintenance(dataDir: string): Promise<void> {
  await rm(fileOf(dataDir), { force: true });
  await syncFolder(dataDir);
}

const endIt =
  "Wait for its end (signet update status); if it was cut off, end it as root with: signet update resume. Then say this again.";

/**
 * Lets a command open the data beside the process that serves it, or without one, and keeps an update from beginning meanwhile.
 * @param updating it is a step of an update, which may outlive the process that began it
 * @returns what says that it has closed the data
 * @throws AppError `conflict` while an update is under way: what it wrote might be taken back with the update
 */
export async function enterBeside(dataDir: string, updating = false): Promise<() => Promise<void>> {
  const release = await holdBeside(dataDir, "shared");
  try {
    const about = updating ? null : await readMaintenance(dataDir);
    if (release && about === null) return release;
    const which = about ? ` to version ${about.to}` : "";
    throw new AppError("conflict", {
      detail: `An update${which} is under way, and until it ended no command may open the data. ${endIt}`,
    });
  } catch (error) {
    await release?.();
    throw error;
  }
}

const lookAgainMs = 50;

/**
 * Waits until no command has the data open any more.
 * @returns what lets them in again
 * @throws AppError `conflict` when one does not end
 */
export async function waitAlone(dataDir: string, waitMs: number): Promise<() => Promise<void>> {
  const until = performance.now() + waitMs;
  for (;;) {
    const release = await holdBeside(dataDir, "exclusive");
    if (release) return release;
    if (performance.now() > until)
      throw new AppError("conflict", {
        detail: "A command of Signet (fsck, backup, drill or another) has the data open: wait for its end, or end it.",
      });
    await new Promise((resolve) => setTimeout(resolve, lookAgainMs));
  }
}

/** Keeps every command out from now on, and waits until those that came before have ended. @throws as waitAlone */
export async function keepOut(dataDir: string, about: MaintenanceFile): Promise<void> {
  await writeMaintenance(dataDir, about);
  try {
    const release = await waitAlone(dataDir, commandsMs);
    await release();
  } catch (error) {
    await removeMaintenance(dataDir);
    throw error;
  }
}

const refusal = {
  detail: "This installation is being updated. Nothing is lost: try again in a minute.",
  retryAfter: 30,
};
const pollMs = 1000;
/** Nobody who began before may take longer than this to finish; an update that waits in vain is taken back. */
const requestsMs = 60_000;
/** The same of a command that works on the data by itself. */
const commandsMs = 5000;
/** The same of a job that was begun, once no other is: what takes longer is refused before, or handed back by a restart. */
const jobsMs = 120_000;

export type Maintenance = Awaited<ReturnType<typeof openMaintenance>>;

type MaintenanceOptions = {
  dataDir: string;
  /** Where the journal of updates lies; null when this is no installation that can be updated. */
  root: string | null;
};

type Held = { about: MaintenanceFile; quiet: boolean; inherited: boolean };

/**
 * What an update that was under way before this start says.
 * @throws ConfigError while the database is being put back
 */
export async function openMaintenance({ dataDir, root }: MaintenanceOptions) {
  let held: Held | null = null;
  const found = await readMaintenance(dataDir);
  if (found?.closed)
    throw new ConfigError("the database is being put back by an update that failed: signet update status says more");
  if (found) held = { about: found, quiet: true, inherited: true };
  let underWay = 0;
  let idle: (() => void) | null = null;

  async function requestsDone(): Promise<void> {
    if (underWay === 0) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const detail = `${underWay} calls that began before did not end.`;
      timer = setTimeout(() => reject(new AppError("conflict", { detail })), requestsMs);
    });
    await Promise.race([new Promise<void>((resolve) => (idle = resolve)), late]).finally(() => clearTimeout(timer));
  }

  let ending: Promise<void> | null = null;

  /** Whoever applies the update says that it ended, and the journal says it as well: it is written down once. */
  async function end(deps: Pick<Deps, "db" | "clock">, id: string, outcome: Outcome): Promise<void> {
    if (held === null) return;
    if (held.about.id !== id) throw new AppError("conflict", { detail: "Another update is under way." });
    ending ??= endHeld(deps, held, outcome).finally(() => {
      ending = null;
    });
    await ending;
  }

  /** The file goes before anybody is let in, so that what they write is never taken for untouched. */
  async function endHeld(deps: Pick<Deps, "db" | "clock">, { about }: Held, outcome: Outcome): Promise<void> {
    const ended = endOf(about, outcome, await journalOf(about.id));
    await deps.db.tx((tx) => recordEnd(tx, deps, ended));
    await removeMaintenance(dataDir);
    held = null;
  }

  const journalOf = async (id: string) => {
    const journal = root === null ? null : await readJournal(root);
    return journal?.id === id ? journal : null;
  };

  return {
    get state() {
      return held && { id: held.about.id, to: held.about.to, quiet: held.quiet, inherited: held.inherited };
    },
    /** No job is begun and nothing is purged. */
    get quiet(): boolean {
      return held?.quiet === true;
    },
    /**
     * Lets a request through that may change something, or refuses it.
     * @throws AppError `service-unavailable`
     */
    async admit<T>(handle: () => Promise<T>): Promise<T> {
      if (held) throw new AppError("service-unavailable", refusal);
      underWay += 1;
      try {
        return await handle();
      } finally {
        underWay -= 1;
        if (underWay === 0) idle?.();
      }
    },
    /**
     * Takes no more, finishes what was begun, then holds still.
     * @param drainMs how long the queue may go on with what is due
     * @throws AppError `conflict` when another update is under way, or something does not end
     */
    async begin(
      deps: Pick<Deps, "db" | "clock">,
      jobs: Pick<JobRunner, "idle">,
      about: Omit<MaintenanceFile, "v" | "closed">,
      drainMs: number,
    ): Promise<void> {
      if (held) throw new AppError("conflict", { detail: "An update is under way already." });
      held = { about: { v: 1, ...about, closed: false }, quiet: false, inherited: false };
      try {
        const { actor, from, to } = about;
        // First of all: who is refused because of a command is refused before people wait.
        await keepOut(dataDir, held.about);
        await requestsDone();
        await within(jobs.idle(), drainMs);
        held.quiet = true;
        if (!(await within(jobs.idle(), jobsMs)))
          throw new AppError("conflict", { detail: "A job that began before did not end: see signet jobs." });
        await deps.db.tx((tx) =>
          recordOperatorAct(tx, deps, { actor, action: "update.begun", target: to, data: { from, to } }),
        );
      } catch (error) {
        await removeMaintenance(dataDir).catch(() => undefined);
        held = null;
        throw error;
      }
    },
    end,
    /**
     * Whoever held it still is gone. Once the program may be another at the next start it goes on holding still, because
     * somebody has to put that right first.
     */
    async abandon(deps: Pick<Deps, "db" | "clock">, id: string): Promise<void> {
      if (held?.about.id !== id) return;
      const journal = await journalOf(id);
      if (journal !== null && recoveryOf(journal.phase) !== "take-back") held.inherited = true;
      else await end(deps, id, "taken-back");
    },
    /**
     * Ends by itself what was under way before this start, once the journal says that it ended.
     * @returns what stops looking
     */
    follow(deps: Pick<Deps, "db" | "clock" | "log">): () => void {
      const look = async () => {
        if (held?.inherited !== true) return;
        const { id } = held.about;
        const journal = await journalOf(id);
        if (journal === null) return await end(deps, id, "taken-back");
        if (journal.phase === "committed") return await end(deps, id, "applied");
        if (journal.phase === "done") await end(deps, id, journal.outcome ?? "taken-back");
      };
      const timer = setInterval(() => {
        look().catch((err: unknown) => deps.log.error({ err }, "the journal of the update cannot be read"));
      }, pollMs);
      timer.unref();
      if (held) deps.log.warn({ update: held.about.id }, "an update is under way: nothing is taken until it ended");
      return () => clearInterval(timer);
    },
  };
}

const acts = {
  applied: "update.applied",
  "taken-back": "update.taken_back",
  returned: "update.returned",
} as const satisfies Readonly<Record<Outcome, OperatorAction>>;

/** What the operators' audit says of the end; a way back with another database says what that took away. */
export function endOf({ actor, from, to }: MaintenanceFile, outcome: Outcome, journal: Journal | null): OperatorAct {
  const loss = outcome === "applied" ? (journal?.loss ?? null) : null;
  const data = { from, to, ...(loss === null ? {} : { lost: loss }) };
  return { actor, action: acts[outcome], target: to, data };
}

/**
 * Writes the end down once: what was cut off before it had removed the file, and a process that was started while the update
 * ended by itself, come to it again. Every update begins with an entry of its own.
 */
export async function recordEnd(tx: Tx, deps: Pick<Deps, "clock">, ended: OperatorAct): Promise<void> {
  const last = await tx
    .selectFrom("operator_audit")
    .select(["action", "target"])
    .where("action", "like", "update.%")
    .orderBy("seq", "desc")
    .limit(1)
    .executeTakeFirst();
  if (last?.action === ended.action && last.target === ended.target) return;
  await recordOperatorAct(tx, deps, ended);
}

/** Waits for the promise, at most so many milliseconds. @returns whether it came */
async function within(work: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  return await Promise.race([work.then(() => true), late]).finally(() => clearTimeout(timer));
}
