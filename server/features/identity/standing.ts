import type { OrganizationCaller, PersonCaller } from "../../kernel/caller.ts";
import type { Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError } from "../../kernel/errors.ts";
import type { Permission } from "../../kernel/wire.ts";
import { permissionsOf } from "./contract.ts";
import { roleIn } from "./memberships.ts";
import { readOwnSession } from "./session-store.ts";

/**
 * Looks in the transaction that changes who may do what whether the caller still holds what let them in: a password reset or a
 * removal that was committed while the call waited must win.
 */

/** @throws AppError `unauthorized` when the session ended */
export async function requireLiveSession(tx: Tx, { clock }: Pick<Deps, "clock">, caller: PersonCaller): Promise<void> {
  await readLive(tx, clock.ts(), caller.session, caller.user);
}

/**
 * @returns what the caller may do now
 * @throws AppError `unauthorized`, `forbidden`
 */
export async function requireStanding(
  tx: Tx,
  { clock }: Pick<Deps, "clock">,
  caller: OrganizationCaller,
  permission: Permission,
): Promise<ReadonlySet<Permission>> {
  // The kernel has just looked a key up, and nothing that keys may do makes further credentials.
  if (caller.session === null) return caller.permissions;
  const session = await readLive(tx, clock.ts(), caller.session, caller.id);
  const role = session.organization === caller.organization ? await roleIn(tx, caller.organization, caller.id) : null;
  const held = new Set(role === null ? [] : permissionsOf(role));
  if (!held.has(permission)) {
    throw new AppError("forbidden", { detail: `This credential lacks the permission \`${permission}\`.`, permission });
  }
  return held;
}

async function readLive(tx: Tx, now: string, id: string, user: string) {
  const session = await readOwnSession(tx, id);
  if (session?.user !== user || session.expires_at <= now) {
    throw new AppError("unauthorized", { detail: "This session has ended. Sign in again." });
  }
  return session;
}
