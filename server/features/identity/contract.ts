import { z } from "zod";
import { Actor, Permission, Ts } from "../../kernel/wire.ts";

export const OrgRole = z.enum(["owner", "admin", "member"]).meta({ id: "OrgRole" });
export type OrgRole = z.infer<typeof OrgRole>;

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
    name: z.string().min(1).max(100),
    mode: ApiKeyMode,
    expiresInDays: z.int().min(1).max(365).nullable().optional(),
    scopes: z.array(Permission).optional(),
  })
  .meta({ id: "CreateApiKey" });
export type CreateApiKey = z.infer<typeof CreateApiKey>;
