import { z } from "zod";
import { localEndpoint } from "../../kernel/endpoint.ts";
import { Actor, Hex64, type Json, Ts } from "../../kernel/wire.ts";

/** What may be done, as `what.done`. Only added to: the audit keeps each name for ever. */
export const operatorActions = [
  "access.key_revoked",
  "access.owner_recovered",
  "access.revoked",
  "access.session_ended",
  "anchor.signed",
  "anchors.held",
  "anchors.resumed",
  "backup.cancelled",
  "backup.damaged",
  "backup.failed",
  "backup.restored",
  "backup.started",
  "backup.verified",
  "backup.verify_started",
  "clock.accepted",
  "drill.cancelled",
  "drill.failed",
  "drill.passed",
  "drill.started",
  "keys.certificate_installed",
  "keys.certificate_requested",
  "keys.generated",
  "keys.imported",
  "keys.library_loaded",
  "keys.pin_tried",
  "keys.rotated",
  "keys.test_signed",
  "mail.tested",
  "organization.created",
  "organization.plan_changed",
  "organization.renamed",
  "restore.cancelled",
  "settings.changed",
  "setup.first_link_made",
  "setup.step_reopened",
  "setup.step_skipped",
  "support.bundle_made",
  "tls.acme_installed",
  "tls.acme_requested",
  "tls.acme_rolled_over",
  "tls.acme_set_up",
  "tls.acme_turned_off",
  "tls.installed",
  "tls.reloaded",
  "tls.requested",
  "tls.rolled_back",
  "tls.self_signed",
  "update.applied",
  "update.begun",
  "update.returned",
  "update.taken_back",
  "verify.cancelled",
  "work.retried",
] as const;
export type OperatorAction = (typeof operatorActions)[number];

/** One act of an administrator of the machine; `hash` is the SHA-256 of the RFC 8785 text of the entry without `hash`. */
export const OperatorEntry = z
  .object({
    v: z.literal(1),
    seq: z.int(),
    at: Ts,
    actor: Actor,
    action: z.string(),
    target: z.string().nullable(),
    data: z.record(z.string(), z.unknown()),
    prevHash: Hex64,
    hash: Hex64,
  })
  .meta({ id: "OperatorEntry" });
export type OperatorEntry = Omit<z.infer<typeof OperatorEntry>, "data"> & { data: Readonly<Record<string, Json>> };

export const OperatorAudit = z
  .object({
    /** Newest first. */
    data: z.array(OperatorEntry),
    hasMore: z.boolean(),
    verification: z.object({ valid: z.boolean(), length: z.int(), headHash: Hex64, brokenAtSeq: z.int().nullable() }),
  })
  .meta({ id: "OperatorAudit" });

export const listOperatorAudit = localEndpoint({
  method: "GET",
  path: "/local/audit",
  id: "listOperatorAudit",
  summary: "What the machine's administrators did",
  query: z.object({
    /** Entries before this number. */
    before: z.coerce.number().int().min(1).optional(),
    limit: z.coerce.number().int().min(1).max(200).default(50),
  }),
  responses: { 200: { kind: "json", schema: OperatorAudit } },
});

export const endpoints = [listOperatorAudit];
