import type { RunStatus } from "./contract.ts";

/** How many backups stay. */
export type Keep = { last: number; daily: number; weekly: number; monthly: number };

const none: Keep = { last: 0, daily: 0, weekly: 0, monthly: 0 };

/** Reads `last=3,daily=7,weekly=5,monthly=12`, in any order. @throws Error */
export function parseKeep(parts: readonly string[]): Keep {
  const keep = { ...none };
  for (const part of parts) {
    const [name = "", count = ""] = part.split("=");
    if (!(name in keep) || !/^\d{1,4}$/.test(count)) throw new Error(`${part} is no rule of what to keep`);
    Object.assign(keep, { [name]: Number(count) });
  }
  // The newest always stays.
  return { ...keep, last: Math.max(1, keep.last) };
}

type Dated = { id: string; createdAt: string };

/**
 * What may go of an appliance's backups: one that was not found whole keeps no place that a whole one needs, and goes when it would
 * have gone as a whole one.
 * @param noted what became of each; of another life of the data folder nothing is known, and such a one counts as whole
 */
export function letGo(own: readonly Dated[], noted: ReadonlyMap<string, RunStatus>, keep: Keep): string[] {
  const isWhole = ({ id }: Dated) => !notWhole.some((status) => status === noted.get(id));
  const others = new Set(own.filter((one) => !isWhole(one)).map(({ id }) => id));
  return [...superseded(own.filter(isWhole), keep), ...superseded(own, keep).filter((id) => others.has(id))];
}

/** Complete when it failed or was cancelled, it was never read again. */
const notWhole: readonly RunStatus[] = ["damaged", "failed", "cancelled"];

/**
 * What may go: everything but the newest ones and the newest of each of the last days, weeks (from Monday) and months, in UTC.
 * @param backups that are whole, in any order
 */
function superseded(backups: readonly Dated[], keep: Keep): string[] {
  const newestFirst = backups.toSorted((a, b) => (a.id < b.id ? 1 : -1));
  const kept = new Set(newestFirst.slice(0, keep.last).map(({ id }) => id));
  const periods = [
    [keep.daily, (at: string) => at.slice(0, 10)],
    [keep.weekly, mondayOf],
    [keep.monthly, (at: string) => at.slice(0, 7)],
  ] as const;
  for (const [count, periodOf] of periods) {
    const seen = new Set<string>();
    for (const { id, createdAt } of newestFirst) {
      const period = periodOf(createdAt);
      if (seen.has(period) || seen.size >= count) continue;
      seen.add(period);
      kept.add(id);
    }
  }
  return newestFirst.map(({ id }) => id).filter((id) => !kept.has(id));
}

function mondayOf(at: string): string {
  const day = new Date(`${at.slice(0, 10)}T00:00:00Z`);
  day.setUTCDate(day.getUTCDate() - ((day.getUTCDay() + 6) % 7));
  return day.toISOString().slice(0, 10);
}
