import { z } from "zod";
import { Locale, Permission, Ts } from "../../kernel/wire.ts";
import { OrgRole } from "./contract.ts";

/** What the dashboard knows of whoever is signed in. Isomorphic. */

export const DashboardSession = z
  .object({
    user: z.object({
      id: z.string(),
      email: z.string(),
      name: z.string(),
      locale: Locale.nullable(),
      hasPassword: z.boolean(),
    }),
    session: z.object({ id: z.string(), method: z.string(), signedInAt: Ts, expiresAt: Ts }),
    /** The one that the session works in; null while the person belongs to none. */
    organization: z
      .object({
        id: z.string(),
        name: z.string(),
        role: OrgRole,
        permissions: z.array(Permission),
        locale: z.string(),
        timeZone: z.string(),
      })
      .nullable(),
    organizations: z.array(z.object({ id: z.string(), name: z.string(), role: OrgRole })),
    canCreateOrganization: z.boolean(),
    /**
     * What becomes of mails to people. smtp: a mail server takes them. outbox: no server is set, they are written to a
     * folder. held: live mails with links are kept, because the base URL leads nowhere but to this machine.
     */
    mail: z.enum(["smtp", "outbox", "held"]),
  })
  .meta({ id: "DashboardSession" });
export type DashboardSession = z.infer<typeof DashboardSession>;
