import type { Deps } from "../../kernel/deps.ts";

/** What may be wrong; each is the name of one kind of link between stored things. */
export type FsckKind =
  | "database"
  | "blob"
  | "audit-chain"
  | "revision"
  | "submission"
  | "sealed-document"
  | "leaf"
  | "tree"
  | "anchor"
  | "mail"
  | "job"
  /** What is stored cannot even be read, so that nothing else could be said of it. */
  | "unreadable";

export type FsckProblem = { kind: FsckKind; where: string; message: string };
export type FsckReport = {
  ok: boolean;
  checked: Record<string, number>;
  /** In the order found, so that the first of a kind is the first wrong link; at most 100 of a kind. */
  problems: FsckProblem[];
};

/** Collects what the checks find. */
export type Findings = {
  count(what: string, by?: number): void;
  problem(kind: FsckKind, where: string, message: string): void;
  progress(line: string): void;
};

/** The bytes of a blob; null and a finding when it is missing or damaged. */
export async function bytesOf(
  deps: Pick<Deps, "blobs">,
  findings: Findings,
  sha256: string,
  where: string,
): Promise<Uint8Array | null> {
  try {
    return await deps.blobs.get(sha256);
  } catch (error) {
    findings.problem("blob", `${where} ${sha256}`, error instanceof Error ? error.message : String(error));
    return null;
  }
}

/** What one check throws is what it found; the others go on. */
export async function guarded(findings: Findings, where: string, check: () => Promise<void>): Promise<void> {
  try {
    await check();
  } catch (error) {
    findings.problem("unreadable", where, error instanceof Error ? error.message : String(error));
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
  const look = async () => {
    const counts: [string, number][] = [];
    const problems: FsckProblem[] = [];
    const own: Findings = {
      count: (what, by = 1) => void counts.push([what, by]),
      problem: (kind, place, message) => void problems.push({ kind, where: place, message }),
      progress: findings.progress,
    };
    await guarded(own, where, () => check(own));
    return { counts, problems };
  };
  const first = await look();
  const last = first.problems.length > 0 ? await look() : first;
  const keyOf = (problem: FsckProblem) => JSON.stringify(problem);
  const before = new Set(first.problems.map(keyOf));
  for (const [what, by] of last.counts) findings.count(what, by);
  for (const problem of last.problems) {
    if (before.has(keyOf(problem))) findings.problem(problem.kind, problem.where, problem.message);
  }
}
