import { z } from "zod";
import { type EndpointSpec, localEndpoint } from "../../kernel/endpoint.ts";
import { Hex64, QueryBoolean, Ts } from "../../kernel/wire.ts";
import { outcomes, phases } from "./state.ts";

/** Updates of the program; on the admin socket only. Applying one needs root, so the command line does it: `signet update`. */

const AbsolutePath = z
  .string()
  .max(4096)
  .regex(/^\/|^[A-Za-z]:[\\/]/, "Use an absolute path.");

/** What people did since an update, and what would be lost with the database that replaces today's. */
export const Loss = z.object({
  /** Made since, or gone on with. */
  envelopes: z.int(),
  /** Of recipients. */
  signatures: z.int(),
  /** Sealed documents, leaves of the tree. */
  leaves: z.int(),
  anchors: z.int(),
  /** Envelopes whose documents were deleted. */
  deleted: z.int(),
  /** Entries of the audit trails of envelopes. */
  events: z.int().default(0),
  organizations: z.int().default(0),
  /** Of organizations: came, went, or have another role. */
  members: z.int().default(0),
  invitations: z.int().default(0),
  passkeys: z.int().default(0),
  /** Made or revoked: a revoked one would work again. */
  apiKeys: z.int().default(0),
  /** That seal and anchor. */
  keys: z.int().default(0),
  templates: z.int().default(0),
  /** Entries of the organizations' audit: changes of settings, people and templates. */
  acts: z.int(),
  /** Entries of the operators' audit. */
  operatorActs: z.int().default(0),
});
export type Loss = z.infer<typeof Loss>;

export const UpdateRun = z.object({
  id: z.string(),
  kind: z.enum(["update", "rollback"]),
  phase: z.enum(phases),
  startedAt: Ts,
  at: Ts,
  operator: z.string(),
  file: z.string().nullable(),
  from: z.string(),
  to: z.string(),
  /** The verified backup that was written for it; null where none are set up. */
  backup: z.string().nullable(),
  /** What a rollback to the database of before took away; null when the data stayed. */
  loss: Loss.nullable(),
  outcome: z.enum(outcomes).nullable(),
  cause: z.string().nullable(),
});
export type UpdateRun = z.infer<typeof UpdateRun>;

export const UpdateState = z
  .object({
    version: z.string(),
    platform: z.string(),
    /** Null where updates cannot be applied: a checkout, or a release that pins no keys. */
    installation: z
      .object({
        root: z.string(),
        previous: z.string().nullable(),
        keys: z.array(z.string()),
        threshold: z.int(),
      })
      .nullable(),
    /** Why none can be applied; null when one can. */
    obstacle: z.string().nullable(),
    maintenance: z.object({ id: z.string(), to: z.string(), quiet: z.boolean() }).nullable(),
    /** The update that is under way, or the last one. */
    latest: UpdateRun.nullable(),
    /** An update was begun, and nobody goes on with it: `signet update resume`. */
    interrupted: z.boolean(),
  })
  .meta({ id: "UpdateState" });
export type UpdateState = z.infer<typeof UpdateState>;

export const getUpdate = localEndpoint({
  method: "GET",
  path: "/local/update",
  id: "getUpdate",
  summary: "The version, and the update that is under way or was the last",
  responses: { 200: { kind: "json", schema: UpdateState } },
});

export const listUpdates = localEndpoint({
  method: "GET",
  path: "/local/update/history",
  id: "listUpdates",
  summary: "Every update that ended, newest first",
  responses: { 200: { kind: "json", schema: z.object({ data: z.array(UpdateRun) }) } },
});

export const UpdateFacts = z
  .object({
    version: z.string(),
    minimumVersion: z.string(),
    platform: z.string(),
    createdAt: Ts,
    files: z.int(),
    bytes: z.int(),
    signedBy: z.array(z.string()),
    manifestSha256: Hex64,
  })
  .meta({ id: "UpdateFacts" });
export type UpdateFacts = z.infer<typeof UpdateFacts>;

export const verifyUpdate = localEndpoint({
  method: "POST",
  path: "/local/update/verify",
  id: "verifyUpdate",
  summary: "Check the signatures and the content of an update that lies on this machine, and whether it may be applied",
  body: { kind: "json", maxBytes: 16_000, schema: z.strictObject({ file: AbsolutePath }) },
  responses: { 200: { kind: "json", schema: UpdateFacts } },
  errors: ["validation-failed", "conflict", "not-found"],
});

export const UpdateProgress = z.object({ run: UpdateRun.nullable(), share: z.number().min(0).max(1).nullable() });
export type UpdateProgress = z.infer<typeof UpdateProgress>;

export const followUpdate = localEndpoint({
  method: "GET",
  path: "/local/update/events",
  id: "followUpdate",
  summary: "Each step of the update that is under way; the stream ends when the service is restarted",
  responses: { 200: { kind: "events", schema: UpdateProgress } },
});

export const MaintenanceStep = z.object({ step: z.enum(["draining", "quiet"]) });

export const holdMaintenance = localEndpoint({
  method: "POST",
  path: "/local/update/maintenance",
  id: "holdMaintenance",
  summary: "Take no new work, finish what was begun and hold still as long as this call is open",
  body: {
    kind: "json",
    maxBytes: 16_000,
    schema: z.strictObject({
      id: z.string().regex(/^upd_[0-9a-f]{16}$/),
      to: z.string().max(100),
      drainSeconds: z.int().min(0).max(3600).default(60),
    }),
  },
  responses: { 200: { kind: "events", schema: MaintenanceStep } },
  errors: ["conflict"],
});

export const endMaintenance = localEndpoint({
  method: "POST",
  path: "/local/update/maintenance/end",
  id: "endMaintenance",
  summary: "Take work again",
  body: {
    kind: "json",
    maxBytes: 16_000,
    schema: z.strictObject({ id: z.string(), outcome: z.enum(outcomes) }),
  },
  responses: { 204: { kind: "empty" } },
  errors: ["conflict"],
});

export const UpdateHealth = z.object({
  version: z.string(),
  pid: z.int(),
  /** The update for which it holds still. */
  maintenance: z.string().nullable(),
  /** What keeps it from serving besides that; null when nothing does. */
  trouble: z.string().nullable(),
  /** What it tried and could not do; null when it was not asked to try, or is still at it. */
  failed: z.array(z.object({ part: z.string(), problem: z.string() })).nullable(),
});
export type SelfTestFailure = NonNullable<UpdateHealth["failed"]>[number];
export type UpdateHealth = z.infer<typeof UpdateHealth>;

export const getUpdateHealth = localEndpoint({
  method: "GET",
  path: "/local/update/health",
  id: "getUpdateHealth",
  summary:
    "Whether it could serve, asked while it holds still; with `try`, whether it reads, draws, seals and verifies",
  query: z.object({ try: QueryBoolean.optional() }),
  responses: { 200: { kind: "json", schema: UpdateHealth } },
});

export const endProcess = localEndpoint({
  method: "POST",
  path: "/local/update/end-process",
  id: "endProcess",
  summary: "End this process in order; whoever supervises it starts it again",
  responses: { 204: { kind: "empty" } },
  errors: ["conflict"],
});

export const endpoints: readonly EndpointSpec[] = [
  getUpdate,
  listUpdates,
  verifyUpdate,
  followUpdate,
  holdMaintenance,
  endMaintenance,
  getUpdateHealth,
  endProcess,
];
