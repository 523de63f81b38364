import { z } from "zod";
import { endpoint } from "../../kernel/endpoint.ts";
import { Actor, SomeLines, Ts } from "../../kernel/wire.ts";

/** How long documents are kept and what is held against their deletion; for the dashboard alone. Isomorphic. */

const tag = "Dashboard";
const maxBytes = 1024 * 1024;

export const LegalHold = z.object({ at: Ts, by: Actor, reason: z.string() });
export type LegalHold = z.infer<typeof LegalHold>;

export const EnvelopeRetention = z.object({
  hold: LegalHold.nullable(),
  deleteAfter: Ts.nullable().meta({ description: "null: never, not yet known, held, or deleted already" }),
  deletedAt: Ts.nullable(),
});
export type EnvelopeRetention = z.infer<typeof EnvelopeRetention>;

export const RetentionSettings = z.object({
  keepDays: z.int().nullable().meta({ description: "Days after an envelope has ended; null: for ever" }),
  actsFrom: Ts.nullable().meta({ description: "Until then the longer term before it counts; null: it acts already" }),
  due: z.int().meta({ description: "Envelopes whose documents the next run deletes" }),
  held: z.int().meta({ description: "Envelopes that are held" }),
});
export type RetentionSettings = z.infer<typeof RetentionSettings>;

/** Their entity tag: of what people set, not of what is counted. */
export const retentionTag = ({ keepDays }: Pick<RetentionSettings, "keepDays">): string => `"${keepDays ?? "forever"}"`;

const params = z.object({ id: z.string() });

export const getEnvelopeRetention = endpoint({
  method: "GET",
  path: "/auth/envelopes/{id}/retention",
  id: "getEnvelopeRetention",
  tag,
  summary: "When the documents of this envelope are deleted, and whether they are held",
  credential: "dashboard",
  permission: "envelope:read",
  params,
  responses: { 200: { kind: "json", schema: EnvelopeRetention } },
  published: false,
});

export const holdEnvelope = endpoint({
  method: "PUT",
  path: "/auth/envelopes/{id}/hold",
  id: "holdEnvelope",
  tag,
  summary: "Keep everything of this envelope until it is released",
  credential: "dashboard",
  permission: "org:manage",
  params,
  body: { kind: "json", schema: z.strictObject({ reason: SomeLines(500) }), maxBytes },
  responses: { 200: { kind: "json", schema: EnvelopeRetention } },
  errors: ["conflict"],
  published: false,
});

export const releaseEnvelope = endpoint({
  method: "DELETE",
  path: "/auth/envelopes/{id}/hold",
  id: "releaseEnvelope",
  tag,
  summary: "End the hold of this envelope",
  credential: "dashboard",
  permission: "org:manage",
  params,
  responses: { 200: { kind: "json", schema: EnvelopeRetention } },
  published: false,
});

export const getRetention = endpoint({
  method: "GET",
  path: "/auth/organization/retention",
  id: "getRetention",
  tag,
  summary: "How long the organization keeps documents",
  credential: "dashboard",
  permission: "org:manage",
  responses: {
    200: { kind: "json", schema: RetentionSettings, headers: { ETag: "Of the settings; give it back as If-Match" } },
  },
  published: false,
});

export const changeRetention = endpoint({
  method: "PATCH",
  path: "/auth/organization/retention",
  id: "changeRetention",
  tag,
  summary: "Change how long the organization keeps documents",
  credential: "dashboard",
  permission: "org:manage",
  body: { kind: "json", schema: z.strictObject({ keepDays: z.int().min(1).max(36500).nullable() }), maxBytes },
  responses: { 200: { kind: "json", schema: RetentionSettings, headers: { ETag: "Of the changed settings" } } },
  errors: ["precondition-failed"],
  published: false,
});

export const endpoints = [getEnvelopeRetention, holdEnvelope, releaseEnvelope, getRetention, changeRetention];
