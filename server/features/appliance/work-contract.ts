import { z } from "zod";
import { localEndpoint } from "../../kernel/endpoint.ts";
import { Ts } from "../../kernel/wire.ts";

/** Work that failed for good, or fails again and again. */

export const workCauses = ["process-ended"] as const;
export const workEnds = ["links-wiped", "content-wiped"] as const;

export const StuckWork = z.object({
  id: z.string(),
  /** Kind of work, `evidence.seal`. */
  name: z.string(),
  /** `failed`: no further attempt is made. `failing`: it failed three times or more and is tried again. */
  state: z.enum(["failed", "failing"]),
  organization: z.object({ id: z.string(), name: z.string() }).nullable(),
  envelope: z.object({ id: z.string(), title: z.string() }).nullable(),
  /** Masked: `m***@example.com`. */
  recipient: z.string().nullable(),
  cause: z.string(),
  /** Where the cause is one of ours and not what a program, a server or the system said. */
  causeCode: z.enum(workCauses).nullable(),
  attempts: z.int(),
  since: Ts,
  nextAttemptAt: Ts.nullable(),
  /** Why trying again cannot help; null when it can. */
  finalBecause: z.string().nullable(),
  finalCode: z.enum(workEnds).nullable(),
});
export type StuckWork = z.infer<typeof StuckWork>;

export const StuckWorkList = z
  .object({ data: z.array(StuckWork), /** Of all, also those beyond the limit. */ total: z.int() })
  .meta({ id: "StuckWorkList" });
export type StuckWorkList = z.infer<typeof StuckWorkList>;

export const listStuckWork = localEndpoint({
  method: "GET",
  path: "/local/work",
  id: "listStuckWork",
  summary: "Work that failed for good or fails again and again, with its cause and what it belongs to",
  query: z.object({ limit: z.coerce.number().int().min(1).max(500).default(100) }),
  responses: { 200: { kind: "json", schema: StuckWorkList } },
});

export const retryWork = localEndpoint({
  method: "POST",
  path: "/local/work/{id}/retry",
  id: "retryWork",
  summary: "Try this work again now",
  params: z.object({ id: z.string().max(60) }),
  responses: { 200: { kind: "json", schema: z.object({ id: z.string(), name: z.string() }) } },
  errors: ["not-found", "conflict"],
});

export const retryAllWork = localEndpoint({
  method: "POST",
  path: "/local/work/retry",
  id: "retryAllWork",
  summary: "Try everything that is stuck and can be tried again now",
  responses: {
    200: { kind: "json", schema: z.object({ retried: z.int(), /** For which it cannot help. */ left: z.int() }) },
  },
});

export const workEndpoints = [listStuckWork, retryAllWork, retryWork];
