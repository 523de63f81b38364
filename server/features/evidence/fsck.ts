import type { Deps } from "../../kernel/deps.ts";
import { bytesOf, confirmed, type Findings, type FsckReport, guarded } from "./findings.ts";
import { checkEnvelopes } from "./fsck-envelopes.ts";
import { checkTree } from "./fsck-tree.ts";
import { checkQueue } from "./fsck-work.ts";

const mostOfAKind = 100;

/**
 * Walks every audit chain, revision, submission, sealed document, leaf, tree node, anchor, mail and blob, and reports what does not
 * fit together. Changes nothing and goes on behind whatever cannot be read; safe beside a running server.
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
  await guarded(findings, "signet.db", async () => {
    for (const line of await deps.db.check()) findings.problem("database", "signet.db", line);
  });
  await guarded(findings, "envelopes", () => checkEnvelopes(deps, findings));
  await confirmed(findings, "tree", (own) => checkTree(deps, own));
  await confirmed(findings, "queue", (own) => checkQueue(deps, own));
  await guarded(findings, "blob store", () => checkBlobs(deps, findings));
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
