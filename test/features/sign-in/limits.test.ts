import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLog } from "../../../server/kernel/log.ts";
import type { TestAppliance } from "../../harness/appliance.ts";
import { shiftingClock } from "../../harness/clock.ts";
import {
  addPerson,
  auth,
  codeFor,
  goodPassword,
  newClient,
  otherPassword,
  problem,
  startSignIn,
  tokenFor,
  wrongCode,
} from "../../harness/sign-in.ts";

let app: TestAppliance;
let logged = "";
const clock = shiftingClock();
beforeAll(async () => {
  app = await startSignIn({
    clock,
    env: { SIGNET_SIGN_UP: "open" },
    log: createLog("debug", {
      write(text: string) {
        logged += text;
      },
    }),
  });
});
afterAll(() => app.stop());

const minute = 60_000;
let addresses = 0;
function anyone(): string {
  addresses += 1;
  return `anyone${addresses}@example.org`;
}

test.each([
  ["/auth/sign-in/password", 10, minute, () => ({ email: anyone(), password: otherPassword })],
  ["/auth/sign-up", 5, minute, () => ({ email: anyone(), password: goodPassword, name: "Someone" })],
  ["/auth/password/forgot", 5, 15 * minute, () => ({ email: anyone() })],
  ["/auth/codes", 3, minute, () => ({ email: anyone() })],
  ["/auth/magic-links", 3, minute, () => ({ email: anyone() })],
] as const)("%s: %i calls from one client address in its window", async (target, points, windowMs, json) => {
  const client = newClient();
  const statuses: number[] = [];
  for (let i = 0; i < points; i++) statuses.push((await auth(app, target, json(), { client })).status);
  expect(new Set(statuses)).toEqual(new Set([target === "/auth/sign-in/password" ? 401 : 202]));
  const refused = await auth(app, target, json(), { client });
  expect(problem(refused)).toMatchObject({ status: 429, code: "rate-limited" });
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(refused.headers.get("ratelimit-remaining")).toBe("0");
  expect((await auth(app, target, json())).status).not.toBe(429);
  clock.shift(windowMs);
  expect((await auth(app, target, json(), { client })).status).not.toBe(429);
});

test("tries at the same time are counted one by one", async () => {
  const { email } = await addPerson(app, null);
  await auth(app, "/auth/codes", { email });
  const code = wrongCode(await codeFor(app, email));
  const answers = await Promise.all(Array.from({ length: 12 }, () => auth(app, "/auth/sign-in/code", { email, code })));
  const codes = answers.map((answer) => problem(answer).code).sort();
  expect(codes.filter((each) => each === "otp-invalid")).toHaveLength(5);
  expect(codes.filter((each) => each === "otp-exhausted")).toHaveLength(7);
});

test("one code makes one account, and one password reset", async () => {
  const email = anyone();
  await auth(app, "/auth/sign-up", { email, password: goodPassword, name: "Twice" });
  const code = await codeFor(app, email);
  const confirmed = await Promise.all([1, 2, 3].map(() => auth(app, "/auth/sign-up/confirm", { email, code })));
  expect(confirmed.map(({ status }) => status).sort()).toEqual([200, 422, 422]);
  await auth(app, "/auth/password/forgot", { email });
  const token = await tokenFor(app, email, "password_reset");
  const reset = () => auth(app, "/auth/password/reset", { token, password: otherPassword });
  expect((await Promise.all([reset(), reset()])).map(({ status }) => status).sort()).toEqual([204, 401]);
});

test("patient guessing ends after fifty wrong codes a day, over any number of codes", async () => {
  const { email } = await addPerson(app, null);
  for (let burst = 0; burst < 2; burst++) {
    for (let i = 0; i < 5; i++) {
      await auth(app, "/auth/codes", { email });
      const code = wrongCode(await codeFor(app, email));
      for (let tries = 0; tries < 5; tries++) await auth(app, "/auth/sign-in/code", { email, code });
    }
    clock.shift(15 * minute);
  }
  expect((await auth(app, "/auth/codes", { email })).status).toBe(429);
  expect((await auth(app, "/auth/sign-in/code", { email, code: "000000" })).status).toBe(429);
  clock.shift(24 * 60 * minute);
  expect((await auth(app, "/auth/codes", { email })).status).toBe(202);
});

test("neither the log nor the database holds an address's secrets in the clear", async () => {
  const { email } = await addPerson(app);
  await auth(app, "/auth/magic-links", { email });
  await auth(app, "/auth/password/forgot", { email });
  const magic = await tokenFor(app, email, "magic_link");
  const reset = await tokenFor(app, email, "password_reset");
  const { cookie } = await auth(app, "/auth/sign-in/magic", { token: magic });
  await auth(app, "/auth/sign-in/magic", { token: magic });
  await auth(app, "/auth/password/reset", { token: reset, password: otherPassword });
  await auth(app, "/auth/sign-in/password", { email, password: goodPassword });
  const secrets = [magic, reset, cookie?.split("=")[1] ?? "", goodPassword, otherPassword];
  expect(secrets.every((secret) => secret.length > 10)).toBe(true);
  const files = await Promise.all(
    ["signet.db", "signet.db-wal"].map((name) => readFile(path.join(app.folder, name), "latin1")),
  );
  for (const secret of secrets) {
    expect(files.some((bytes) => bytes.includes(secret))).toBe(false);
    expect(logged).not.toContain(secret);
  }
  expect(logged.toLowerCase()).not.toContain(email.toLowerCase());
  expect(logged).toContain("sign-in refused");
  expect(logged).toContain("signed in");
});
