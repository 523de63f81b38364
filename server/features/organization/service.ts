import type { OrganizationCaller, PersonCaller } from "../../kernel/caller.ts";
import type { Json } from "../../kernel/canonical.ts";
import { decodeCursor, pageOf } from "../../kernel/cursor.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError, invalid, notFound } from "../../kernel/errors.ts";
import { plans } from "../envelopes/service.ts";
import {
  changePerson,
  foundOrganization,
  listAdminActs,
  organizationById,
  organizationsOf,
  personById,
  planOf,
  presentSession,
  recordAdminAct,
  requireFresh,
  requireStanding,
  roleIn,
  workIn,
} from "../identity/service.ts";
import type { Preferences } from "./contract.ts";
import { type OrganizationChange, updateOrganization } from "./members-store.ts";
import { presentAdminAct, presentPreferences, presentSettings } from "./present.ts";
import type { OrganizationSettings } from "./settings-contract.ts";

export { createManagedOrganization } from "./managed.ts";

/** The organization itself, and how a person moves between organizations. */

export async function settings(deps: Deps, organization: string): Promise<OrganizationSettings> {
  const plan = plans[await planOf(deps.db.read, deps, organization)];
  return presentSettings(await organizationById(deps.db.read, organization), plan);
}

type Change = {
  name?: string | undefined;
  locale?: string | undefined;
  timeZone?: string | undefined;
  notifyEmail?: string | null | undefined;
};

/**
 * Changes what is given and differs; what changed, from what to what, is recorded.
 * @throws AppError `fresh-sign-in-required` for another address for notices
 */
export async function changeOrganization(
  deps: Deps,
  caller: OrganizationCaller,
  change: Change,
  ip: string,
): Promise<OrganizationSettings> {
  return await deps.db.tx(async (tx) => {
    await requireStanding(tx, deps, caller, "org:manage");
    const before = await organizationById(tx, caller.organization);
    const set: OrganizationChange = {};
    const data: Record<string, Json> = {};
    if (change.name !== undefined && change.name !== before.name) {
      set.name = change.name;
      data.name = { from: before.name, to: change.name };
    }
    if (change.locale !== undefined && change.locale !== before.locale) {
      set.locale = change.locale;
      data.locale = { from: before.locale, to: change.locale };
    }
    if (change.timeZone !== undefined && change.timeZone !== before.time_zone) {
      set.time_zone = change.timeZone;
      data.timeZone = { from: before.time_zone, to: change.timeZone };
    }
    if (change.notifyEmail !== undefined && change.notifyEmail !== before.notify_email) {
      // Whoever gets the notices learns of every envelope.
      requireFresh(deps, caller);
      set.notify_email = change.notifyEmail;
      data.notifyEmail = { from: before.notify_email, to: change.notifyEmail };
    }
    if (Object.keys(data).length > 0) {
      await updateOrganization(tx, before.id, set);
      const { actor } = caller;
      await recordAdminAct(tx, deps, before.id, { actor, action: "organization.updated", target: before.id, ip, data });
    }
    return presentSettings({ ...before, ...set }, plans[await planOf(tx, deps, before.id)]);
  });
}

/** @throws AppError `not-found` unless the person belongs to it */
export async function switchOrganization(deps: Deps, person: PersonCaller, organization: string): Promise<void> {
  await deps.db.tx(async (tx) => {
    if ((await roleIn(tx, organization, person.user)) === null) throw notFound("The organization");
    await workIn(tx, person.session, organization);
  });
}

/** @throws AppError `forbidden` when only owners may create organizations here and the person is none */
export async function createOrganization(
  deps: Deps,
  person: PersonCaller,
  input: { name: string; locale?: string | undefined; timeZone?: string | undefined },
  ip: string,
): Promise<void> {
  await deps.db.tx(async (tx) => {
    if (!(await presentSession(tx, deps, person.session)).canCreateOrganization) {
      throw new AppError("forbidden", { detail: "Only owners of an organization may create another one here." });
    }
    const id = await foundOrganization(tx, deps, input, person.user, { actor: person.actor, ip });
    await workIn(tx, person.session, id);
  });
}

export async function preferences(deps: Deps, user: string): Promise<Preferences> {
  const person = await personById(deps.db.read, user);
  return presentPreferences(person?.starting_organization ?? null, await organizationsOf(deps.db.read, user));
}

/** @throws AppError `validation-failed` (`reference`) unless the person belongs to it */
export async function changePreferences(deps: Deps, user: string, starting: string | null): Promise<Preferences> {
  return await deps.db.tx(async (tx) => {
    const organizations = await organizationsOf(tx, user);
    if (starting !== null && !organizations.some(({ id }) => id === starting)) {
      const detail = "Choose one of your own organizations.";
      throw invalid([{ pointer: "#/startingOrganization", code: "reference", detail }]);
    }
    await changePerson(tx, user, { starting_organization: starting });
    return presentPreferences(starting, organizations);
  });
}

/** What administrators did, newest first. */
export async function adminAudit(
  deps: Deps,
  organization: string,
  page: { limit: number; cursor?: string | undefined },
) {
  const before = page.cursor === undefined ? null : decodeCursor(deps.secrets, "admin-audit", page.cursor);
  const rows = await listAdminActs(deps.db.read, organization, { limit: page.limit + 1, before });
  return pageOf(deps.secrets, "admin-audit", rows, page.limit, ({ at, id }) => ({ t: at, id }), presentAdminAct);
}
