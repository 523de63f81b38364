import type { OrgRole } from "../../server/features/identity/contract.ts";
import { joinOrganization } from "../../server/features/identity/memberships.ts";
import { createPerson } from "../../server/features/identity/people.ts";
import type { TestAppliance } from "./appliance.ts";

export const password = "correct horse battery staple";

/** One person at the dashboard: calls with their cookie from a page of our own. */
export function browser(app: TestAppliance, cookie: string | null) {
  return async (method: string, path: string, json?: unknown, headers: Record<string, string> = {}) => {
    const response = await app.json(path, {
      key: null,
      method,
      ...(json === undefined ? {} : { json }),
      headers: { origin: app.url, ...(cookie === null ? {} : { cookie }), ...headers },
    });
    return { ...response, body: response.body as Record<string, unknown>, cookie: response.headers.get("set-cookie") };
  };
}
export type Browser = ReturnType<typeof browser>;

/** A person with an account and, unless null, a role in the organization. */
export async function person(app: TestAppliance, name: string, role: OrgRole | null, organization = app.organization) {
  const email = `${name.toLowerCase()}@example.com`;
  const id = await app.deps.db.tx(async (tx) => {
    const user = await createPerson(tx, app.deps, { email, name, passwordHash: null, locale: null });
    if (role) await joinOrganization(tx, app.deps, organization, { id: user, email, name }, role, null);
    return user;
  });
  return { id, email, as: browser(app, await app.signIn(id)) };
}

/** The token of the newest invitation that was mailed to this address. */
export async function mailedToken(app: TestAppliance, email: string): Promise<string> {
  const mail = (await app.mail()).find(({ kind, to }) => kind === "invitation" && to.email === email);
  return mail?.link?.split("#")[1] ?? "";
}

/** What was recorded, newest first: who, what, on whom. */
export async function audit(as: Browser): Promise<string[]> {
  const { body } = await as("GET", "/auth/organization/audit?limit=100");
  return (body.data as { action: string; actor: { name: string } }[]).map(
    ({ action, actor }) => `${actor.name} ${action}`,
  );
}
