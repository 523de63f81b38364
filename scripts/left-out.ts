import path from "node:path";
import { reachedFrom } from "./called-programs.ts";
import { installCommand, type Programs } from "./system-packages.ts";

const root = path.resolve(import.meta.dirname, "..");

/** What tests need of this machine, besides what npm installs. */
export type Machine = {
  /** Programs that it lacks. */
  missing: Programs;
  isRoot: boolean;
  /** Why another user could not start our programs; null when one can. */
  hidden: string | null;
};

export type LeftOut = {
  /** Relative to the checkout. */
  file: string;
  /** Each in a few words. */
  needs: string[];
};

/** Whether every test can run on it. */
export function isComplete({ missing, isRoot, hidden }: Machine): boolean {
  return Object.keys(missing).length === 0 && isRoot && hidden === null;
}

const harness = path.join(root, "test/harness");
const rootOnly = path.join(harness, "root-only.ts");
const anotherUser = path.join(harness, "another-user.ts");

/** @returns those of the test files that this machine cannot run */
export function leftOutOf(files: readonly string[], { missing, isRoot, hidden }: Machine): LeftOut[] {
  const lacking = new Map(Object.keys(missing).map((place) => [path.basename(place), place]));
  return files.flatMap((file) => {
    const reached = reachedFrom(file, missing);
    const needs = [...reached.programs].filter((program) => lacking.has(program));
    if (!isRoot && reached.files.has(rootOnly)) needs.push("root");
    if (hidden !== null && reached.files.has(anotherUser)) needs.push("a checkout that other users can read");
    return needs.length === 0 ? [] : [{ file: path.relative(root, file), needs }];
  });
}

export function countFiles({ length }: readonly LeftOut[]): string {
  return `${length} ${length === 1 ? "file" : "files"}`;
}

export type Result = { passed: number; failed: number; leftOut: readonly LeftOut[] };

/**
 * Why a run is no success; null when it is one. Nothing that passed never is.
 * @param complete whether files that were left out are a failure
 */
export function whyFailed({ passed, failed, leftOut }: Result, complete: boolean): string | null {
  if (failed > 0) return `${failed} failed`;
  if (complete && leftOut.length > 0) return `--complete: ${countFiles(leftOut)} left out`;
  return passed === 0 ? "nothing ran that passed" : null;
}

/** Which files were left out and why, with the one command that changes it. */
export function describeLeftOut(leftOut: readonly LeftOut[], { missing, hidden }: Machine): string {
  const lines = [
    `Left out, ${countFiles(leftOut)}:`,
    ...leftOut.map(({ file, needs }) => `  ${file}: ${needs.join(", ")}`),
  ];
  const needed = new Set(leftOut.flatMap(({ needs }) => needs));
  const packages = Object.entries(missing).filter(([place]) => needed.has(path.basename(place)));
  if (packages.length > 0)
    lines.push(
      "To run them, install what they need:",
      "",
      `  sudo sh -c '${installCommand(Object.fromEntries(packages))}'`,
      "",
    );
  if (needed.has("root")) lines.push("Those that need root: run `npm test` as root.");
  if (hidden !== null) lines.push(`Other users: ${hidden}.`);
  return lines.join("\n");
}
