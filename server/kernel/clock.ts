/** ISO 8601 UTC with milliseconds, for example `2026-11-21T09:10:00.000Z`. Text order is time order. */
export type Ts = string;

export type Clock = {
  /** Milliseconds since the epoch. */
  now(): number;
  ts(): Ts;
};

export function toTs(ms: number): Ts {
  return new Date(ms).toISOString();
}

export const systemClock: Clock = { now: () => Date.now(), ts: () => toTs(Date.now()) };
