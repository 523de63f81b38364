import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { createPerson } from "../../../server/features/identity/people.ts";
import { sessionCookieName } from "../../../server/features/identity/sessions.ts";
import { Passkey } from "../../../server/features/sign-in/passkeys/contract.ts";
import { Problem } from "../../../server/kernel/problem.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { shiftingClock } from "../../harness/clock.ts";
import { createAuthenticator, type Deviation } from "./authenticator.ts";

const Offered = z.object({ challenge: z.string(), options: z.looseObject({ challenge: z.string() }) });
const minute = 60_000;
const clock = shiftingClock();
let app: TestAppliance;
/** A person of its own for each test, and the cookie of a fresh sign-in. */
let person: string;
let cookie: string;
let count = 0;

beforeAll(async () => {
  app = await startAppliance({ clock });
});
afterAll(() => app.stop());
beforeEach(async () => {
  count += 1;
  // The next window of the rate limits.
  clock.shift(2 * minute);
  const input = { email: `person${count}@example.com`, name: "Pia Person", passwordHash: null, locale: "de" };
  person = await app.deps.db.tx((tx) => createPerson(tx, app.deps, input));
  cookie = await app.signIn(person);
});

/** As a page of ours calls it. */
async function ask(
  path: string,
  json?: unknown,
  { as = cookie, method = "POST" }: { as?: string | null; method?: string } = {},
) {
  const headers: Record<string, string> = { origin: app.url, ...(as === null ? {} : { cookie: as }) };
  const answer = await app.call(path, { key: null, method, headers, ...(json === undefined ? {} : { json }) });
  const text = await answer.text();
  const body: unknown = text === "" ? null : JSON.parse(text);
  return { status: answer.status, headers: answer.headers, body };
}

const authenticator = (algorithm?: "ES256" | "EdDSA") => createAuthenticator(app.url, algorithm);
type Key = ReturnType<typeof authenticator>;

async function registrationOptions() {
  const { status, body } = await ask("/auth/passkeys/register/options");
  expect(status).toBe(200);
  return Offered.parse(body);
}

async function register(key: Key, deviation: Deviation = {}, name = "Laptop") {
  const { challenge, options } = await registrationOptions();
  return await ask("/auth/passkeys/register/verify", { challenge, name, response: key.create(options, deviation) });
}

async function signInOptions() {
  return Offered.parse((await ask("/auth/passkeys/options", undefined, { as: null })).body);
}

async function signIn(key: Key, deviation: Deviation = {}) {
  const { challenge, options } = await signInOptions();
  return await ask("/auth/passkeys/verify", { challenge, response: key.get(options, deviation) }, { as: null });
}

async function notices(): Promise<string[]> {
  const mails = (await app.mail()).filter(({ to }) => to.email === `person${count}@example.com`);
  return mails.map(({ kind, subject }) => `${kind}: ${subject}`);
}

describe("register, sign in, rename, remove", () => {
  test.each(["ES256", "EdDSA"] as const)("with a key of %s", async (algorithm) => {
    const key = authenticator(algorithm);
    const offered = await registrationOptions();
    expect(offered.options).toMatchObject({
      rp: { id: new URL(app.url).hostname },
      user: { name: `person${count}@example.com`, displayName: "Pia Person" },
      attestation: "none",
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
      excludeCredentials: [],
    });
    expect(JSON.stringify(offered.options.user)).not.toContain(Buffer.from("person").toString("base64url"));

    const made = await register(key);
    expect(made.status).toBe(201);
    const passkey = Passkey.parse(made.body);
    expect(passkey).toMatchObject({ name: "Laptop", backedUp: false, lastUsedAt: null });
    expect(await notices()).toHaveLength(1);
    expect((await registrationOptions()).options.excludeCredentials).toMatchObject([{ id: key.id }]);

    key.backedUp = true;
    const signedIn = await signIn(key);
    expect(signedIn.status).toBe(200);
    expect(signedIn.body).toMatchObject({ user: { id: person }, session: { method: "passkey" } });
    const set = signedIn.headers.get("set-cookie") ?? "";
    expect(set).toMatch(/; HttpOnly; Secure; SameSite=Lax/);
    const own = set.slice(0, set.indexOf(";"));
    expect(own.startsWith(`${sessionCookieName}=svcu_`)).toBe(true);

    const listed = await ask("/auth/passkeys", undefined, { method: "GET", as: own });
    expect(listed.body).toMatchObject({ data: [{ id: passkey.id, backedUp: true, lastUsedAt: expect.any(String) }] });
    expect((await ask("/auth/passkeys/psk_nobodys", { name: "" }, { method: "PATCH" })).status).toBe(404);
    const renamed = await ask(`/auth/passkeys/${passkey.id}`, { name: "Telefon" }, { method: "PATCH" });
    expect(renamed.body).toMatchObject({ id: passkey.id, name: "Telefon" });

    expect((await ask(`/auth/passkeys/${passkey.id}`, undefined, { method: "DELETE" })).status).toBe(204);
    expect(await notices()).toHaveLength(2);
    expect((await signIn(key)).status).toBe(401);
  });
});

describe("a sign-in is refused in one way", () => {
  let key: Key;
  let refusal: unknown;
  const shape = (body: unknown) => ({ ...Problem.parse(body), requestId: "" });

  beforeEach(async () => {
    key = authenticator();
    expect((await register(key)).status).toBe(201);
    const unknown = await signIn(createKeyOfNobody());
    expect(unknown.status).toBe(401);
    refusal = shape(unknown.body);
    expect(refusal).toMatchObject({ code: "unauthorized" });
  });

  function createKeyOfNobody(): Key {
    const stranger = authenticator();
    const user = { id: Buffer.from("usr_nobody").toString("base64url") };
    stranger.create({ challenge: "AA", rp: { id: "127.0.0.1" }, user });
    return stranger;
  }

  async function expectRefused(answer: { status: number; headers: Headers; body: unknown }) {
    expect(answer.status).toBe(401);
    expect(shape(answer.body)).toEqual(refusal);
    expect(answer.headers.get("set-cookie")).toBeNull();
  }

  test.each([
    ["another site", { origin: "https://evil.example" }],
    ["another relying party", { rpId: "evil.example" }],
    ["another challenge", { challenge: "AAAA" }],
    ["the answer of a registration", { type: "webauthn.create" }],
    ["nobody verified", { unverified: true }],
    ["another person's handle", { userHandle: Buffer.from("usr_other").toString("base64url") }],
    ["a counter that went back", { counter: 1 }],
  ])("for %s", async (_, deviation) => {
    expect((await signIn(key)).status).toBe(200);
    await expectRefused(await signIn(key, deviation));
  });

  test("for a signature by another key", async () => {
    const { challenge, options } = await signInOptions();
    const good = key.get(options);
    const { signature } = createKeyOfNobody().get(options).response;
    const response = { ...good, response: { ...good.response, signature } };
    await expectRefused(await ask("/auth/passkeys/verify", { challenge, response }, { as: null }));
  });

  test("for a challenge that was used, whether or not it worked", async () => {
    const { challenge, options } = await signInOptions();
    const wrong = key.get(options, { origin: "https://evil.example" });
    await expectRefused(await ask("/auth/passkeys/verify", { challenge, response: wrong }, { as: null }));
    await expectRefused(await ask("/auth/passkeys/verify", { challenge, response: key.get(options) }, { as: null }));
    const again = await signInOptions();
    const answer = { challenge: again.challenge, response: key.get(again.options) };
    expect((await ask("/auth/passkeys/verify", answer, { as: null })).status).toBe(200);
    await expectRefused(await ask("/auth/passkeys/verify", answer, { as: null }));
  });

  test("for a challenge that has expired or was made for a registration", async () => {
    const { challenge, options } = await signInOptions();
    const forRegistration = await registrationOptions();
    const request = { rpId: "127.0.0.1", challenge: forRegistration.options.challenge };
    const answer = { challenge: forRegistration.challenge, response: key.get(request) };
    await expectRefused(await ask("/auth/passkeys/verify", answer, { as: null }));
    clock.shift(5 * minute);
    await expectRefused(await ask("/auth/passkeys/verify", { challenge, response: key.get(options) }, { as: null }));
  });

  test("for anything else in place of the answer", async () => {
    const deep = { a: { b: { c: [] } } };
    for (const response of [{}, deep, { id: 1 }, { id: "x", rawId: "x", type: "public-key", response: {} }]) {
      const { challenge } = await signInOptions();
      await expectRefused(await ask("/auth/passkeys/verify", { challenge, response }, { as: null }));
    }
    const { challenge, options } = await signInOptions();
    const good = key.get(options);
    for (const member of ["clientDataJSON", "authenticatorData", "signature"] as const) {
      const response = { ...good, response: { ...good.response, [member]: "AAAA" } };
      await expectRefused(await ask("/auth/passkeys/verify", { challenge, response }, { as: null }));
    }
  });

  test("and by another site's page before anything is looked at", async () => {
    const headers = { origin: "https://evil.example" };
    const answer = await app.json("/auth/passkeys/options", { key: null, method: "POST", headers });
    expect(answer).toMatchObject({ status: 403, body: { code: "csrf-rejected" } });
  });
});

describe("a registration is refused", () => {
  test.each([
    ["from another site", { origin: "https://evil.example" }],
    ["for another relying party", { rpId: "evil.example" }],
    ["to another challenge", { challenge: "AAAA" }],
    ["when nobody was verified", { unverified: true }],
    ["with certificates, which would be looked up", { certificate: true }],
  ])("%s", async (_, deviation) => {
    const answer = await register(authenticator(), deviation);
    expect(answer).toMatchObject({ status: 422, body: { errors: [{ pointer: "#/response" }] } });
    expect(await notices()).toEqual([]);
  });

  test("with anything else in place of the answer", async () => {
    for (const response of [
      {},
      { id: [] },
      { id: "x", rawId: "x", type: "public-key", response: { attestationObject: "gA" } },
    ]) {
      const { challenge } = await registrationOptions();
      expect((await ask("/auth/passkeys/register/verify", { challenge, name: "x", response })).status).toBe(422);
    }
  });

  test("to a challenge of somebody else, or one that was used", async () => {
    const { challenge, options } = await registrationOptions();
    const key = authenticator();
    const input = { challenge, name: "Laptop", response: key.create(options) };
    const owner = await app.signIn();
    expect((await ask("/auth/passkeys/register/verify", input, { as: owner })).status).toBe(422);
    expect((await ask("/auth/passkeys/register/verify", input)).status).toBe(201);
    expect((await ask("/auth/passkeys/register/verify", input)).status).toBe(422);
  });

  test("twice for one passkey, also by another person", async () => {
    const key = authenticator();
    expect((await register(key)).status).toBe(201);
    expect(await register(key)).toMatchObject({ status: 409, body: { code: "conflict" } });
    cookie = await app.signIn();
    expect((await register(key)).status).toBe(409);
  });

  test("as the twenty-first", async () => {
    const { challenge, options } = await registrationOptions();
    for (let made = 0; made < 20; made += 1) expect((await register(authenticator())).status).toBe(201);
    expect((await ask("/auth/passkeys/register/options")).status).toBe(409);
    const input = { challenge, name: "One more", response: authenticator().create(options) };
    expect((await ask("/auth/passkeys/register/verify", input)).status).toBe(409);
  });
});

test("adding and removing need a sign-in of the last fifteen minutes, and one's own passkey", async () => {
  const key = authenticator();
  const { id } = Passkey.parse((await register(key)).body);
  const waiting = await registrationOptions();
  const stranger = await app.signIn();
  expect((await ask(`/auth/passkeys/${id}`, { name: "Mine" }, { method: "PATCH", as: stranger })).status).toBe(404);
  expect((await ask(`/auth/passkeys/${id}`, undefined, { method: "DELETE", as: stranger })).status).toBe(404);
  clock.shift(15 * minute);
  const fresh = { status: 403, body: { code: "fresh-sign-in-required" } };
  expect(await ask("/auth/passkeys/register/options")).toMatchObject(fresh);
  const response = authenticator().create(waiting.options);
  const input = { challenge: waiting.challenge, name: "Late", response };
  expect(await ask("/auth/passkeys/register/verify", input)).toMatchObject(fresh);
  expect(await ask(`/auth/passkeys/${id}`, undefined, { method: "DELETE" })).toMatchObject(fresh);
  expect((await ask(`/auth/passkeys/${id}`, { name: "Renamed" }, { method: "PATCH" })).status).toBe(200);
  for (const path of ["/auth/passkeys/register/options", "/auth/passkeys/register/verify"]) {
    expect((await ask(path, {}, { as: null })).status).toBe(401);
  }
});
