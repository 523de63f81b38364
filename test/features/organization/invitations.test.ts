import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasOpenInvitation } from "../../../server/features/identity/invitations.ts";
import { newSecret } from "../../../server/kernel/ids.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { movableClock } from "../../harness/clock.ts";
import { audit, type Browser, browser, mailedToken, password, person } from "../../harness/people.ts";

const minute = 60_000;
const day = 24 * 60 * minute;
const clock = movableClock();
const invitations = "/auth/organization/invitations";
const refused = (status: number, code: string) => ({ status, body: { code } });

let app: TestAppliance;
let owner: Browser;
const nobody = (...call: Parameters<Browser>) => browser(app, null)(...call);
beforeAll(async () => {
  app = await startAppliance({ clock });
  owner = browser(app, await app.signIn());
});
afterAll(() => app.stop());

/** Past the limits per hour, signed in anew: sessions end after seven idle days. */
async function later(ms = 61 * minute): Promise<void> {
  clock.advance(ms);
  owner = browser(app, await app.signIn());
}

async function invite(email: string, role = "member", as: Browser = owner): Promise<{ id: string; token: string }> {
  const { status, body } = await as("POST", invitations, { email, role });
  expect(status).toBe(201);
  return { id: String(body.id), token: await mailedToken(app, email) };
}

const look = (token: string) => nobody("POST", "/auth/invitations/look", { token });
const accept = (body: object, as: Browser = nobody) => as("POST", "/auth/invitations/accept", body);

describe("an invitation", () => {
  test("is mailed with a link, listed, and tells its holder what it is for", async () => {
    const { token } = await invite("New.Person@example.org", "admin");
    const mail = (await app.mail()).find(({ to }) => to.email === "New.Person@example.org");
    expect(mail?.link).toMatch(new RegExp(`^${app.url}/invite#svci_`));
    expect(mail?.text).toContain("Olive Owner");
    const { body } = await owner("GET", invitations);
    expect(body.data).toEqual([
      {
        id: expect.stringMatching(/^inv_/),
        email: "New.Person@example.org",
        role: "admin",
        invitedBy: expect.objectContaining({ name: "Olive Owner" }),
        createdAt: expect.any(String),
        expiresAt: new Date(clock.now() + 7 * day).toISOString(),
        expired: false,
      },
    ]);
    expect(await look(token)).toMatchObject({
      status: 200,
      body: {
        organization: "Example Ltd",
        email: "New.Person@example.org",
        role: "admin",
        invitedBy: "Olive Owner",
        hasAccount: false,
      },
    });
    const stored = await app.deps.db.read.selectFrom("invitations").selectAll().execute();
    expect(JSON.stringify(stored)).not.toContain(token);
  });

  test("makes the account of whoever has none, signs them in, and serves once", async () => {
    // Acts of one millisecond stand in no order.
    clock.advance(1);
    const { token } = await invite("fresh@example.org");
    clock.advance(1);
    expect(await accept({ token })).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: "#/name" }, { pointer: "#/password" }] },
    });
    expect(await accept({ token, name: "Fred Fresh", password: "too short" })).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: "#/password" }] },
    });
    const made = await accept({ token, name: "Fred Fresh", password, locale: "de" });
    expect(made).toMatchObject({
      status: 200,
      body: {
        user: { email: "fresh@example.org", name: "Fred Fresh", locale: "de", hasPassword: true },
        session: { method: "invitation" },
        organization: { id: app.organization, role: "member" },
      },
    });
    expect(made.cookie).toContain("HttpOnly; Secure; SameSite=Lax");
    const fred = browser(app, made.cookie?.split(";")[0] ?? null);
    expect((await fred("GET", "/v1/envelopes")).status).toBe(200);
    expect(await look(token)).toMatchObject(refused(401, "token-used"));
    expect(await accept({ token, name: "Fred", password })).toMatchObject(refused(401, "token-used"));
    expect((await owner("GET", invitations)).body.data).not.toContainEqual(
      expect.objectContaining({ email: "fresh@example.org" }),
    );
    expect((await audit(owner)).slice(0, 2)).toEqual(["Fred Fresh member.joined", "Olive Owner invitation.created"]);
  });

  test("of two who open the link at the same time one account is made", async () => {
    const { token } = await invite("twice@example.org");
    const both = await Promise.all([1, 2].map(() => accept({ token, name: "Twin", password })));
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401]);
  });

  test("is accepted by the person who is signed in with its address, and by nobody else", async () => {
    const has = await person(app, "Hanna", null);
    const other = await person(app, "Oscar", null);
    const { token } = await invite("HANNA@example.com", "admin");
    expect((await look(token)).body).toMatchObject({ hasAccount: true });
    const signedOut = await accept({ token, name: "Not Hanna", password });
    expect(signedOut).toMatchObject(refused(401, "unauthorized"));
    expect(signedOut.body.detail).toContain("sign in");
    const stranger = await accept({ token }, other.as);
    expect(stranger).toMatchObject(refused(409, "conflict"));
    expect(stranger.body.detail).toContain("oscar@example.com");
    expect(await accept({ token }, has.as)).toMatchObject({
      status: 200,
      body: { user: { name: "Hanna" }, organization: { id: app.organization, role: "admin" } },
    });
    expect((await has.as("GET", "/auth/organization/members")).status).toBe(200);
  });

  test("of a member is refused; a second one of an address replaces the first", async () => {
    expect(await owner("POST", invitations, { email: "OWNER@example.com", role: "member" })).toMatchObject(
      refused(409, "conflict"),
    );
    const first = await invite("again@example.org");
    const early = await owner("POST", invitations, { email: "Again@Example.org", role: "admin" });
    expect(early).toMatchObject({ status: 429, body: { code: "rate-limited", retryAfter: 60 } });
    expect((await look(first.token)).status).toBe(200);
    clock.advance(minute);
    const second = await invite("Again@Example.org", "admin");
    expect(await look(first.token)).toMatchObject(refused(401, "token-invalid"));
    expect(await look(second.token)).toMatchObject({ status: 200, body: { role: "admin" } });
    const { body } = await owner("GET", invitations);
    const open = (body.data as { email: string }[]).filter(({ email }) => email.toLowerCase() === "again@example.org");
    expect(open).toHaveLength(1);
  });

  test("dies when revoked, and after seven days", async () => {
    const first = await invite("gone@example.org");
    expect((await owner("DELETE", `${invitations}/${first.id}`)).status).toBe(204);
    expect(await look(first.token)).toMatchObject(refused(401, "token-invalid"));
    expect(await accept({ token: first.token, name: "G", password })).toMatchObject(refused(401, "token-invalid"));
    expect(await owner("DELETE", `${invitations}/${first.id}`)).toMatchObject(refused(404, "not-found"));
    const second = await invite("late@example.org");
    await later(7 * day - 1);
    expect((await look(second.token)).status).toBe(200);
    await later(1);
    expect(await look(second.token)).toMatchObject(refused(401, "token-expired"));
    expect(await accept({ token: second.token, name: "L", password })).toMatchObject(refused(401, "token-expired"));
    const { body } = await owner("GET", invitations);
    expect(body.data).toContainEqual(expect.objectContaining({ email: "late@example.org", expired: true }));
  });

  test("is mailed again at most once a minute, with a fresh link and a fresh life", async () => {
    const { id, token } = await invite("resend@example.org");
    const early = await owner("POST", `${invitations}/${id}/resend`);
    expect(early).toMatchObject({ status: 429, body: { code: "rate-limited", retryAfter: 60 } });
    expect(early.headers.get("retry-after")).toBe("60");
    clock.advance(minute);
    const resent = await owner("POST", `${invitations}/${id}/resend`);
    expect(resent).toMatchObject({ status: 200, body: { id } });
    expect(resent.body.expiresAt).toBe(new Date(clock.now() + 7 * day).toISOString());
    const fresh = await mailedToken(app, "resend@example.org");
    expect(fresh).not.toBe(token);
    expect(await look(token)).toMatchObject(refused(401, "token-invalid"));
    expect((await look(fresh)).status).toBe(200);
    expect((await owner("POST", `${invitations}/${id}/resend`)).status).toBe(429);
    // One that expired lives again.
    await later(8 * day);
    expect((await owner("POST", `${invitations}/${id}/resend`)).status).toBe(200);
    expect((await look(await mailedToken(app, "resend@example.org"))).status).toBe(200);
  });

  test("as an owner comes from owners only", async () => {
    const admin = await person(app, "Adam", "admin");
    const body = { email: "boss@example.org", role: "owner" };
    expect(await admin.as("POST", invitations, body)).toMatchObject(refused(403, "forbidden"));
    const { id } = await invite("boss@example.org", "owner");
    clock.advance(minute);
    expect(await admin.as("POST", `${invitations}/${id}/resend`)).toMatchObject(refused(403, "forbidden"));
    expect(await admin.as("DELETE", `${invitations}/${id}`)).toMatchObject(refused(403, "forbidden"));
    // Nor does an administrator's invitation take the place of an owner's.
    expect(await admin.as("POST", invitations, { ...body, role: "member" })).toMatchObject(refused(403, "forbidden"));
    expect((await admin.as("POST", invitations, { email: "aide@example.org", role: "admin" })).status).toBe(201);
  });

  test("of another organization is not there", async () => {
    const { id } = await invite("elsewhere@example.org");
    clock.advance(minute);
    const elsewhere = await owner("POST", "/auth/organizations", { name: "Elsewhere Ltd" });
    expect(elsewhere.status).toBe(201);
    expect(await owner("DELETE", `${invitations}/${id}`)).toMatchObject(refused(404, "not-found"));
    expect(await owner("POST", `${invitations}/${id}/resend`)).toMatchObject(refused(404, "not-found"));
    expect((await owner("GET", invitations)).body.data).toEqual([]);
    await owner("POST", "/auth/organization", { organization: app.organization });
  });

  test("has a token that nobody invents", async () => {
    for (const token of ["x", "svci_", newSecret("svci"), newSecret("svcr"), `${newSecret("svci")}x`])
      expect(await look(token)).toMatchObject(refused(401, "token-invalid"));
  });
});

describe("an invitation beyond what its maker may give", () => {
  const entries = async () =>
    (await owner("GET", "/auth/organization/audit?limit=5")).body.data as { action: string; data: object }[];

  test("is revoked with their role, and what they may still give stays", async () => {
    clock.advance(minute);
    const second = await person(app, "Second", "owner");
    const high = await invite("high@example.org", "owner", second.as);
    const low = await invite("low@example.org", "admin", second.as);
    clock.advance(1);
    await owner("PATCH", `/auth/organization/members/${second.id}`, { role: "admin" });
    expect(await look(high.token)).toMatchObject(refused(401, "token-invalid"));
    expect((await look(low.token)).status).toBe(200);
    expect(await entries()).toContainEqual(
      expect.objectContaining({
        action: "invitation.revoked",
        data: { email: "high@example.org", role: "owner", reason: "inviter_authority_ended" },
      }),
    );
    expect((await owner("DELETE", `/auth/organization/members/${second.id}`)).status).toBe(204);
    expect(await accept({ token: low.token, name: "Back", password })).toMatchObject(refused(401, "token-invalid"));
    expect(await hasOpenInvitation(app.deps.db.read, app.deps, "low@example.org")).toBe(false);
  });

  test("opens nothing even where it was not revoked; one that somebody else mailed again is theirs", async () => {
    clock.advance(minute);
    const maker = await person(app, "Maker", "admin");
    const { token } = await invite("raw@example.org", "admin", maker.as);
    const renewed = await invite("renewed@example.org", "member", maker.as);
    clock.advance(minute);
    expect((await owner("POST", `${invitations}/${renewed.id}/resend`)).status).toBe(200);
    // Their membership goes without the usual ways.
    await app.deps.db.tx((tx) => tx.deleteFrom("memberships").where("user", "=", maker.id).execute());
    expect(await look(token)).toMatchObject(refused(401, "token-invalid"));
    expect(await accept({ token, name: "Raw", password })).toMatchObject(refused(401, "token-invalid"));
    expect(await hasOpenInvitation(app.deps.db.read, app.deps, "raw@example.org")).toBe(false);
    expect((await look(await mailedToken(app, "renewed@example.org"))).status).toBe(200);
  });
});

describe("a sign-in of long ago", () => {
  test("brings in nobody with power, while it still invites members", async () => {
    const stale = owner;
    clock.advance(minute);
    const admin = await invite("waits@example.org", "admin");
    clock.advance(15 * minute);
    for (const role of ["owner", "admin"])
      expect(await stale("POST", invitations, { email: "thief@example.org", role })).toMatchObject(
        refused(403, "fresh-sign-in-required"),
      );
    expect(await stale("POST", `${invitations}/${admin.id}/resend`)).toMatchObject(
      refused(403, "fresh-sign-in-required"),
    );
    expect((await stale("POST", invitations, { email: "plain@example.org", role: "member" })).status).toBe(201);
    await later();
  });
});

describe("limits", () => {
  const send = (email: string, as: Browser = owner) => as("POST", invitations, { email, role: "member" });
  const create = async (name: string) => {
    const { body } = await owner("POST", "/auth/organizations", { name });
    expect(body).toMatchObject({ organization: { name } });
    // The rule that keeps strangers from making organizations without end is not what is looked at here.
    await app.deps.limits.giveBack({ name: "create-organization", points: 10, seconds: 3600 }, "127.0.0.1");
  };

  test("fifty invitation mails an hour of a person, a hundred open invitations", async () => {
    await later();
    await create("Crowd Ltd");
    for (let index = 0; index < 50; index += 1) expect((await send(`p${index}@example.org`)).status).toBe(201);
    const more = await send("p50@example.org");
    expect(more).toMatchObject({ status: 429, body: { code: "rate-limited", retryAfter: 3600 } });
    // Nor does another organization of theirs start the count anew.
    await create("Second Crowd Ltd");
    expect(await send("p50@example.org")).toMatchObject(refused(429, "rate-limited"));
    await create("Third Crowd Ltd");
    await later(60 * minute);
    const third = (await owner("GET", "/auth/session")).body.organizations as { id: string; name: string }[];
    await owner("POST", "/auth/organization", { organization: third.find(({ name }) => name === "Crowd Ltd")?.id });
    for (let index = 50; index < 100; index += 1) expect((await send(`p${index}@example.org`)).status).toBe(201);
    await later(60 * minute);
    await owner("POST", "/auth/organization", { organization: third.find(({ name }) => name === "Crowd Ltd")?.id });
    expect(await send("p100@example.org")).toMatchObject(refused(409, "conflict"));
    // Replacing one makes no more of them.
    expect((await send("p7@example.org")).status).toBe(201);
    await owner("POST", "/auth/organization", { organization: app.organization });
  });

  test("three a day to an address from an organization, ten from all; an account makes no difference", async () => {
    const known = await person(app, "Known", null);
    for (const email of [known.email, "unknown@example.org"]) {
      await later(25 * 60 * minute);
      const statuses: number[] = [];
      for (let round = 0; round < 4; round += 1) {
        await create(`Flood ${email} ${round}`);
        for (let index = 0; index < 4; index += 1) {
          statuses.push((await send(email)).status);
          clock.advance(minute);
        }
      }
      const [yes, no] = [201, 429];
      expect(statuses).toEqual([yes, yes, yes, no, yes, yes, yes, no, yes, yes, yes, no, yes, no, no, no]);
      // Neither is another way to the same mailbox, nor does revoking or a new start forget them.
      expect((await send(email.toUpperCase())).body.detail).toContain("in a day");
    }
    await owner("POST", "/auth/organization", { organization: app.organization });
  });

  test("outlive a restart, and revoking", async () => {
    await later(25 * 60 * minute);
    const { id } = await invite("patient@example.org");
    expect((await owner("DELETE", `${invitations}/${id}`)).status).toBe(204);
    await app.restart();
    expect(await send("patient@example.org")).toMatchObject({ status: 429, body: { retryAfter: 60 } });
    clock.advance(minute);
    expect((await send("patient@example.org")).status).toBe(201);
  });
});

describe("somebody with an account and invitations of their address", () => {
  test("sees them, and joins by a press; those of others are not there", async () => {
    await later(25 * 60 * minute);
    const many = await person(app, "Many", null);
    const other = await person(app, "Other", null);
    const first = await invite("MANY@example.com", "admin");
    const foreign = await invite(other.email);
    const { body } = await many.as("GET", "/auth/invitations");
    expect(body.data).toEqual([
      {
        id: first.id,
        organization: "Example Ltd",
        role: "admin",
        invitedBy: "Olive Owner",
        expiresAt: expect.any(String),
      },
    ]);
    expect((await many.as("GET", "/auth/session")).body).toMatchObject({ organization: null });
    for (const id of [foreign.id, "inv_none"])
      expect(await many.as("POST", `/auth/invitations/${id}/accept`)).toMatchObject(refused(404, "not-found"));
    expect(await many.as("POST", `/auth/invitations/${first.id}/accept`)).toMatchObject({
      status: 200,
      body: { organization: { id: app.organization, role: "admin" } },
    });
    expect(await many.as("POST", `/auth/invitations/${first.id}/accept`)).toMatchObject(refused(404, "not-found"));
    expect((await many.as("GET", "/auth/invitations")).body.data).toEqual([]);
    // The owner hears who may do more now.
    const told = (await app.mail()).find(({ kind, text }) => kind === "member_promoted" && text?.includes(many.email));
    expect(told?.to.email).toBe(app.owner.email);
    expect(told?.text).toContain("administrator");
  });

  test("may sign up while one of them is good", async () => {
    await invite("stale@example.org");
    expect(await hasOpenInvitation(app.deps.db.read, app.deps, "STALE@example.org")).toBe(true);
    await later(7 * day);
    expect(await hasOpenInvitation(app.deps.db.read, app.deps, "stale@example.org")).toBe(false);
  });
});
