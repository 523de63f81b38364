import type { OwnSession } from "../identity/service.ts";
import type { SessionInfo } from "./contract.ts";

export function presentSessionInfo(row: OwnSession, current: string): SessionInfo {
  return {
    id: row.id,
    current: row.id === current,
    method: row.method,
    ip: row.ip,
    userAgent: row.user_agent,
    signedInAt: row.signed_in_at,
    lastSeenAt: row.last_seen_at,
    expiresAt: row.expires_at,
  };
}
