import type { Reader } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { notFound } from "../../kernel/errors.ts";
import type { Actor } from "../../kernel/wire.ts";
import {
  allOrganizations,
  createPerson,
  foundOrganization,
  ownPlanOf,
  type PlanName,
  personByEmail,
  renameOrganization,
  setPlan,
} from "../identity/service.ts";
import { recordOperatorAct } from "../operators/service.ts";
import { issueToken } from "../sign-in/service.ts";
import type { ManagedOrganization, ManagedOrganizationList } from "./managed-contract.ts";
import * as store from "./managed-store.ts";

/** Every organization of the appliance, for who runs it for others. */

export async function listOrganizations({ db, config }: Pick<Deps, "db" | "config">): Promise<ManagedOrganizationList> {
  return { data: await describe(db.read, config.plan), defaultPlan: config.plan };
}

async function describe(reader: Reader, defaultPlan: PlanName): Promise<ManagedOrganization[]> {
  const [rows, members, envelopes, documents] = await Promise.all([
    allOrganizations(reader),
    store.countMembers(reader),
    store.countEnvelopes(reader),
    store.sumDocuments(reader),
  ]);
  const described: ManagedOrganization[] = [];
  for (const { id, name, created_at: createdAt, locale, time_zone: timeZone } of rows) {
    const of = <T extends { organization: string; count: number }>(
      counts: T[],
      which: (row: T) => boolean = () => true,
    ) => counts.reduce((sum, row) => (row.organization === id && which(row) ? sum + row.count : sum), 0);
    const ownPlan = await ownPlanOf(reader, id);
    described.push({
      id,
      name,
      createdAt,
      locale,
      timeZone,
      members: of(members),
      owners: of(members, ({ role }) => role === "owner"),
      envelopes: of(envelopes, ({ test_mode: test }) => test === 0),
      testEnvelopes: of(envelopes, ({ test_mode: test }) => test === 1),
      documentBytes: documents.find(({ organization }) => organization === id)?.bytes ?? 0,
      plan: ownPlan ?? defaultPlan,
      ownPlan,
    });
  }
  return described;
}

export type NewManagedOrganization = {
  name: string;
  owner: { email: string; name?: string | undefined };
  locale?: string | undefined;
  timeZone?: string | undefined;
  plan?: PlanName | null | undefined;
};

/** Creates an organization, its owner where there is no such account yet, and for that one a link to set a password. */
export async function createManagedOrganization(
  deps: Deps,
  actor: Actor,
  input: NewManagedOrganization,
): Promise<{ organization: string; owner: string; link: string | null }> {
  const { email } = input.owner;
  return await deps.db.tx(async (tx) => {
    const known = await personByEmail(tx, email);
    const name = input.owner.name ?? email;
    const owner =
      known?.id ?? (await createPerson(tx, deps, { email, name, passwordHash: null, locale: input.locale ?? null }));
    const organization = await foundOrganization(tx, deps, input, owner, { actor, ip: null });
    if (input.plan) await setPlan(tx, organization, input.plan);
    const link = known ? null : (await issueToken(tx, deps, "password_reset", email.toLowerCase(), null)).link;
    const data = { name: input.name, owner, plan: input.plan ?? null };
    await recordOperatorAct(tx, deps, { actor, action: "organization.created", target: organization, data });
    return { organization, owner, link };
  });
}

/** @throws AppError `not-found` */
export async function changeOrganization(
  deps: Deps,
  actor: Actor,
  id: string,
  change: { name?: string | undefined; plan?: PlanName | null | undefined },
): Promise<ManagedOrganization> {
  await deps.db.tx(async (tx) => {
    const before = (await allOrganizations(tx)).find((row) => row.id === id);
    if (!before) throw notFound("The organization");
    if (change.name !== undefined && change.name !== before.name) {
      await renameOrganization(tx, deps, { id, name: change.name }, actor);
      const data = { from: before.name, to: change.name };
      await recordOperatorAct(tx, deps, { actor, action: "organization.renamed", target: id, data });
    }
    const plan = await ownPlanOf(tx, id);
    if (change.plan !== undefined && change.plan !== plan) {
      await setPlan(tx, id, change.plan);
      const data = { from: plan, to: change.plan };
      await recordOperatorAct(tx, deps, { actor, action: "organization.plan_changed", target: id, data });
    }
  });
  const found = (await describe(deps.db.read, deps.config.plan)).find((row) => row.id === id);
  if (!found) throw notFound("The organization");
  return found;
}
