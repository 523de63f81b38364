import { z } from "zod";
import { localEndpoint } from "../../kernel/endpoint.ts";
import { Email, Ts } from "../../kernel/wire.ts";

/** Who is signed in to the dashboard, and which API keys work, over all organizations. */

const Person = z.object({ id: z.string(), /** Masked. */ email: z.string() });
const OrganizationName = z.object({ id: z.string(), name: z.string() });

export const ManagedSession = z.object({
  id: z.string(),
  person: Person,
  organization: OrganizationName.nullable(),
  /** How the person signed in. */
  method: z.string(),
  ip: z.string(),
  userAgent: z.string().nullable(),
  signedInAt: Ts,
  lastSeenAt: Ts,
  expiresAt: Ts,
});
export type ManagedSession = z.infer<typeof ManagedSession>;

export const ManagedKey = z.object({
  id: z.string(),
  organization: OrganizationName,
  name: z.string(),
  /** The beginning and the end of it. */
  hint: z.string(),
  mode: z.enum(["live", "test"]),
  scopes: z.array(z.string()),
  /** Masked; null when no person made it. */
  createdBy: z.string().nullable(),
  createdAt: Ts,
  expiresAt: Ts.nullable(),
  lastUsedAt: Ts.nullable(),
  lastUsedIp: z.string().nullable(),
});
export type ManagedKey = z.infer<typeof ManagedKey>;

export const Access = z
  .object({
    /** Last seen first. */
    sessions: z.array(ManagedSession),
    /** Newest first. */
    keys: z.array(ManagedKey),
  })
  .meta({ id: "ApplianceAccess" });
export type Access = z.infer<typeof Access>;

export const listAccess = localEndpoint({
  method: "GET",
  path: "/local/access",
  id: "listAccess",
  summary: "Live sessions and API keys of every organization",
  query: z.object({
    /** Of this person only. */
    email: Email.optional(),
    organization: z.string().max(60).optional(),
  }),
  responses: { 200: { kind: "json", schema: Access } },
});

const Id = z.object({ id: z.string().max(60) });
const revoked = { 204: { kind: "empty" } } as const;

export const endAnySession = localEndpoint({
  method: "DELETE",
  path: "/local/access/sessions/{id}",
  id: "endAnySession",
  summary: "End a dashboard session",
  params: Id,
  responses: revoked,
  errors: ["not-found"],
});

export const revokeAnyKey = localEndpoint({
  method: "DELETE",
  path: "/local/access/keys/{id}",
  id: "revokeAnyKey",
  summary: "Revoke an API key",
  params: Id,
  responses: revoked,
  errors: ["not-found"],
});

export const revokeAccess = localEndpoint({
  method: "POST",
  path: "/local/access/revoke",
  id: "revokeAccess",
  summary: "End every session of a person, and revoke the API keys that this person made",
  body: {
    kind: "json",
    maxBytes: 4096,
    schema: z.strictObject({
      email: Email,
      /** Keys belong to the organization and may be in use. */ keys: z.boolean(),
    }),
  },
  responses: { 200: { kind: "json", schema: z.object({ sessions: z.int(), keys: z.int() }) } },
  errors: ["validation-failed", "not-found"],
});

export const recoverOwner = localEndpoint({
  method: "POST",
  path: "/local/access/recover-owner",
  id: "recoverOwner",
  summary: "End every session of an owner and make a one-time link with which they set a new password",
  body: { kind: "json", maxBytes: 4096, schema: z.strictObject({ email: Email }) },
  responses: {
    200: { kind: "json", schema: z.object({ link: z.string(), expiresAt: Ts, sessionsEnded: z.int() }) },
  },
  errors: ["validation-failed", "not-found", "conflict"],
});

export const accessEndpoints = [listAccess, endAnySession, revokeAnyKey, revokeAccess, recoverOwner];
