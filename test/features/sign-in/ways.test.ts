import { afterAll, beforeAll, expect, test } from "vitest";
import { DashboardSession } from "../../../server/features/identity/session-contract.ts";
import type { TestAppliance } from "../../harness/appliance.ts";
import { shiftingClock } from "../../harness/clock.ts";
import {
  addPerson,
  auth,
  codeFor,
  goodPassword,
  mailsTo,
  otherPassword,
  problem,
  startSignIn,
  tokenFor,
  wrongCode,
} from "../../harness/sign-in.ts";

let app: TestAppliance;
const clock = shiftingClock();
beforeAll(async () => {
  app = await startSignIn({ clock });
});
afterAll(() => app.stop());

const minute = 60_000;

test("a password signs in, whatever the case of the address", async () => {
  const { email, id } = await addPerson(app);
  const answer = await auth(app, "/auth/sign-in/password", { email: email.toUpperCase(), password: goodPassword });
  expect(answer.status).toBe(200);
  const session = DashboardSession.parse(answer.body);
  expect(session.user).toMatchObject({ id, email, hasPassword: true });
  expect(session.session.method).toBe("password");
  const seen = await auth(app, "/auth/session", undefined, { cookie: answer.cookie });
  expect(seen.body).toEqual(answer.body);
});

test("a mailed code signs in once; a new one replaces it", async () => {
  const { email, id } = await addPerson(app, null);
  expect((await auth(app, "/auth/codes", { email })).body).toEqual({ accepted: true });
  const first = await codeFor(app, email);
  await auth(app, "/auth/codes", { email });
  const second = await codeFor(app, email);
  if (first !== second) {
    const stale = await auth(app, "/auth/sign-in/code", { email, code: first });
    expect(problem(stale)).toMatchObject({ code: "otp-invalid", attemptsRemaining: 4 });
  }
  const answer = await auth(app, "/auth/sign-in/code", { email, code: second });
  expect(DashboardSession.parse(answer.body)).toMatchObject({ user: { id }, session: { method: "code" } });
  expect(problem(await auth(app, "/auth/sign-in/code", { email, code: second })).code).toBe("otp-expired");
  const [mail] = await mailsTo(app, email);
  expect(mail).toMatchObject({ kind: "sign_in_code", organization: null, testMode: false });
});

test("a code is tried five times and lives ten minutes", async () => {
  const { email } = await addPerson(app, null);
  await auth(app, "/auth/codes", { email });
  const code = await codeFor(app, email);
  for (const attemptsRemaining of [4, 3, 2, 1, 0]) {
    const refused = await auth(app, "/auth/sign-in/code", { email, code: wrongCode(code) });
    expect(problem(refused)).toMatchObject({ status: 422, code: "otp-invalid", attemptsRemaining });
  }
  expect(problem(await auth(app, "/auth/sign-in/code", { email, code })).code).toBe("otp-exhausted");
  await auth(app, "/auth/codes", { email });
  const late = await codeFor(app, email);
  clock.shift(10 * minute);
  expect(problem(await auth(app, "/auth/sign-in/code", { email, code: late })).code).toBe("otp-expired");
});

test("wrong codes are remembered over a restart", async () => {
  const { email } = await addPerson(app, null);
  await auth(app, "/auth/codes", { email });
  const code = await codeFor(app, email);
  for (let i = 0; i < 3; i++) await auth(app, "/auth/sign-in/code", { email, code: wrongCode(code) });
  await app.restart();
  const refused = await auth(app, "/auth/sign-in/code", { email, code: wrongCode(code) });
  expect(problem(refused).attemptsRemaining).toBe(1);
  expect((await auth(app, "/auth/sign-in/code", { email, code })).status).toBe(200);
});

test("a magic link signs in once, within ten minutes, and goes on where it was asked for", async () => {
  const { email, id } = await addPerson(app, null);
  await auth(app, "/auth/magic-links", { email, returnTo: "/envelopes/env_1?tab=audit" });
  const [mail] = await mailsTo(app, email);
  expect(mail?.link).toMatch(new RegExp(`^${app.url}/magic#svcm_`));
  const token = await tokenFor(app, email, "magic_link");
  const answer = await auth(app, "/auth/sign-in/magic", { token });
  expect(answer.body).toMatchObject({
    session: { user: { id }, session: { method: "magic_link" } },
    returnTo: "/envelopes/env_1?tab=audit",
  });
  expect(answer.cookie).not.toBeNull();
  const again = await auth(app, "/auth/sign-in/magic", { token });
  expect(again.cookie).toBeNull();
  expect(problem(again).code).toBe("token-used");

  await auth(app, "/auth/magic-links", { email });
  const late = await tokenFor(app, email, "magic_link");
  clock.shift(10 * minute);
  expect(problem(await auth(app, "/auth/sign-in/magic", { token: late })).code).toBe("token-expired");
  expect(problem(await auth(app, "/auth/sign-in/magic", { token: `${late}x` })).code).toBe("token-invalid");
});

test("a magic link tells whose account it opens and whose session it ends, and is not used up by that", async () => {
  const { email } = await addPerson(app, null);
  const other = await addPerson(app, null);
  await auth(app, "/auth/magic-links", { email });
  const token = await tokenFor(app, email, "magic_link");
  const look = (cookie: string | null = null) => auth(app, "/auth/magic-links/look", { token }, { cookie });
  const masked = `${email[0]}***@example.com`;
  expect(await look()).toMatchObject({ status: 200, body: { email: masked, replacesSession: false }, cookie: null });
  expect((await look(await app.signIn(other.id))).body).toEqual({ email: masked, replacesSession: true });
  const signedIn = await auth(app, "/auth/sign-in/magic", { token });
  expect(signedIn.status).toBe(200);
  expect(problem(await look()).code).toBe("token-used");
  await auth(app, "/auth/magic-links", { email });
  const next = await tokenFor(app, email, "magic_link");
  const own = await auth(app, "/auth/magic-links/look", { token: next }, { cookie: signedIn.cookie });
  expect(own.body).toEqual({ email: masked, replacesSession: false });
  clock.shift(10 * minute);
  expect(problem(await auth(app, "/auth/magic-links/look", { token: next })).code).toBe("token-expired");
  expect(problem(await auth(app, "/auth/magic-links/look", { token: `${next}x` })).code).toBe("token-invalid");
});

test("of two uses of one magic link at the same time one signs in", async () => {
  const { email } = await addPerson(app, null);
  await auth(app, "/auth/magic-links", { email });
  const token = await tokenFor(app, email, "magic_link");
  const answers = await Promise.all([1, 2, 3].map(() => auth(app, "/auth/sign-in/magic", { token })));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
});

test("a link goes on to paths of the dashboard only", async () => {
  const { email } = await addPerson(app, null);
  for (const returnTo of ["//evil.example", "/\\evil.example", "https://evil.example", "evil", "/a\tb", "/a\\b", ""]) {
    const refused = await auth(app, "/auth/magic-links", { email, returnTo });
    expect([returnTo, refused.status]).toEqual([returnTo, 422]);
  }
  expect(await mailsTo(app, email)).toEqual([]);
});

test("a reset link replaces the password once, ends every session and every other link and code, and is told of", async () => {
  const { email } = await addPerson(app);
  const before = await auth(app, "/auth/sign-in/password", { email, password: goodPassword });
  await auth(app, "/auth/password/forgot", { email });
  const other = await tokenFor(app, email, "password_reset");
  await auth(app, "/auth/password/forgot", { email });
  const token = await tokenFor(app, email, "password_reset");
  await auth(app, "/auth/magic-links", { email });
  const magic = await tokenFor(app, email, "magic_link");
  await auth(app, "/auth/codes", { email });
  const code = await codeFor(app, email);

  expect((await auth(app, "/auth/password/reset", { token, password: "short" })).status).toBe(422);
  expect((await auth(app, "/auth/password/reset", { token, password: otherPassword })).status).toBe(204);
  expect(problem(await auth(app, "/auth/password/reset", { token, password: otherPassword })).code).toBe("token-used");
  expect(problem(await auth(app, "/auth/password/reset", { token: other, password: goodPassword })).code).toBe(
    "token-invalid",
  );
  expect(problem(await auth(app, "/auth/sign-in/magic", { token: magic })).code).toBe("token-invalid");
  expect(problem(await auth(app, "/auth/sign-in/code", { email, code })).code).toBe("otp-expired");
  expect((await auth(app, "/auth/session", undefined, { cookie: before.cookie })).status).toBe(401);
  expect((await auth(app, "/auth/sign-in/password", { email, password: goodPassword })).status).toBe(401);
  expect((await auth(app, "/auth/sign-in/password", { email, password: otherPassword })).status).toBe(200);
  expect((await mailsTo(app, email))[0]?.kind).toBe("security_notice");
});

test("a reset link lives one hour", async () => {
  const { email } = await addPerson(app);
  await auth(app, "/auth/password/forgot", { email });
  const token = await tokenFor(app, email, "password_reset");
  clock.shift(60 * minute);
  expect(problem(await auth(app, "/auth/password/reset", { token, password: otherPassword })).code).toBe(
    "token-expired",
  );
});
