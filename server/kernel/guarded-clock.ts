import { readFileSync } from "node:fs";
import { uptime } from "node:os";
import { type Clock, type ClockDoubt, toTs } from "./clock.ts";

/** What a machine knows of time. */
export type Machine = {
  /** Its clock, which anybody may set: milliseconds since the epoch. */
  now(): number;
  /** Milliseconds since it was started, sleep included; no setting of the clock moves it. */
  uptime(): number;
  /** Another text after each start of the machine; null where there is none to be had. */
  boot(): string | null;
};

export const thisMachine: Machine = {
  now: () => Date.now(),
  uptime: () => uptime() * 1000,
  boot() {
    try {
      return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    } catch {
      return null;
    }
  },
};

/** A moment that was believed: what the clock said, and how long the machine had run. */
export type ClockMark = { at: number; uptime: number; boot: string | null };

/**
 * A clock that does not follow the machine's where that cannot be right, and never goes back. While in doubt it goes on by
 * the machine's running time, so that nothing expires, is deleted or renewed by a jump; whoever acts asks `doubt` first.
 */
export type GuardedClock = Clock & {
  doubt(): ClockDoubt | null;
  /** Takes up the last moment that an earlier run believed. @param doubted that run ended in doubt */
  begin(mark: ClockMark | undefined, doubted: boolean): void;
  /** Looks again. @returns the moment to remember, by how much the clock was set since the last look, and the doubt */
  look(): { mark: ClockMark; step: number; doubt: ClockDoubt | null };
  /** Believes the machine from now on. */
  accept(): void;
};

/** Set ahead by more than this while the machine ran on, the clock is in doubt. */
const mostAheadMs = 24 * 3_600_000;
/** Set back by more than this, the clock is in doubt; by less, time stands still until it is caught up. */
const mostBehindMs = 5 * 60_000;
/** Nobody knows how long a machine was off; beyond this its clock is in doubt. */
const longestOffMs = 30 * 24 * 3_600_000;
/** A reading so shortly behind the one before needs no second thought: the running time is dearer to ask for. */
const briefMs = 60_000;

/** Believes everything until `begin`. */
export function guardClock(machine: Machine): GuardedClock {
  let base: { at: number; uptime: number } | undefined;
  let told = Number.NEGATIVE_INFINITY;
  let read = machine.now();
  let doubt: ClockDoubt | null = null;

  function now(): number {
    const wall = machine.now();
    if (base === undefined) return wall;
    const brief = doubt === null && wall >= read && wall - read < briefMs;
    const expected = brief ? wall : base.at + Math.max(0, machine.uptime() - base.uptime);
    const off = wall - expected;
    const believed = off <= mostAheadMs && off >= -mostBehindMs;
    doubt = believed ? null : { machine: toTs(wall), expected: toTs(Math.floor(expected)) };
    if (believed) read = wall;
    told = Math.max(told, Math.floor(believed ? wall : expected));
    return told;
  }
  const believe = (): void => {
    read = machine.now();
    base = { at: read, uptime: machine.uptime() };
  };

  return {
    now,
    ts: () => toTs(now()),
    doubt() {
      now();
      return doubt;
    },
    begin(mark, doubted) {
      believe();
      if (mark !== undefined) {
        const up = machine.uptime();
        const runsOn = mark.boot !== null && mark.boot === machine.boot() && up >= mark.uptime;
        const off = read - mark.at;
        told = mark.at;
        if (runsOn) base = mark;
        else if (doubted || off > longestOffMs || off < -mostBehindMs) base = { at: mark.at, uptime: up };
        // Not a short step behind what was believed: the first reading is judged in full.
        read = Number.POSITIVE_INFINITY;
      }
      now();
    },
    look() {
      const at = now();
      const up = machine.uptime();
      if (base === undefined || doubt !== null)
        return { mark: { at, uptime: up, boot: machine.boot() }, step: 0, doubt };
      const step = Math.round(machine.now() - (base.at + Math.max(0, up - base.uptime)));
      believe();
      return { mark: { at, uptime: up, boot: machine.boot() }, step, doubt };
    },
    accept() {
      believe();
      doubt = null;
      told = read;
    },
  };
}
