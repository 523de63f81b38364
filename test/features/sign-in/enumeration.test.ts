import { afterAll, beforeAll, expect, test } from "vitest";
import { noteTry, passwordTries } from "../../../server/features/sign-in/tries.ts";
import { type Clock, toTs } from "../../../server/kernel/clock.ts";
import type { TestAppliance } from "../../harness/appliance.ts";
import {
  type Answer,
  addPerson,
  auth,
  goodPassword,
  mailsTo,
  otherPassword,
  startSignIn,
} from "../../harness/sign-in.ts";

// Whoever asks must not learn whether an address has an account: not from status, body or headers (the bench looks at time).

/** Stands still, so that what an answer says of time is the same for every address. */
const start = Date.now();
const clock: Clock = { now: () => start, ts: () => toTs(start) };
let app: TestAppliance;
beforeAll(async () => {
  app = await startSignIn({ clock, env: { SIGNET_SIGN_UP: "open" } });
});
afterAll(() => app.stop());

let unknown = 0;
function nobody(): string {
  unknown += 1;
  return `Nobody${unknown}@example.com`;
}

/** An answer without what differs between any two. */
function visible({ status, headers, body }: Answer) {
  const own = { requestId: null };
  const shown = [...headers]
    .filter(([name]) => !["date", "x-request-id"].includes(name))
    .map(([name, value]) => [name, name === "set-cookie" ? value.replace(/=[\w-]{43};/, "=…;") : value] as const);
  return {
    status,
    headers: shown.sort(),
    body: body !== null && typeof body === "object" ? { ...body, ...own } : body,
  };
}

type Step = { path: string; json: (email: string) => unknown };
const wrong = "000000";
const repeat = (times: number, step: Step): Step[] => Array.from({ length: times }, () => step);

async function play(steps: readonly Step[], email: string) {
  const answers: ReturnType<typeof visible>[] = [];
  for (const { path, json } of steps) answers.push(visible(await auth(app, path, json(email))));
  return answers;
}

const askCode: Step = { path: "/auth/codes", json: (email) => ({ email }) };
const enterCode: Step = { path: "/auth/sign-in/code", json: (email) => ({ email, code: wrong }) };
const askLink: Step = { path: "/auth/magic-links", json: (email) => ({ email, returnTo: "/send" }) };
const forgot: Step = { path: "/auth/password/forgot", json: (email) => ({ email }) };
const signUp: Step = { path: "/auth/sign-up", json: (email) => ({ email, password: otherPassword, name: "Someone" }) };
const weakSignUp: Step = { path: "/auth/sign-up", json: (email) => ({ email, password: "short", name: "Someone" }) };
const confirm: Step = { path: "/auth/sign-up/confirm", json: (email) => ({ email, code: wrong }) };

const journeys: Record<string, { steps: Step[]; last: number }> = {
  "a code that nobody asked for": { steps: [enterCode], last: 422 },
  "wrong codes until none is left": { steps: [askCode, ...repeat(6, enterCode)], last: 422 },
  "a code anew": { steps: [askCode, enterCode, askCode, enterCode], last: 422 },
  "more codes than there may be": { steps: repeat(6, askCode), last: 429 },
  "more links than there may be": { steps: repeat(6, askLink), last: 429 },
  "more resets than there may be": { steps: repeat(4, forgot), last: 429 },
  "signing up and wrong codes until none is left": { steps: [weakSignUp, signUp, ...repeat(6, confirm)], last: 422 },
  "signing up too often": { steps: repeat(6, signUp), last: 429 },
};
for (const [name, { steps, last }] of Object.entries(journeys)) {
  test(`${name}: an address with an account and one without see the same`, async () => {
    const { email } = await addPerson(app);
    const known = await play(steps, email);
    expect(known.at(-1)?.status).toBe(last);
    expect(await play(steps, nobody())).toEqual(known);
  });
}

async function noteWrong(email: string, times: number): Promise<void> {
  await app.deps.db.tx(async (tx) => {
    for (let i = 0; i < times; i++) await noteTry(tx, app.deps, "password", email.toLowerCase());
  });
}

test("only what failed counts against an address", async () => {
  const { email } = await addPerson(app);
  await noteWrong(email, passwordTries.points - 1);
  for (let i = 0; i < 2; i++)
    expect((await auth(app, "/auth/sign-in/password", { email, password: goodPassword })).status).toBe(200);
});

test("wrong password, unknown address and account without a password are one answer, counted alike", async () => {
  const addresses = [(await addPerson(app)).email, (await addPerson(app, null)).email, nobody()];
  const seen: unknown[] = [];
  for (const email of addresses) {
    const step = { path: "/auth/sign-in/password", json: () => ({ email, password: otherPassword }) };
    const answers = await play(repeat(2, step), email);
    await noteWrong(email, passwordTries.points - 2);
    answers.push(...(await play([step], email)));
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 429]);
    expect(answers[0]?.headers.map(([header]) => header)).not.toContain("set-cookie");
    seen.push(answers);
  }
  expect(seen[1]).toEqual(seen[0]);
  expect(seen[2]).toEqual(seen[0]);
});

test("the limit of an address holds for the right password, too, and after a restart", async () => {
  const { email } = await addPerson(app);
  await noteWrong(email, passwordTries.points);
  await app.restart();
  expect((await auth(app, "/auth/sign-in/password", { email, password: goodPassword })).status).toBe(429);
});

test("requests leave the same rows behind and mail goes to people with an account only", async () => {
  const rows = async (email: string) => {
    const of = (table: "sign_in_codes" | "sign_in_tokens" | "sign_ups") =>
      app.deps.db.read.selectFrom(table).selectAll().where("email_lower", "=", email.toLowerCase()).execute();
    return [await of("sign_in_codes"), await of("sign_in_tokens"), await of("sign_ups")].map(({ length }) => length);
  };
  const known = (await addPerson(app)).email;
  const stranger = nobody();
  const asked = [askCode, askLink, forgot];
  for (const email of [known, stranger]) await play(asked, email);
  expect(await rows(known)).toEqual([1, 2, 0]);
  expect(await rows(stranger)).toEqual([1, 2, 0]);
  expect((await mailsTo(app, known)).map(({ kind }) => kind).sort()).toEqual([
    "magic_link",
    "password_reset",
    "sign_in_code",
  ]);
  expect(await mailsTo(app, stranger)).toEqual([]);
});
