import { afterAll, beforeAll, expect, test } from "vitest";
import type { z } from "zod";
import { sessionCookieName } from "../../../server/features/identity/sessions.ts";
import { listSessions } from "../../../server/features/sign-in/contract.ts";
import { purgeSignIn } from "../../../server/features/sign-in/sessions.ts";
import { newSecret } from "../../../server/kernel/ids.ts";
import type { TestAppliance } from "../../harness/appliance.ts";
import { shiftingClock } from "../../harness/clock.ts";
import { addPerson, auth, goodPassword, newClient, problem, startSignIn } from "../../harness/sign-in.ts";

let app: TestAppliance;
const clock = shiftingClock();
beforeAll(async () => {
  app = await startSignIn({ clock });
});
afterAll(() => app.stop());

const dayMs = 24 * 3_600_000;
const signIn = (email: string, cookie: string | null = null, headers: Record<string, string> = {}) =>
  auth(app, "/auth/sign-in/password", { email, password: goodPassword }, { cookie, headers });
const me = async (cookie: string | null) => (await auth(app, "/auth/session", undefined, { cookie })).status;
async function list(cookie: string | null) {
  const { body } = await auth(app, "/auth/sessions", undefined, { cookie });
  const schema: z.ZodType<{ data: { id: string; current: boolean; userAgent: string | null; ip: string }[] }> =
    listSessions.responses[200].schema;
  return schema.parse(body).data;
}

test("the cookie is bound to this host, hidden from scripts, secure, and not sent from other sites", async () => {
  const { email } = await addPerson(app);
  const answer = await signIn(email);
  const [line] = answer.headers.getSetCookie();
  const [value, ...attributes] = (line ?? "").split("; ");
  expect(value).toMatch(new RegExp(`^${sessionCookieName}=svcu_[0-9A-Za-z]{49}$`));
  expect(sessionCookieName.startsWith("__Host-")).toBe(true);
  expect(attributes.sort()).toEqual(["HttpOnly", "Max-Age=2592000", "Path=/", "SameSite=Lax", "Secure"]);
  expect(answer.headers.get("cache-control")).toBe("no-store");
});

test("a cookie that somebody planted is not adopted, and the session of before ends", async () => {
  const { email } = await addPerson(app);
  const planted = `${sessionCookieName}=${newSecret("svcu")}`;
  const first = await signIn(email, planted);
  expect(first.cookie).not.toBe(planted);
  expect(await me(planted)).toBe(401);

  const attacker = await addPerson(app);
  const theirs = (await signIn(attacker.email)).cookie;
  const second = await signIn(email, theirs);
  expect(second.cookie).not.toBe(theirs);
  expect([await me(theirs), await me(second.cookie), await me(first.cookie)]).toEqual([401, 200, 200]);
  const third = await signIn(email, second.cookie);
  expect([await me(second.cookie), await me(third.cookie)]).toEqual([401, 200]);
});

test("sessions are listed, ended one by one, all but this one, and all", async () => {
  const { email } = await addPerson(app);
  const stranger = await addPerson(app);
  const here = (await signIn(email, null, { "user-agent": "Here/1" })).cookie;
  const there = (await signIn(email, null, { "user-agent": "There/1" })).cookie;
  const foreign = (await signIn(stranger.email)).cookie;
  const sessions = await list(here);
  expect(sessions.map(({ current, userAgent }) => [current, userAgent]).sort()).toEqual([
    [false, "There/1"],
    [true, "Here/1"],
  ]);
  const other = sessions.find(({ current }) => !current)?.id ?? "";
  const end = (id: string, cookie: string | null) =>
    auth(app, `/auth/sessions/${id}`, undefined, { cookie, method: "DELETE" });
  expect((await end(other, foreign)).status).toBe(404);
  expect(await me(there)).toBe(200);
  expect((await end(other, here)).status).toBe(204);
  expect((await end(other, here)).status).toBe(404);
  expect([await me(there), await me(here)]).toEqual([401, 200]);

  const third = (await signIn(email)).cookie;
  const rest = await auth(app, "/auth/sessions?keep=current", undefined, { cookie: here, method: "DELETE" });
  expect([rest.status, await me(third), await me(here)]).toEqual([204, 401, 200]);
  const all = await auth(app, "/auth/sessions", undefined, { cookie: here, method: "DELETE" });
  expect(all.headers.getSetCookie()[0]).toContain(`${sessionCookieName}=;`);
  expect([all.status, await me(here), await me(foreign)]).toEqual([204, 401, 200]);
});

test("signing out ends the session and clears the cookie, also when it is gone", async () => {
  const { email } = await addPerson(app);
  const { cookie } = await signIn(email);
  for (const sent of [cookie, cookie, null, `${sessionCookieName}=nonsense`]) {
    const out = await auth(app, "/auth/sign-out", undefined, { cookie: sent, method: "POST" });
    expect(out.status).toBe(204);
    expect(out.headers.getSetCookie()[0]).toMatch(new RegExp(`^${sessionCookieName}=; .*Max-Age=0`));
    expect(await me(cookie)).toBe(401);
  }
});

test("a session ends after seven days without use and after thirty in any case", async () => {
  const { email } = await addPerson(app);
  const idle = (await signIn(email)).cookie;
  clock.shift(7 * dayMs);
  expect(await me(idle)).toBe(401);
  const used = (await signIn(email)).cookie;
  for (let day = 6; day < 30; day += 6) {
    clock.shift(6 * dayMs);
    expect(await me(used)).toBe(200);
    // The use is noted off the request's path; a transaction after it finds it done.
    await app.deps.db.tx(async () => undefined);
  }
  clock.shift(6 * dayMs);
  expect(await me(used)).toBe(401);
});

test("what has expired is purged", async () => {
  const { email, id } = await addPerson(app);
  await signIn(email);
  await auth(app, "/auth/codes", { email });
  await auth(app, "/auth/password/forgot", { email });
  await auth(app, "/auth/sign-up", { email, password: goodPassword, name: "Someone" });
  await app.jobs.idle();
  const left = async () => {
    const { read } = app.deps.db;
    const of = (table: "sign_in_codes" | "sign_in_tokens" | "sign_ups") =>
      read.selectFrom(table).selectAll().where("email_lower", "=", email.toLowerCase()).execute();
    const sessions = await read.selectFrom("sessions").selectAll().where("user", "=", id).execute();
    return [...(await Promise.all([of("sign_in_codes"), of("sign_in_tokens"), of("sign_ups")])), sessions].map(
      ({ length }) => length,
    );
  };
  await app.deps.db.tx((tx) => purgeSignIn(tx, app.deps));
  expect(await left()).toEqual([2, 1, 1, 1]);
  clock.shift(dayMs + 30 * 60_000);
  await app.deps.db.tx((tx) => purgeSignIn(tx, app.deps));
  expect(await left()).toEqual([1, 1, 0, 1]);
  clock.shift(dayMs);
  await app.deps.db.tx((tx) => purgeSignIn(tx, app.deps));
  expect(await left()).toEqual([0, 0, 0, 1]);
  clock.shift(61 * dayMs);
  await app.deps.db.tx((tx) => purgeSignIn(tx, app.deps));
  expect(await left()).toEqual([0, 0, 0, 0]);
});

test("people change their name and language", async () => {
  const { email } = await addPerson(app);
  const { cookie } = await signIn(email);
  const change = (json: unknown) => auth(app, "/auth/profile", json, { cookie, method: "PATCH" });
  expect((await change({ name: "  New Name ", locale: "de-AT" })).body).toMatchObject({
    user: { name: "New Name", locale: "de-AT" },
  });
  expect((await change({ locale: null })).body).toMatchObject({ user: { name: "New Name", locale: null } });
  expect((await change({})).status).toBe(200);
  expect(problem(await change({ name: " " })).code).toBe("validation-failed");
  expect(problem(await change({ email: "other@example.com" })).code).toBe("validation-failed");
});

test("which ways there are is told to everybody", async () => {
  const { body } = await auth(app, "/auth/options", undefined, { client: newClient() });
  expect(body).toEqual({ signUp: "invited", social: [], firstOwner: false });
});
