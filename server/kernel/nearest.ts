/**
 * The name that was probably meant.
 * @returns the one that is the fewest changed, missing, added or swapped letters away, null when none is near: at most a third of
 *   the letters (optimal string alignment distance; Damerau 1964)
 */
export function nearest(typed: string, names: readonly string[]): string | null {
  let best: string | null = null;
  let least = Math.floor(Math.max(typed.length, 3) / 3) + 1;
  for (const name of names) {
    const steps = distance(typed, name);
    if (steps < least) [best, least] = [name, steps];
  }
  return best;
}

function distance(from: string, to: string): number {
  let before: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row++) {
    const now = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      const steps = [(last[column] ?? 0) + 1, (now[column - 1] ?? 0) + 1, (last[column - 1] ?? 0) + (same ? 0 : 1)];
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (swapped) steps.push((before[column - 2] ?? 0) + 1);
      now.push(Math.min(...steps));
    }
    [before, last] = [last, now];
  }
  return last[to.length] ?? 0;
}
