import type { Deps } from "../../../kernel/deps.ts";
import { type AdminAuditRow, checkAdminChain } from "../../identity/service.ts";
import { checkRecords } from "../../keys/service.ts";
import { checkOperatorChain } from "../../operators/service.ts";
import { checkOperatorHead } from "../anchors/operator-head.ts";
import type { Findings } from "../findings.ts";
import * as store from "../store.ts";

/** The records of acts: on the keys, by operators, and by administrators of each organization. */

export async function checkActs(deps: Deps, findings: Findings): Promise<void> {
  for (const line of await checkRecords(deps.db.read)) findings.found("key-record", "key_records", line);
  const { valid, length, brokenAtSeq } = await checkOperatorChain(deps.db.read);
  findings.count("operators' acts", length);
  if (!valid) findings.found("operator-audit", "operator_audit", `entry ${brokenAtSeq} does not follow the one before`);
  const said = await checkOperatorHead(deps.db.read);
  if (said !== null) findings.found(said.code, "operator_audit", said.message);
  await checkAdminActs(deps, findings);
}

/** The chain of each organization, and that the rows which the acts changed agree with them. */
async function checkAdminActs(deps: Deps, findings: Findings): Promise<void> {
  const { read } = deps.db;
  const found = (where: string, message: string) => findings.found("admin-audit", where, message);
  const held = new Map<string, string>();
  const kept = new Map<string, number | null>();
  const deletions = new Map<string, number>();
  const look = ({ organization, action, target, data }: AdminAuditRow) => {
    if (action === "retention.changed") kept.set(organization, JSON.parse(data).to);
    if (action === "envelope.documents_deleted") deletions.set(organization, (deletions.get(organization) ?? 0) + 1);
    if (action === "envelope.held" && target !== null) held.set(target, JSON.parse(data).reason);
    if (action === "envelope.released" && target !== null) held.delete(target);
  };
  const deleted = await store.countDeleted(read);
  for (const { id, days } of await store.listRetentions(read)) {
    const { valid, length, brokenAtSeq } = await checkAdminChain(read, id, look);
    findings.count("administrative acts", length);
    if (!valid) found(id, `administrative act ${brokenAtSeq} does not follow the one before`);
    const said = kept.get(id) ?? null;
    if (days !== said)
      found(id, `documents are kept ${days ?? "for ever"}, and the last act says ${said ?? "for ever"}`);
    const [marked, acts] = [deleted.get(id) ?? 0, deletions.get(id) ?? 0];
    if (marked !== acts) found(id, `${marked} envelopes lost their documents, and ${acts} acts say so`);
  }
  const holds = new Map((await store.listHolds(read)).map(({ id, hold }) => [id, JSON.parse(hold).reason]));
  for (const envelope of new Set([...holds.keys(), ...held.keys()]))
    if (holds.get(envelope) !== held.get(envelope)) found(envelope, "the acts say something else of its hold");
}
