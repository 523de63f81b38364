import { type VerifyResult, verifyDocument } from "../../../../server/features/evidence/contract.ts";
import { type EvidenceReport, verifyEvidence } from "../../../../server/features/evidence/verify.ts";
import { getAnchorKeys } from "../../../../server/features/keys/contract.ts";
import { callEndpoint } from "../../../shared/api/client.ts";
import { fingerprint } from "./hash.ts";

export type Verdict = "anchored" | "pending" | "unknown" | "wrong";
export type Stage = "hashing" | "looking" | "checking";
export type Outcome = {
  verdict: Verdict;
  file: { name: string; size: number; sha256: string };
  result: VerifyResult;
  report: EvidenceReport | null;
};

/**
 * Hashes the file, looks it up, and checks leaf, proof, anchor, signature and key here.
 * @throws ProblemResponse, NoAnswer
 */
export async function checkFile(file: File, onStage: (stage: Stage) => void): Promise<Outcome> {
  onStage("hashing");
  const sha256 = await fingerprint(file);
  const about = { name: file.name, size: file.size, sha256 };
  onStage("looking");
  const result = await callEndpoint(verifyDocument, { body: { sha256 } });
  if (result.status === "unknown") return { verdict: "unknown", file: about, result, report: null };
  if (result.status === "pending") {
    const verdict = result.leaf.documentSha256 === sha256 ? "pending" : "wrong";
    return { verdict, file: about, result, report: null };
  }
  onStage("checking");
  const { keys } = await callEndpoint(getAnchorKeys, {});
  const { leaf, proof, anchor } = result;
  const report = verifyEvidence({ sha256, leaf, proof, anchor, keys });
  return { verdict: report.valid ? "anchored" : "wrong", file: about, result, report };
}
