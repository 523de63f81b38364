import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { OrgRole } from "../../../server/features/identity/contract.ts";
import { foundOrganization } from "../../../server/features/identity/memberships.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { audit, type Browser, browser, person } from "../../harness/people.ts";

let app: TestAppliance;
let owner: Browser;
beforeAll(async () => {
  app = await startAppliance();
  owner = browser(app, await app.signIn());
});
afterAll(() => app.stop());

const members = "/auth/organization/members";
const refused = (status: number, code: string) => ({ status, body: { code } });

describe("members", () => {
  test("are listed owners first, with what they may know of each other", async () => {
    const admin = await person(app, "Ada", "admin");
    await person(app, "Max", "member");
    const { status, body } = await admin.as("GET", members);
    expect(status).toBe(200);
    expect((body.data as { name: string; role: string }[]).map(({ name, role }) => [name, role])).toEqual([
      ["Olive Owner", "owner"],
      ["Ada", "admin"],
      ["Max", "member"],
    ]);
    expect(body.data).toContainEqual({
      id: admin.id,
      email: "ada@example.com",
      name: "Ada",
      role: "admin",
      joinedAt: expect.any(String),
      lastSignInAt: expect.any(String),
    });
  });

  test("show the sign-ins of this organization alone", async () => {
    const target = await person(app, "Nomad", "member");
    const other = await app.deps.db.tx((tx) =>
      foundOrganization(tx, app.deps, { name: "Nomad's own" }, target.id, {
        actor: { type: "user", id: target.id, name: "Nomad", email: target.email },
        ip: null,
      }),
    );
    const seen = async () =>
      ((await owner("GET", members)).body.data as { id: string; lastSignInAt: string | null }[]).find(
        ({ id }) => id === target.id,
      )?.lastSignInAt;
    expect(await seen()).toEqual(expect.any(String));
    await target.as("POST", "/auth/organization", { organization: other });
    expect(await seen()).toBeNull();
    await target.as("POST", "/auth/organization", { organization: app.organization });
    expect(await seen()).toEqual(expect.any(String));
  });

  test("that are not there are not found, whatever is asked of them", async () => {
    for (const [method, path, json] of [
      ["PATCH", `${members}/usr_none`, { role: "emperor" }],
      ["PATCH", `${members}/usr_none`],
      ["DELETE", `${members}/usr_none`],
      ["POST", "/auth/organization/invitations/inv_none/resend"],
      ["DELETE", "/auth/organization/invitations/inv_none"],
    ] as const)
      expect(await owner(method, path, json)).toMatchObject(refused(404, "not-found"));
  });

  test("are managed by owners and administrators only, and by no API key", async () => {
    const plain = await person(app, "Paul", "member");
    const outsider = await person(app, "Otto", null);
    for (const [method, path, json] of [
      ["GET", members],
      ["PATCH", `${members}/${plain.id}`, { role: "owner" }],
      ["DELETE", `${members}/${app.owner.id}`],
      ["GET", "/auth/organization/invitations"],
      ["POST", "/auth/organization/invitations", { email: "x@example.org", role: "member" }],
      ["GET", "/auth/organization/audit"],
      ["PATCH", "/auth/organization", { name: "Mine" }],
    ] as const) {
      expect(await plain.as(method, path, json)).toMatchObject(refused(403, "forbidden"));
      expect(await outsider.as(method, path, json)).toMatchObject(refused(403, "forbidden"));
      expect(await browser(app, null)(method, path, json)).toMatchObject(refused(401, "unauthorized"));
      const byKey = await app.json(path, { method, headers: { origin: app.url }, ...(json ? { json } : {}) });
      expect(byKey).toMatchObject(refused(403, "forbidden"));
    }
  });

  test("without the Origin of our own pages nothing changes", async () => {
    const target = await person(app, "Orla", "member");
    for (const origin of [undefined, "https://evil.example"]) {
      const answer = await app.json(`${members}/${target.id}`, {
        key: null,
        method: "DELETE",
        headers: { cookie: await app.signIn(), ...(origin ? { origin } : {}) },
      });
      expect(answer).toMatchObject(refused(403, "csrf-rejected"));
    }
  });

  test("only owners make, change and remove owners", async () => {
    const admin = await person(app, "Anna", "admin");
    const second = await person(app, "Oskar", "owner");
    const target = await person(app, "Tom", "member");
    expect(await admin.as("PATCH", `${members}/${target.id}`, { role: "owner" })).toMatchObject(
      refused(403, "forbidden"),
    );
    expect(await admin.as("PATCH", `${members}/${admin.id}`, { role: "owner" })).toMatchObject(
      refused(403, "forbidden"),
    );
    expect(await admin.as("PATCH", `${members}/${second.id}`, { role: "member" })).toMatchObject(
      refused(403, "forbidden"),
    );
    expect(await admin.as("DELETE", `${members}/${second.id}`)).toMatchObject(refused(403, "forbidden"));
    expect(await admin.as("PATCH", `${members}/${target.id}`, { role: "admin" })).toMatchObject({
      status: 200,
      body: { id: target.id, role: "admin" },
    });
    expect((await owner("PATCH", `${members}/${target.id}`, { role: "owner" })).status).toBe(200);
    expect((await owner("PATCH", `${members}/${target.id}`, { role: "member" })).status).toBe(200);
    expect((await owner("DELETE", `${members}/${second.id}`)).status).toBe(204);
  });

  test("a role changes at once, in sessions that are open", async () => {
    const target = await person(app, "Rita", "member");
    expect((await target.as("GET", members)).status).toBe(403);
    await owner("PATCH", `${members}/${target.id}`, { role: "admin" });
    expect((await target.as("GET", members)).status).toBe(200);
    expect((await target.as("GET", "/auth/session")).body).toMatchObject({ organization: { role: "admin" } });
    await owner("PATCH", `${members}/${target.id}`, { role: "member" });
    expect((await target.as("GET", members)).status).toBe(403);
  });

  test("the last owner is neither demoted nor removed, and cannot leave", async () => {
    for (const answer of [
      await owner("PATCH", `${members}/${app.owner.id}`, { role: "admin" }),
      await owner("DELETE", `${members}/${app.owner.id}`),
      await owner("POST", "/auth/organization/leave"),
    ])
      expect(answer).toMatchObject(refused(409, "last-owner"));
    expect((await owner("PATCH", `${members}/${app.owner.id}`, { role: "owner" })).status).toBe(200);
  });

  test("of two owners who demote each other at the same time one stays", async () => {
    const other = await person(app, "Olga", "owner");
    const answers = await Promise.all([
      owner("PATCH", `${members}/${other.id}`, { role: "member" }),
      other.as("PATCH", `${members}/${app.owner.id}`, { role: "member" }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403]);
    // Whoever won gives the other one back what they had.
    const winner = answers[0]?.status === 200 ? owner : other.as;
    await winner("PATCH", `${members}/${app.owner.id}`, { role: "owner" });
    await owner("DELETE", `${members}/${other.id}`);
    expect((await owner("GET", members)).status).toBe(200);
  });

  test("whoever is removed is out at once; their keys work on", async () => {
    const target = await person(app, "Kim", "admin");
    const key = await target.as("POST", "/v1/api-keys", { name: "Kim's", mode: "test" });
    expect(key.status).toBe(201);
    expect((await target.as("GET", "/v1/envelopes")).status).toBe(200);
    expect((await owner("DELETE", `${members}/${target.id}`)).status).toBe(204);
    expect(await target.as("GET", "/v1/envelopes")).toMatchObject(refused(403, "forbidden"));
    expect((await target.as("GET", "/auth/session")).body).toMatchObject({ organization: null, organizations: [] });
    expect((await app.call("/v1/envelopes", { key: { bearer: String(key.body.key) } })).status).toBe(200);
    expect(await owner("DELETE", `${members}/${target.id}`)).toMatchObject(refused(404, "not-found"));
    expect(await owner("PATCH", `${members}/${target.id}`, { role: "admin" })).toMatchObject(refused(404, "not-found"));
  });

  test("members of another organization are not there", async () => {
    await owner("POST", "/auth/organizations", { name: "Second Ltd" });
    const stranger = await person(app, "Stan", "member");
    expect(await owner("DELETE", `${members}/${stranger.id}`)).toMatchObject(refused(404, "not-found"));
    await owner("POST", "/auth/organization", { organization: app.organization });
    expect((await owner("DELETE", `${members}/${stranger.id}`)).status).toBe(204);
  });

  test("what was done stands in the record with who did it", async () => {
    const target = await person(app, "Rex", "member");
    await owner("PATCH", `${members}/${target.id}`, { role: "admin" });
    await owner("DELETE", `${members}/${target.id}`);
    expect(new Set((await audit(owner)).slice(0, 3))).toEqual(
      new Set(["Olive Owner member.removed", "Olive Owner member.role_changed", "Rex member.joined"]),
    );
  });
});

describe("a sign-in of more than a quarter of an hour ago", () => {
  test("neither makes owners and administrators, nor removes members, nor moves the notices", async () => {
    const target = await person(app, "Uma", "member");
    const { id } = (await owner("GET", "/auth/session")).body.session as { id: string };
    const signedIn = (at: number) =>
      app.deps.db.tx((tx) =>
        tx
          .updateTable("sessions")
          .set({ signed_in_at: new Date(at).toISOString() })
          .where("id", "=", id)
          .execute(),
      );
    await signedIn(app.deps.clock.now() - 15 * 60_000);
    for (const [method, path, json] of [
      ["PATCH", `${members}/${target.id}`, { role: "admin" }],
      ["PATCH", `${members}/${target.id}`, { role: "owner" }],
      ["DELETE", `${members}/${target.id}`],
      ["PATCH", "/auth/organization", { notifyEmail: "thief@example.org" }],
    ] as const)
      expect(await owner(method, path, json)).toMatchObject(refused(403, "fresh-sign-in-required"));
    expect((await owner("PATCH", "/auth/organization", { locale: "en" })).status).toBe(200);
    await signedIn(app.deps.clock.now());
    expect((await owner("PATCH", `${members}/${target.id}`, { role: "admin" })).status).toBe(200);
    const mail = (await app.mail()).find(({ kind, text }) => kind === "member_promoted" && text?.includes("Uma"));
    expect(mail).toMatchObject({ to: { email: app.owner.email }, organization: null });
    expect(mail?.text).toContain("Olive Owner");
    expect((await owner("DELETE", `${members}/${target.id}`)).status).toBe(204);
  });
});

test("no sequence of acts on members leaves an organization without an owner", { timeout: 120_000 }, async () => {
  const roles: OrgRole[] = ["owner", "admin", "member"];
  const act = fc.record({
    by: fc.nat(2),
    on: fc.nat(2),
    verb: fc.constantFrom("change", "remove", "leave"),
    role: fc.constantFrom(...roles),
  });
  let round = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(act, { minLength: 1, maxLength: 8 }),
      fc.array(fc.constantFrom(...roles), { minLength: 2, maxLength: 2 }),
      async (acts, others) => {
        round += 1;
        const first = browser(app, await app.signIn());
        const { body } = await first("POST", "/auth/organizations", { name: `Round ${round}` });
        // The rule that keeps strangers from making organizations without end is not what is looked at here.
        await app.deps.limits.giveBack({ name: "create-organization", points: 10, seconds: 3600 }, "127.0.0.1");
        const organization = (body.organization as { id: string }).id;
        const people = [{ id: app.owner.id, as: first }];
        for (const [index, role] of others.entries()) {
          const made = await person(app, `P${round}x${index}`, role, organization);
          await made.as("POST", "/auth/organization", { organization });
          people.push(made);
        }
        for (const { by, on, verb, role } of acts) {
          const actor = people[by];
          const target = people[on];
          if (!actor || !target) continue;
          // A session that left goes on elsewhere: only what it does in this organization counts.
          const { body: session } = await actor.as("GET", "/auth/session");
          if ((session.organization as { id: string } | null)?.id !== organization) continue;
          if (verb === "change") await actor.as("PATCH", `${members}/${target.id}`, { role });
          else if (verb === "remove") await actor.as("DELETE", `${members}/${target.id}`);
          else await actor.as("POST", "/auth/organization/leave");
          const owners = await app.deps.db.read
            .selectFrom("memberships")
            .select("user")
            .where("organization", "=", organization)
            .where("role", "=", "owner")
            .execute();
          expect(owners.length).toBeGreaterThan(0);
        }
      },
    ),
    { numRuns: 25 },
  );
});
