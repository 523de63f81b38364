import { afterAll, beforeAll, expect, test } from "vitest";
import { permissionsOf } from "../../../server/features/identity/contract.ts";
import { changeRole, endMembership, joinOrganization } from "../../../server/features/identity/memberships.ts";
import { createPerson } from "../../../server/features/identity/people.ts";
import { createApiKey } from "../../../server/features/identity/service.ts";
import { endSession } from "../../../server/features/identity/session-store.ts";
import { startSession } from "../../../server/features/identity/sessions.ts";
import { changeOrganization } from "../../../server/features/organization/service.ts";
import { removePasskey } from "../../../server/features/sign-in/passkeys/passkeys.ts";
import { setPassword } from "../../../server/features/sign-in/password-change.ts";
import { disconnectSocial } from "../../../server/features/sign-in/social/social.ts";
import type { OrganizationCaller, PersonCaller } from "../../../server/kernel/caller.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";

/** What a use case does when the caller lost their standing after the kernel had let them in. */

let app: TestAppliance;
beforeAll(async () => {
  app = await startAppliance();
});
afterAll(() => app.stop());

let people = 0;
async function admin() {
  const { deps, organization } = app;
  people += 1;
  const email = `standing${people}@example.com`;
  return await deps.db.tx(async (tx) => {
    const id = await createPerson(tx, deps, { email, name: email, passwordHash: null, locale: null });
    const person = { id, email, name: email };
    await joinOrganization(tx, deps, organization, person, "admin", null);
    const { id: session } = await startSession(tx, deps, id, "password", {
      ip: "127.0.0.1",
      userAgent: null,
      header: () => null,
    });
    const actor = { type: "user" as const, id, name: email, email };
    const signedInAt = deps.clock.now();
    const member: OrganizationCaller = {
      kind: "user",
      id,
      session,
      organization,
      testMode: null,
      permissions: new Set(permissionsOf("admin")),
      actor,
      signedInAt,
    };
    const self: PersonCaller = { kind: "person", session, user: id, organization, signedInAt, actor };
    return { person: { ...person, role: "admin" as const }, member, self };
  });
}
type Admin = Awaited<ReturnType<typeof admin>>;

const by = { actor: { type: "system" as const, id: null, name: null, email: null }, ip: null };
const remove = ({ person }: Admin) =>
  app.deps.db.tx((tx) => endMembership(tx, app.deps, app.organization, person, "member.removed", by));
const demote = ({ person }: Admin) =>
  app.deps.db.tx((tx) => changeRole(tx, app.deps, app.organization, person, "member", by));
const signOut = ({ self }: Admin) =>
  app.deps.db.tx((tx) => endSession(tx, self.user, self.session, app.deps.clock.ts()));

const acts: [string, (as: Admin) => Promise<unknown>][] = [
  [
    "createApiKey",
    ({ member }) =>
      createApiKey(
        app.deps,
        app.organization,
        member.actor,
        member.permissions,
        { name: "k", mode: "test" },
        null,
        member,
      ),
  ],
  ["changeOrganization", ({ member }) => changeOrganization(app.deps, member, { name: "Other" }, "127.0.0.1")],
];
const ownActs: [string, (as: Admin) => Promise<unknown>][] = [
  ["setPassword", ({ self }) => setPassword(app.deps, self, "seven owls in a boat", "127.0.0.1")],
  ["removePasskey", ({ self }) => removePasskey(app.deps, self, "psk_1")],
  ["disconnectSocial", ({ self }) => disconnectSocial(app.deps, self, "google")],
];

test.each(acts)("%s: not once removed, demoted or signed out", async (_name, act) => {
  const good = await admin();
  await act(good);
  for (const [end, code] of [
    [remove, "forbidden"],
    [demote, "forbidden"],
    [signOut, "unauthorized"],
  ] as const) {
    const as = await admin();
    await end(as);
    await expect(act(as)).rejects.toMatchObject({ code });
  }
});

test.each(ownActs)("%s: not once signed out", async (_name, act) => {
  const as = await admin();
  await signOut(as);
  await expect(act(as)).rejects.toMatchObject({ code: "unauthorized" });
});
