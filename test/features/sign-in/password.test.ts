import { scrypt } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { hashPassword, verifyPassword } from "../../../server/features/identity/password.ts";
import { changePerson, personById } from "../../../server/features/identity/people.ts";
import type { TestAppliance } from "../../harness/appliance.ts";
import { shiftingClock } from "../../harness/clock.ts";
import {
  addPerson,
  auth,
  codeFor,
  goodPassword,
  mailsTo,
  newClient,
  otherPassword,
  problem,
  startSignIn,
  tokenFor,
} from "../../harness/sign-in.ts";

let app: TestAppliance;
const clock = shiftingClock();
beforeAll(async () => {
  app = await startSignIn({ clock });
});
afterAll(() => app.stop());

const me = async (cookie: string | null) => (await auth(app, "/auth/session", undefined, { cookie })).status;
const signIn = (email: string, password: string) => auth(app, "/auth/sign-in/password", { email, password });
async function byCode(email: string) {
  await auth(app, "/auth/codes", { email });
  return await auth(app, "/auth/sign-in/code", { email, code: await codeFor(app, email) });
}

test("a first password needs a sign-in of the last fifteen minutes, ends the other sessions and renews this one's secret", async () => {
  const { email } = await addPerson(app, null);
  const stale = (await byCode(email)).cookie;
  clock.shift(15 * 60_000);
  const set = (cookie: string | null, password: string) => auth(app, "/auth/password/set", { password }, { cookie });
  expect(problem(await set(stale, goodPassword)).code).toBe("fresh-sign-in-required");
  const here = (await byCode(email)).cookie;
  expect((await set(here, "too short")).status).toBe(422);
  const done = await set(here, goodPassword);
  expect(done.body).toMatchObject({ user: { email, hasPassword: true } });
  expect(done.cookie).not.toBe(here);
  expect([await me(stale), await me(here), await me(done.cookie)]).toEqual([401, 401, 200]);
  expect((await mailsTo(app, email))[0]?.kind).toBe("security_notice");
  expect(problem(await set(done.cookie, otherPassword)).code).toBe("conflict");
  expect((await signIn(email, goodPassword)).status).toBe(200);
});

test("changing the password needs the current one, ends the other sessions and outstanding links, and renews the secret", async () => {
  const { email } = await addPerson(app);
  const there = (await signIn(email, goodPassword)).cookie;
  const here = (await signIn(email, goodPassword)).cookie;
  await auth(app, "/auth/password/forgot", { email });
  const token = await tokenFor(app, email, "password_reset");
  const change = (currentPassword: string, cookie = here) =>
    auth(app, "/auth/password/change", { currentPassword, password: otherPassword }, { cookie });
  expect(problem(await change(otherPassword))).toMatchObject({
    code: "validation-failed",
    errors: [{ pointer: "#/currentPassword" }],
  });
  const done = await change(goodPassword);
  expect(done.status).toBe(200);
  expect([await me(there), await me(here), await me(done.cookie)]).toEqual([401, 401, 200]);
  expect(problem(await auth(app, "/auth/password/reset", { token, password: goodPassword })).code).toBe(
    "token-invalid",
  );
  expect([(await signIn(email, goodPassword)).status, (await signIn(email, otherPassword)).status]).toEqual([401, 200]);
  expect((await mailsTo(app, email))[0]?.kind).toBe("security_notice");
});

test("guessing the current password is limited by person, not only by client address", async () => {
  const { email } = await addPerson(app);
  const { cookie } = await signIn(email, goodPassword);
  const input = { currentPassword: otherPassword, password: otherPassword };
  const statuses: number[] = [];
  for (let i = 0; i < 11; i++) statuses.push((await auth(app, "/auth/password/change", input, { cookie })).status);
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 422), 429]);
});

test("an account without a password has none to change", async () => {
  const { email } = await addPerson(app, null);
  const { cookie } = await byCode(email);
  const input = { currentPassword: goodPassword, password: otherPassword };
  expect(problem(await auth(app, "/auth/password/change", input, { cookie })).code).toBe("conflict");
});

test("a hash of a lower cost is made anew when its password is next entered", async () => {
  const { email, id } = await addPerson(app, null);
  const salt = Buffer.from("0123456789abcdef");
  const derive: (password: string, salt: Buffer, length: number) => Promise<unknown> = promisify(scrypt);
  const key = Buffer.from((await derive(goodPassword, salt, 32)) as Uint8Array);
  const cheap = `scrypt$16384$8$1$${salt.toString("base64")}$${key.toString("base64")}`;
  await app.deps.db.tx((tx) => changePerson(tx, id, { password_hash: cheap }));
  expect((await signIn(email, otherPassword)).status).toBe(401);
  expect((await personById(app.deps.db.read, id))?.password_hash).toBe(cheap);
  expect((await signIn(email, goodPassword)).status).toBe(200);
  const better = (await personById(app.deps.db.read, id))?.password_hash ?? "";
  expect(better).toMatch(/^scrypt\$131072\$/);
  expect(await verifyPassword(goodPassword, better)).toBe(true);
});

const times = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => make(index));

test("five colleagues behind one address sign in at the same moment", async () => {
  const colleagues = await Promise.all(times(5, () => addPerson(app)));
  const client = newClient();
  const answers = await Promise.all(
    colleagues.map(({ email }) => auth(app, "/auth/sign-in/password", { email, password: goodPassword }, { client })),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
});

test("a try that came to no turn is not counted", async () => {
  const { email } = await addPerson(app);
  const client = newClient();
  let answered = false;
  const busy = times(14, async () => {
    while (!answered) await hashPassword(goodPassword, client).catch(() => setImmediate());
  });
  const refused = await auth(app, "/auth/sign-in/password", { email, password: otherPassword }, { client });
  answered = true;
  expect(problem(refused)).toMatchObject({ status: 429, retryAfter: 2 });
  await Promise.all(busy);
  const tries = await app.deps.db.read
    .selectFrom("sign_in_tries")
    .selectAll()
    .where("email_lower", "=", email.toLowerCase())
    .execute();
  expect(tries).toEqual([]);
});
