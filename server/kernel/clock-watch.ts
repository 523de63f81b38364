import { type Ts, toTs } from "./clock.ts";
import type { Database, Reader, Tx } from "./db.ts";
import type { ClockMark, GuardedClock, Machine } from "./guarded-clock.ts";
import type { Log } from "./log.ts";

/** What is remembered of the clock across restarts, and what was done to it. */

export type ClockStateRow = {
  id: 1;
  /** Milliseconds since the epoch, as last believed. */
  at: number;
  uptime: number;
  boot: string | null;
  /** 1 while the clock is in doubt. */
  doubted: number;
  /** How often an operator has accepted the machine's clock. */
  accepted: number;
};
/** Append-only. `stepped`: set, and followed. */
export type ClockEventRow = {
  sequence: number;
  kind: "stepped" | "doubted" | "settled" | "accepted";
  /** What the machine said. */
  machine_at: Ts;
  /** What it would have said, had nobody set it. */
  expected_at: Ts;
};

declare module "./db.ts" {
  interface Tables {
    clock_state: ClockStateRow;
    clock_events: ClockEventRow;
  }
}

const lookEveryMs = 5_000;
/** A clock that is set by less is kept in time by its system. */
const worthRecordingMs = 60_000;

/** Lets the clock begin where the last run has ended. @returns how often the machine's clock was accepted so far */
export async function beginClock(reader: Reader, clock: GuardedClock): Promise<number> {
  const row = await readClockState(reader);
  clock.begin(row && markOf(row), row?.doubted === 1);
  return row?.accepted ?? 0;
}

export function readClockState(reader: Reader): Promise<ClockStateRow | undefined> {
  return reader.selectFrom("clock_state").selectAll().executeTakeFirst();
}

/** What was done to the clock, newest first. */
export function listClockEvents(reader: Reader, limit: number): Promise<ClockEventRow[]> {
  return reader.selectFrom("clock_events").selectAll().orderBy("sequence", "desc").limit(limit).execute();
}

/**
 * An operator says that the machine's clock is right. A running server hears of it at its next look.
 * @param note writes who it was, in the same transaction
 */
export async function acceptClock(
  db: Database,
  machine: Machine,
  expected: Ts,
  note?: (tx: Tx) => Promise<void>,
): Promise<void> {
  const mark = { at: machine.now(), uptime: Math.floor(machine.uptime()), boot: machine.boot() };
  await db.tx(async (tx) => {
    const accepted = ((await readClockState(tx))?.accepted ?? 0) + 1;
    await writeState(tx, { ...mark, doubted: 0, accepted });
    await record(tx, { kind: "accepted", machine_at: toTs(mark.at), expected_at: expected });
    await note?.(tx);
  });
}

export type ClockWatch = { look(): Promise<void>; stop(): Promise<void> };

/**
 * Remembers the time every few seconds, records what is done to the clock, and says aloud when it is in doubt.
 * @param accepted what `beginClock` gave
 */
export function watchClock(
  { db, clock, log }: { db: Database; clock: GuardedClock; log: Log },
  accepted: number,
): ClockWatch {
  let known = accepted;
  let doubted: { machine: Ts; expected: Ts } | null = null;

  async function look(): Promise<void> {
    const stored = await readClockState(db.read);
    if (stored && stored.accepted > known) {
      known = stored.accepted;
      clock.accept();
    }
    const { mark, step, doubt } = clock.look();
    const before = doubted;
    const events: Omit<ClockEventRow, "sequence">[] = [];
    if (doubt && stored?.doubted !== 1)
      events.push({ kind: "doubted", machine_at: doubt.machine, expected_at: doubt.expected });
    if (!doubt && stored?.doubted === 1)
      events.push({ kind: "settled", machine_at: toTs(mark.at), expected_at: toTs(mark.at) });
    if (!doubt && stored && Math.abs(step) > worthRecordingMs)
      events.push({ kind: "stepped", machine_at: toTs(mark.at), expected_at: toTs(mark.at - step) });
    await db.tx(async (tx) => {
      // Somebody has accepted the clock meanwhile: the next look sees it.
      if (((await readClockState(tx))?.accepted ?? 0) !== known) return;
      // In doubt the last moment that was believed stays.
      const kept = doubt && stored ? markOf(stored) : { ...mark, uptime: Math.floor(mark.uptime) };
      await writeState(tx, { ...kept, doubted: doubt ? 1 : 0, accepted: known });
      for (const event of events) await record(tx, event);
    });
    doubted = doubt;
    if (doubt && !before)
      log.error(
        doubt,
        "the machine's clock cannot be right: nothing is signed, sent or deleted until it is set, or accepted with `signet clock accept`",
      );
    if (!doubt && before) log.warn({}, "the clock is believed again");
    if (events.some(({ kind }) => kind === "stepped")) log.warn({ step }, "the clock was set");
  }

  let looking = Promise.resolve();
  const next = (): Promise<void> => {
    looking = looking.then(look).catch((err: unknown) => log.error({ err }, "the time could not be remembered"));
    return looking;
  };
  const timer = setInterval(() => void next(), lookEveryMs);
  timer.unref();
  return {
    look: next,
    async stop() {
      clearInterval(timer);
      await next();
    },
  };
}

const markOf = ({ at, uptime, boot }: ClockStateRow): ClockMark => ({ at, uptime, boot });

async function writeState(tx: Tx, state: Omit<ClockStateRow, "id">): Promise<void> {
  await tx
    .insertInto("clock_state")
    .values({ id: 1, ...state })
    .onConflict((conflict) => conflict.column("id").doUpdateSet(state))
    .execute();
}

async function record(tx: Tx, event: Omit<ClockEventRow, "sequence">): Promise<void> {
  const [last] = await listClockEvents(tx, 1);
  await tx
    .insertInto("clock_events")
    .values({ sequence: (last?.sequence ?? 0) + 1, ...event })
    .execute();
}
