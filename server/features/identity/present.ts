import { z } from "zod";
import type { Ts } from "../../kernel/clock.ts";
import { Actor, Permission } from "../../kernel/wire.ts";
import type { ApiKey } from "./contract.ts";
import type { ApiKeyRow } from "./store.ts";

export function scopesOf(row: Pick<ApiKeyRow, "scopes">): Permission[] {
  return z.array(Permission).parse(JSON.parse(row.scopes));
}

export function presentApiKey(row: ApiKeyRow, now: Ts): ApiKey {
  return {
    id: row.id,
    name: row.name,
    mode: row.test_mode === 1 ? "test" : "live",
    hint: row.hint,
    scopes: scopesOf(row),
    status: row.expires_at !== null && row.expires_at <= now ? "expired" : "active",
    expiresAt: row.expires_at,
    createdAt: row.created_at,
    createdBy: Actor.parse(JSON.parse(row.created_by)),
    lastUsedAt: row.last_used_at,
    lastUsedIp: row.last_used_ip,
  };
}
