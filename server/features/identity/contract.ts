import { z } from "zod";
import { endpoint } from "../../kernel/endpoint.ts";
import {
  Actor,
  administrativePermissions,
  Line,
  listOf,
  Permission,
  pageQuery,
  permissions,
  Ts,
} from "../../kernel/wire.ts";

/** Who belongs to an organization, as what, and its API keys (contract §9). Isomorphic. */

export const OrgRole = z.enum(["owner", "admin", "member"]).meta({ id: "OrgRole" });
export type OrgRole = z.infer<typeof OrgRole>;

/** Owners and administrators hold every permission, members those about templates and envelopes (contract §9). */
export function permissionsOf(role: OrgRole): Permission[] {
  return permissions.filter((permission) => role !== "member" || !administrativePermissions.includes(permission));
}

/** In characters (specification, Dashboard sign-in). */
export const passwordLength = { min: 12, max: 128 };

export const ApiKeyMode = z.enum(["test", "live"]);

export const ApiKey = z
  .object({
    id: z.string(),
    name: z.string(),
    mode: ApiKeyMode,
    hint: z.string(),
    scopes: z.array(Permission),
    status: z.enum(["active", "expired"]),
    expiresAt: Ts.nullable(),
    createdAt: Ts,
    createdBy: Actor,
    lastUsedAt: Ts.nullable(),
    lastUsedIp: z.string().nullable(),
  })
  .meta({ id: "ApiKey" });
export type ApiKey = z.infer<typeof ApiKey>;

export const ApiKeyCreated = z.object({ ...ApiKey.shape, key: z.string() }).meta({ id: "ApiKeyCreated" });
export type ApiKeyCreated = z.infer<typeof ApiKeyCreated>;

export const CreateApiKey = z
  .strictObject({
    name: Line(100),
    mode: ApiKeyMode,
    expiresInDays: z.int().min(1).max(365).nullable().optional(),
    scopes: z.array(Permission).optional(),
  })
  .meta({ id: "CreateApiKey", example: { name: "Billing system", mode: "test", expiresInDays: 90 } });
export type CreateApiKey = z.infer<typeof CreateApiKey>;

const tag = "API keys";

export const createApiKey = endpoint({
  method: "POST",
  path: "/v1/api-keys",
  id: "createApiKey",
  tag,
  summary: "Create an API key; its secret is shown once",
  credential: "dashboard",
  permission: "apikey:manage",
  body: { kind: "json", schema: CreateApiKey, maxBytes: 1024 * 1024 },
  responses: { 201: { kind: "json", schema: ApiKeyCreated } },
  errors: ["fresh-sign-in-required", "conflict"],
});

export const listApiKeys = endpoint({
  method: "GET",
  path: "/v1/api-keys",
  id: "listApiKeys",
  tag,
  summary: "List the API keys that were not revoked, newest first",
  credential: "dashboard",
  permission: "apikey:manage",
  query: z.strictObject(pageQuery),
  responses: { 200: { kind: "json", schema: listOf("ApiKeyList", ApiKey) } },
});

export const deleteApiKey = endpoint({
  method: "DELETE",
  path: "/v1/api-keys/{id}",
  id: "deleteApiKey",
  tag,
  summary: "Revoke an API key; it stops working at once",
  credential: "dashboard",
  permission: "apikey:manage",
  params: z.object({ id: z.string() }),
  responses: { 204: { kind: "empty" } },
});

export const endpoints = [createApiKey, listApiKeys, deleteApiKey];
