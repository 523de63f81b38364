import type { Deps } from "../../kernel/deps.ts";
import { checkEnvelopes } from "./fsck-envelopes.ts";
import { checkTree } from "./fsck-tree.ts";

/** What may be wrong; each is the name of one kind of link between stored things. */
export type FsckKind =
  | "database"
  | "blob"
  | "audit-chain"
  | "revision"
  | "sealed-document"
  | "leaf"
  | "tree"
  | "anchor"
  | "mail"
  | "job";

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

const mostOfAKind = 100;

/**
 * Walks every audit chain, revision, sealed document, leaf, tree node, anchor, mail and blob, and reports what does not
 * fit together. Changes nothing; safe beside a running server.
 */
export async function fsck(deps: Deps, onProgress: (line: string) => void = () => undefined): Promise<FsckReport> {
  const report: FsckReport = { ok: true, checked: {}, problems: [] };
  const findings: Findings = {
    count(what, by = 1) {
      report.checked[what] = (report.checked[what] ?? 0) + by;
    },
    problem(kind, where, message) {
      report.ok = false;
      if (report.problems.filter((one) => one.kind === kind).length < mostOfAKind)
        report.problems.push({ kind, where, message });
    },
    progress: onProgress,
  };
  for (const line of await deps.db.check()) findings.problem("database", "signet.db", line);
  await checkEnvelopes(deps, findings);
  await checkTree(deps, findings);
  await checkBlobs(deps, findings);
  return report;
}

async function checkBlobs(deps: Deps, findings: Findings): Promise<void> {
  findings.count("blobs", 0);
  for await (const sha256 of deps.blobs.list()) {
    findings.count("blobs");
    findings.progress(`blob ${sha256.slice(0, 12)}…`);
    await bytesOf(deps, findings, sha256, "blob store");
  }
}

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
