import { type Config, isLoopback } from "../../config.ts";
import type { Reader } from "../../kernel/db.ts";
import { AppError } from "../../kernel/errors.ts";
import { OrgRole, permissionsOf } from "./contract.ts";
import type { DashboardSession } from "./session-contract.ts";
import { readOwnSession } from "./session-store.ts";
import { findUser, organizationsOf } from "./store.ts";

/**
 * What the dashboard shows of a session and its person.
 * @throws AppError `unauthorized` when it has ended
 */
export async function presentSession(
  reader: Reader,
  deps: { config: Pick<Config, "signUp" | "smtpUrl" | "baseUrl"> },
  id: string,
): Promise<DashboardSession> {
  const session = await readOwnSession(reader, id);
  const user = session && (await findUser(reader, session.user));
  if (!session || !user) throw new AppError("unauthorized");
  const organizations = (await organizationsOf(reader, user.id)).map((row) => ({
    ...row,
    role: OrgRole.parse(row.role),
  }));
  const current = organizations.find((organization) => organization.id === session.organization);
  return {
    user: {
      id: user.id,
      email: user.email,
      name: user.name,
      locale: user.locale,
      hasPassword: user.password_hash !== null,
    },
    session: {
      id: session.id,
      method: session.method,
      signedInAt: session.signed_in_at,
      expiresAt: session.expires_at,
    },
    organization: current
      ? {
          id: current.id,
          name: current.name,
          role: current.role,
          permissions: permissionsOf(current.role),
          locale: current.locale,
          timeZone: current.time_zone,
        }
      : null,
    organizations: organizations.map(({ id: organization, name, role }) => ({ id: organization, name, role })),
    canCreateOrganization: deps.config.signUp !== "invited" || organizations.some(({ role }) => role === "owner"),
    mail: mailOf(deps.config),
  };
}

/** As the mail feature does it, which stands above this one. */
export function mailOf({ smtpUrl, baseUrl }: Pick<Config, "smtpUrl" | "baseUrl">): DashboardSession["mail"] {
  if (smtpUrl === undefined) return "outbox";
  return isLoopback(new URL(baseUrl).hostname.replace(/^\[|\]$/g, "")) ? "held" : "smtp";
}
