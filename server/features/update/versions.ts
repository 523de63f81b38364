/** Versions of releases: `1.4.0`, or `1.4.0-rc.2` before it. */

export const versionPattern = /^(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})(-[0-9A-Za-z]+(\.[0-9A-Za-z]+)*)?$/;

/** Negative when `a` comes before `b` (Semantic Versioning 2.0.0, 11). */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)];
  for (const [index, number] of left.numbers.entries()) {
    const difference = number - (right.numbers[index] ?? 0);
    if (difference !== 0) return difference;
  }
  if (left.before.length === 0 || right.before.length === 0) return right.before.length - left.before.length;
  for (let index = 0; index < Math.max(left.before.length, right.before.length); index++) {
    const [one, other] = [left.before[index], right.before[index]];
    if (one === undefined) return -1;
    if (other === undefined) return 1;
    const difference = compareIdentifiers(one, other);
    if (difference !== 0) return difference;
  }
  return 0;
}

function partsOf(version: string): { numbers: number[]; before: string[] } {
  const dash = version.indexOf("-");
  const main = dash < 0 ? version : version.slice(0, dash);
  return { numbers: main.split(".").map(Number), before: dash < 0 ? [] : version.slice(dash + 1).split(".") };
}

function compareIdentifiers(a: string, b: string): number {
  const [left, right] = [a, b].map((text) => (/^\d+$/.test(text) ? Number(text) : null));
  if (typeof left === "number" && typeof right === "number") return left - right;
  if (typeof left === "number") return -1;
  if (typeof right === "number") return 1;
  return a < b ? -1 : a > b ? 1 : 0;
}
