import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DashboardSession } from "../../../server/features/identity/session-contract.ts";
import { Invitation, listOwnInvitations } from "../../../server/features/organization/people-contract.ts";
import { noteTry, wrongCodes } from "../../../server/features/sign-in/tries.ts";
import type { TestAppliance } from "../../harness/appliance.ts";
import { shiftingClock } from "../../harness/clock.ts";
import {
  type Answer,
  addPerson,
  auth,
  codeFor,
  goodPassword,
  mailsTo,
  otherPassword,
  problem,
  startSignIn,
  wrongCode,
} from "../../harness/sign-in.ts";

const ask = (app: TestAppliance, email: string, password = goodPassword) =>
  auth(app, "/auth/sign-up", { email, password, name: "New Person", locale: "de" });
const confirm = (app: TestAppliance, email: string, code: string, cookie: string | null = null) =>
  auth(app, "/auth/sign-up/confirm", { email, code }, { cookie });
/** The cookie of the browser that asked for an account. */
function browserOf({ headers }: Answer): string {
  const [cookie = ""] = headers.getSetCookie();
  expect(cookie).toMatch(/^__Host-svc_sign_up=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax; Max-Age=86400$/);
  return cookie.split(";")[0] ?? "";
}
const signIn = (app: TestAppliance, email: string, password = goodPassword) =>
  auth(app, "/auth/sign-in/password", { email, password });

describe("open sign-up", () => {
  let app: TestAppliance;
  const clock = shiftingClock();
  beforeAll(async () => {
    app = await startSignIn({ clock, env: { SIGNET_SIGN_UP: "open" } });
  });
  afterAll(() => app.stop());

  test("an account exists and signs in only once its address is confirmed", async () => {
    const email = "Fresh@example.org";
    expect(await ask(app, email)).toMatchObject({ status: 202, body: { accepted: true }, cookie: null });
    expect((await signIn(app, email)).status).toBe(401);
    const code = await codeFor(app, email);
    expect(problem(await confirm(app, email, wrongCode(code)))).toMatchObject({ code: "otp-invalid" });
    const confirmed = await confirm(app, email, code);
    expect(DashboardSession.parse(confirmed.body)).toMatchObject({
      user: { email, name: "New Person", locale: "de", hasPassword: true },
      session: { method: "sign_up" },
      organization: null,
      canCreateOrganization: true,
    });
    expect(confirmed.cookie).not.toBeNull();
    expect((await signIn(app, email)).status).toBe(200);
    expect(problem(await confirm(app, email, code)).code).toBe("otp-expired");
  });

  test("asking for an address that has an account changes nothing and tells its holder", async () => {
    const { email } = await addPerson(app);
    expect(await ask(app, email, otherPassword)).toMatchObject({ status: 202, body: { accepted: true } });
    const mails = await mailsTo(app, email);
    expect(mails.map(({ kind }) => kind)).toEqual(["account_exists"]);
    expect(mails[0]?.link).toBe(`${app.url}/sign-in`);
    expect((await signIn(app, email, otherPassword)).status).toBe(401);
    expect((await signIn(app, email)).status).toBe(200);
  });

  test("of several accounts that were asked for each is confirmed in its own browser only", async () => {
    const email = "several@example.org";
    const own = browserOf(await ask(app, email, goodPassword));
    const strangers = browserOf(await ask(app, email, otherPassword));
    const [theirs = "", mine = ""] = (await mailsTo(app, email)).map(({ code }) => code ?? "");
    // Neither without a browser nor in another one, whichever of the two mails is read.
    for (const cookie of [null, own])
      expect(problem(await confirm(app, email, theirs, cookie)).code, `${cookie}`).toBe("otp-invalid");
    expect(problem(await confirm(app, email, mine, strangers)).code).toBe("otp-invalid");
    expect((await confirm(app, email, mine, own)).status).toBe(200);
    expect((await signIn(app, email, otherPassword)).status).toBe(401);
    expect((await signIn(app, email, goodPassword)).status).toBe(200);
  });

  test("wrong codes of a new account are counted once each and lock no other way in", async () => {
    const { email } = await addPerson(app);
    const browser = browserOf(await ask(app, email));
    await ask(app, email);
    for (let wrong = 0; wrong < 5; wrong++) await confirm(app, email, "000000", browser);
    const tries = await app.deps.db.read
      .selectFrom("sign_in_tries")
      .selectAll()
      .where("email_lower", "=", email.toLowerCase())
      .execute();
    expect(tries.map(({ purpose }) => purpose)).toEqual(Array.from({ length: 5 }, () => "sign_up"));
    await app.deps.db.tx(async (tx) => {
      for (let wrong = 5; wrong < wrongCodes.points; wrong++)
        await noteTry(tx, app.deps, "sign_up", email.toLowerCase());
    });
    expect((await confirm(app, email, "000000", browser)).status).toBe(429);
    expect((await auth(app, "/auth/codes", { email })).status).toBe(202);
    expect((await auth(app, "/auth/sign-in/code", { email, code: await codeFor(app, email) })).status).toBe(200);
  });

  test("a waiting account is forgotten after a day and five wrong codes", async () => {
    const email = "late@example.org";
    await ask(app, email);
    const code = await codeFor(app, email);
    for (let i = 0; i < 5; i++) await confirm(app, email, wrongCode(code));
    expect(problem(await confirm(app, email, code)).code).toBe("otp-exhausted");
    await ask(app, email);
    const late = await codeFor(app, email);
    clock.shift(24 * 3_600_000);
    expect(problem(await confirm(app, email, late)).code).toBe("otp-expired");
  });

  test("an address may ask five times an hour", async () => {
    const email = "eager@example.org";
    for (let i = 0; i < 5; i++) expect((await ask(app, email)).status).toBe(202);
    const refused = await ask(app, email.toUpperCase());
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(3500);
  });

  test("a password has 12 to 128 characters", async () => {
    for (const password of ["x".repeat(11), "x".repeat(129)]) {
      const refused = await ask(app, "rule@example.org", password);
      expect(problem(refused)).toMatchObject({ code: "validation-failed", errors: [{ pointer: "#/password" }] });
    }
  });
});

test("sign-up by domain answers everybody alike and mails the code to the domains only", async () => {
  const app = await startSignIn({ env: { SIGNET_SIGN_UP: "domains", SIGNET_SIGN_UP_DOMAINS: "example.org" } });
  try {
    const inside = await ask(app, "inside@EXAMPLE.org");
    const outside = await ask(app, "outside@sub.example.org");
    expect([inside.status, outside.status]).toEqual([202, 202]);
    expect(outside.body).toEqual(inside.body);
    expect((await mailsTo(app, "inside@example.org")).map(({ kind }) => kind)).toEqual(["confirm_account"]);
    expect(await mailsTo(app, "outside@sub.example.org")).toEqual([]);
  } finally {
    await app.stop();
  }
});

test("by invitation only: the invited get a code and join by a press of their own, others hear nothing", async () => {
  const app = await startSignIn();
  try {
    const owner = await app.signIn();
    const invite = async (email: string) =>
      Invitation.parse(
        (await auth(app, "/auth/organization/invitations", { email, role: "admin" }, { cookie: owner })).body,
      );
    await invite("Ina@example.org");
    const revoked = await invite("revoked@example.org");
    await auth(app, `/auth/organization/invitations/${revoked.id}`, undefined, { cookie: owner, method: "DELETE" });
    for (const email of ["ina@example.org", "revoked@example.org", "stranger@example.org"]) {
      expect((await ask(app, email)).status).toBe(202);
    }
    const kinds = async (email: string) => (await mailsTo(app, email)).map(({ kind }) => kind);
    expect(await kinds("revoked@example.org")).not.toContain("confirm_account");
    expect(await kinds("stranger@example.org")).toEqual([]);
    const confirmed = await confirm(app, "ina@example.org", await codeFor(app, "ina@example.org"));
    expect(DashboardSession.parse(confirmed.body)).toMatchObject({ organization: null, organizations: [] });
    const cookie = confirmed.cookie;
    const { body } = await auth(app, "/auth/invitations", undefined, { cookie });
    const [own] = listOwnInvitations.responses[200].schema.parse(body).data;
    expect(own).toMatchObject({ organization: "Example Ltd", role: "admin", invitedBy: "Olive Owner" });
    const joined = await auth(app, `/auth/invitations/${own?.id}/accept`, undefined, { cookie, method: "POST" });
    expect(DashboardSession.parse(joined.body).organization).toMatchObject({ id: app.organization, role: "admin" });
  } finally {
    await app.stop();
  }
});
