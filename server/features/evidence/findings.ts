import type { Deps } from "../../kernel/deps.ts";

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
