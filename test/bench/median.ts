export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}

/** @returns how long the work took, in milliseconds */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** The value that this share of all is at most. */
export function percentile(values: readonly number[], share: number): number {
  return [...values].sort((a, b) => a - b)[Math.round(share * (values.length - 1))] ?? Number.NaN;
}

/** Lower and upper quartile. */
export const quartiles = (values: readonly number[]): [number, number] => [
  percentile(values, 0.25),
  percentile(values, 0.75),
];

/**
 * Two-sided p-value of the Mann–Whitney U test by its normal approximation, good from some 20 values a side: how likely two
 * samples of one distribution differ at least as much as these.
 */
export function mannWhitney(left: readonly number[], right: readonly number[]): number {
  const wins = left.reduce((sum, a) => sum + right.reduce((inner, b) => inner + (a > b ? 1 : a === b ? 0.5 : 0), 0), 0);
  const pairs = left.length * right.length;
  const deviation = Math.sqrt((pairs * (left.length + right.length + 1)) / 12);
  return 2 * (1 - normal(Math.abs(wins - pairs / 2) / deviation));
}

/** Distribution function of the standard normal (Abramowitz and Stegun, 26.2.17; error below 7.5e-8). */
function normal(z: number): number {
  const t = 1 / (1 + 0.2316419 * z);
  const polynomial = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return 1 - (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * polynomial;
}
