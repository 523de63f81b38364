import { z } from "zod";
import { localEndpoint } from "../../kernel/endpoint.ts";
import { Actor, Hex64, type Json, Ts } from "../../kernel/wire.ts";

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

export const auditEndpoints = [listOperatorAudit];
