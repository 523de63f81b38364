/** ISO 8601 UTC with milliseconds, for example `2026-11-21T09:10:00.000Z`. Text order is time order. */
export type Ts = string;

export type Clock = {
  /** Milliseconds since the epoch. */
  now(): number;
  ts(): Ts;
  /** Why the machine's clock is not believed at present; null while it is. Absent: it is always believed. */
  doubt?(): ClockDoubt | null;
};

/** The machine's clock says something that cannot be: what it says, and what it would have to be. */
export type ClockDoubt = { machine: Ts; expected: Ts };

export function toTs(ms: number): Ts {
  return new Date(ms).toISOString();
}

/** Whether nobody knows what time it is. */
export const inDoubt = (clock: Clock): boolean => (clock.doubt?.() ?? null) !== null;

export const systemClock: Clock = { now: () => Date.now(), ts: () => toTs(Date.now()) };
