import { z } from "zod";
import { endpoint } from "../../kernel/endpoint.ts";
import { QueryBoolean } from "../../kernel/wire.ts";

/** The audit export (contract §15). Isomorphic. */

export const jsonLines = "application/jsonl";
export const csv = "text/csv; charset=utf-8";

export const exportAudit = endpoint({
  method: "GET",
  path: "/v1/organization/audit-export",
  id: "exportAudit",
  tag: "Organization",
  summary: "Download every audit entry of the organization with the heads of all chains",
  credential: "key",
  permission: "org:manage",
  query: z.object({
    format: z.enum(["jsonl", "csv"]).default("jsonl"),
    testMode: QueryBoolean.optional().meta({ description: "Dashboard sessions only; a key fixes the mode" }),
  }),
  responses: {
    200: {
      kind: "stream",
      types: [jsonLines, "text/csv"],
      description:
        "JSON Lines: a first line `svc.audit-export`; the administrative acts as `svc.admin-act`, each the RFC 8785 text of " +
        "the act (without its member `hash` it is what was hashed), and a line `svc.admin-head` with length and head hash of " +
        "their chain; then for each envelope its " +
        "entries, one a line, each the RFC 8785 text of the AuditEntry (without its member `hash` it is what was hashed), and " +
        "a line `svc.audit-head` with length and head hash of the chain; last a line `svc.audit-export-end` with the counts, " +
        "without which the file was cut off. CSV: the same as rows, told apart by the column `record`; a cell that a " +
        "spreadsheet would take for a formula begins with an apostrophe.",
    },
  },
  errors: ["plan-upgrade-required"],
});

export const endpoints = [exportAudit];
