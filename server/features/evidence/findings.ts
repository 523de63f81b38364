import type { Ts } from "../../kernel/clock.ts";
import type { Deps } from "../../kernel/deps.ts";
import { type FsckCode, fsckCodes, type fsckKinds } from "./fsck/codes.ts";

export type FsckProblem = { code: FsckCode; kind: (typeof fsckKinds)[number]; where: string; message: string };
export type FsckReport = {
  /** No errors; notes do not count. */
  ok: boolean;
  checked: Record<string, number>;
  /** In the order found, so that the first of a kind is the first wrong link; at most 100 of a code. */
  problems: FsckProblem[];
  notes: FsckProblem[];
};

/** Records are checked in these steps, beside them the files. */
export const recordSteps = ["database", "keys", "acts", "templates", "envelopes", "tree", "queue"] as const;
export type RecordStep = (typeof recordSteps)[number];

/** How far it is: `share` of 1 of the step, and of all files. */
export type FsckProgress = { step: RecordStep | "done"; share: number; files: number; bytes: number };

/** Where a check stands, so that another process can go on from there. */
export type FsckState = {
  v: 3;
  /** When it stood there. */
  at: Ts;
  records: {
    step: RecordStep | "done" /** Last envelope that was looked at; empty at the beginning. */;
    after: string;
  };
  files: { done: boolean /** Last file that was looked at. */; after: string };
  /** Content of files read so far. */
  bytes: number;
  report: FsckReport;
};

/** Collects what the checks find. */
export type Findings = {
  count(what: string, by?: number): void;
  found(code: FsckCode, where: string, message: string): void;
};

const mostOfACode = 100;

/** What one part of a check found, kept apart until it counts: a part that was interrupted is looked at again. */
export function collect(): { findings: Findings; into(report: FsckReport): void } {
  const counts: [string, number][] = [];
  const problems: [FsckCode, string, string][] = [];
  const findings: Findings = {
    count: (what, by = 1) => void counts.push([what, by]),
    found: (code, where, message) => void problems.push([code, where, message]),
  };
  return {
    findings,
    into(report) {
      for (const [what, by] of counts) report.checked[what] = (report.checked[what] ?? 0) + by;
      for (const [code, where, message] of problems) {
        const { kind, level } = fsckCodes[code];
        if (level === "error") report.ok = false;
        const list = level === "error" ? report.problems : report.notes;
        if (list.filter((one) => one.code === code).length < mostOfACode) list.push({ code, kind, where, message });
      }
    },
  };
}

/** Whether the file is there and has this size; a finding when not. That it is whole is seen when all files are walked. */
export async function isThere(
  deps: Pick<Deps, "blobs">,
  findings: Findings,
  { sha256, size, where }: { sha256: string; size?: number; where: string },
): Promise<boolean> {
  const there = await deps.blobs.has(sha256);
  if (!there) findings.found("blob-missing", `${where} ${sha256}`, "it is missing");
  else if (size !== undefined && (await deps.blobs.size(sha256)) !== size)
    findings.found("blob-size", `${where} ${sha256}`, "it has another size than its row says");
  return there;
}

/** The bytes of a file; null and a finding when it is missing or damaged. */
export async function bytesOf(
  deps: Pick<Deps, "blobs">,
  findings: Findings,
  sha256: string,
  where: string,
): Promise<Uint8Array | null> {
  try {
    return await deps.blobs.get(sha256);
  } catch (error) {
    const there = await deps.blobs.has(sha256);
    findings.found(there ? "blob-damaged" : "blob-missing", `${where} ${sha256}`, messageOf(error));
    return null;
  }
}

/** What one check throws is what it found; the others go on. */
export async function guarded(findings: Findings, where: string, check: () => Promise<void>): Promise<void> {
  try {
    await check();
  } catch (error) {
    findings.found("unreadable", where, messageOf(error));
  }
}

/**
 * Reports only what a second look finds again: the first may have fallen between two commits of a server beside us.
 * Counts are those of the last look.
 */
export async function confirmed(
  findings: Findings,
  where: string,
  check: (findings: Findings) => Promise<void>,
): Promise<void> {
  (await lookTwice(where, check))(findings);
}

/** `confirmed` for checks that run side by side. @returns what reports it, in the order that the caller wants */
export async function lookTwice(
  where: string,
  check: (findings: Findings) => Promise<void>,
): Promise<(findings: Findings) => void> {
  const look = async () => {
    const counts: [string, number][] = [];
    const problems: [FsckCode, string, string][] = [];
    const own: Findings = {
      count: (what, by = 1) => void counts.push([what, by]),
      found: (...problem) => void problems.push(problem),
    };
    await guarded(own, where, () => check(own));
    return { counts, problems };
  };
  const first = await look();
  const last = first.problems.length > 0 ? await look() : first;
  const before = new Set(first.problems.map((problem) => JSON.stringify(problem)));
  return (findings) => {
    for (const [what, by] of last.counts) findings.count(what, by);
    for (const problem of last.problems) if (before.has(JSON.stringify(problem))) findings.found(...problem);
  };
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
