import { z } from "zod";
import { localEndpoint } from "../../kernel/endpoint.ts";
import { QueryBoolean, Ts } from "../../kernel/wire.ts";

/** What is looked at, whether it is well, and what to do when it is not. */

export const checkAreas = [
  "service",
  "settings",
  "storage",
  "machine",
  "keys",
  "network",
  "mail",
  "work",
  "organizations",
  "backup",
] as const;

/** What fills the placeholders of words: `{freeBytes}`. A name ends in Bytes or Hours, or is `day`, where its value is shown so. */
export const Params = z.record(z.string(), z.union([z.string(), z.number()]));
export type Params = z.infer<typeof Params>;

export const Finding = z.object({
  /** Stable, so that pages and scripts know it again: `disk`, `key.seal`. */
  id: z.string(),
  area: z.enum(checkAreas),
  /** `wrong`: something does not work, or soon will not. `warning`: it works, and somebody should look at it. */
  state: z.enum(["ok", "warning", "wrong"]),
  /** Which words these are, so that pages have them in their language: `disk.low`. */
  code: z.string(),
  params: Params,
  detail: z.string(),
  /** What to do about it; null when it is well. */
  action: z.string().nullable(),
});
export type Finding = z.infer<typeof Finding>;

export const FindingCounts = z.object({ ok: z.int(), warning: z.int(), wrong: z.int() });

export const Checks = z
  .object({ at: Ts, counts: FindingCounts, data: z.array(Finding) })
  .meta({ id: "ApplianceChecks" });
export type Checks = z.infer<typeof Checks>;

export const getChecks = localEndpoint({
  method: "GET",
  path: "/local/checks",
  id: "getApplianceChecks",
  summary: "Look at settings, storage, keys, network, mail and work, and say what to do about what is wrong",
  query: z.object({
    /** Walks the whole database; without it, at most once an hour. */
    thorough: QueryBoolean.optional(),
  }),
  responses: { 200: { kind: "json", schema: Checks } },
});

export const endpoints = [getChecks];
