import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createPerson, personByEmail } from "../../../server/features/identity/people.ts";
import { sessionCookieName } from "../../../server/features/identity/sessions.ts";
import { readClaims } from "../../../server/features/sign-in/social/claims.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { shiftingClock } from "../../harness/clock.ts";
import { type IdentityProvider, startIdentityProvider } from "../../harness/identity-provider.ts";

const minute = 60_000;
const clock = shiftingClock();
let idp: IdentityProvider;
let app: TestAppliance;
/** A subject and an address that no other test has. */
let sub: string;
let email: string;
let count = 0;

beforeAll(async () => {
  idp = await startIdentityProvider();
  app = await startAppliance({
    clock,
    env: { ...idp.env("google"), SIGNET_SIGN_UP: "domains", SIGNET_SIGN_UP_DOMAINS: "welcome.example" },
  });
  idp.serve(app.url);
});
afterAll(async () => {
  await app.stop();
  await idp.stop();
});
beforeEach(() => {
  count += 1;
  // The next window of the rate limits.
  clock.shift(2 * minute);
  sub = `subject-${count}`;
  email = `person${count}@example.com`;
  idp.account = { sub, email, email_verified: true, name: "Pia Person" };
  idp.agrees = true;
});

/** A browser as far as this needs one: cookies by origin, redirects followed one by one. */
class Browser {
  readonly #cookies = new Map<string, Map<string, string>>();

  jar(origin = app.url): Map<string, string> {
    const jar = this.#cookies.get(origin) ?? new Map<string, string>();
    this.#cookies.set(origin, jar);
    return jar;
  }

  /** One request. @returns where it leads, or null when it leads nowhere */
  async step(url: string, headers: Record<string, string> = {}): Promise<{ status: number; next: string | null }> {
    const jar = this.jar(new URL(url).origin);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const answer = await fetch(url, { redirect: "manual", headers: { ...headers, cookie } });
    await answer.arrayBuffer();
    for (const line of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/Max-Age=0|expires=Thu, 01 Jan 1970/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    const location = answer.headers.get("location");
    return { status: answer.status, next: location === null ? null : new URL(location, url).href };
  }

  /** Begins a sign-in. @returns the address of the provider */
  async start(query = "", provider = "google"): Promise<string> {
    const { status, next } = await this.step(`${app.url}/auth/social/${provider}/start${query}`, fromOurPage);
    expect(status).toBe(302);
    return next ?? "";
  }

  /** Goes through the provider. @returns the address of the callback, not called yet */
  async through(url: string): Promise<string> {
    let at = url;
    for (let hops = 0; hops < 10 && !at.startsWith(app.url); hops += 1) at = (await this.step(at)).next ?? "";
    expect(at.startsWith(`${app.url}/auth/social/`)).toBe(true);
    return at;
  }

  /** @returns where the dashboard sends the browser in the end, as a path */
  async finish(callback: string): Promise<string> {
    const { status, next } = await this.step(callback);
    expect(status).toBe(302);
    expect(new URL(next ?? "").origin).toBe(app.url);
    return (next ?? "").slice(app.url.length);
  }

  async signIn(query = ""): Promise<string> {
    return await this.finish(await this.through(await this.start(query)));
  }

  /** Calls as a page of ours does. */
  async ask(path: string, method = "GET") {
    const cookie = [...this.jar()].map(([name, value]) => `${name}=${value}`).join("; ");
    return await app.json(path, { key: null, method, headers: { cookie, origin: app.url } });
  }

  async whoIsSignedIn(): Promise<unknown> {
    const { status, body } = await this.ask("/auth/session");
    return status === 200 ? body : null;
  }
}

const fromOurPage = { "sec-fetch-site": "same-origin" };

async function person(address = email): Promise<string> {
  const input = { email: address, name: "Pia Person", passwordHash: null, locale: null };
  return await app.deps.db.tx((tx) => createPerson(tx, app.deps, input));
}

async function signedIn(user: string): Promise<Browser> {
  const browser = new Browser();
  browser.jar().set(sessionCookieName, (await app.signIn(user)).slice(sessionCookieName.length + 1));
  return browser;
}

async function notices(address = email): Promise<number> {
  return (await app.mail()).filter(({ to, kind }) => to.email === address && kind === "security_notice").length;
}

const signInPage = (problem: string) => `/sign-in?problem=${problem}`;
const accountPage = (problem: string) => `/settings/account?problem=${problem}`;

describe("sign-in", () => {
  test("an existing account is found by its verified address, later by the identity alone", async () => {
    const user = await person();
    const browser = new Browser();
    expect(await browser.signIn()).toBe("/");
    expect(await browser.whoIsSignedIn()).toMatchObject({ user: { id: user }, session: { method: "google" } });
    expect(await notices()).toBe(1);
    idp.account = { sub, email: "elsewhere@example.com", email_verified: false };
    const later = new Browser();
    expect(await later.signIn("?returnTo=/envelopes")).toBe("/envelopes");
    expect(await later.whoIsSignedIn()).toMatchObject({ user: { id: user, email } });
    expect(await notices()).toBe(1);
  });

  test("an address that may sign up gets an account, another does not", async () => {
    expect(await new Browser().signIn()).toBe(signInPage("social-no-account"));
    expect(await personByEmail(app.deps.db.read, email)).toBeUndefined();
    const welcome = `pia${count}@welcome.example`;
    idp.account = { sub, email: welcome, email_verified: true, name: "Pia Person" };
    const browser = new Browser();
    expect(await browser.signIn()).toBe("/");
    expect(await browser.whoIsSignedIn()).toMatchObject({
      user: { email: welcome, name: "Pia Person", hasPassword: false },
      organization: null,
    });
    expect(await notices(welcome)).toBe(0);
  });

  test("an invited person gets an account by it", async () => {
    const cookie = await app.signIn();
    const headers = { cookie, origin: app.url };
    const invited = await app.json("/auth/organization/invitations", {
      key: null,
      headers,
      json: { email, role: "admin" },
    });
    expect(invited.status).toBe(201);
    const browser = new Browser();
    expect(await browser.signIn()).toBe("/");
    // The invitation lets them have an account; they are put into no organization unasked.
    expect(await browser.whoIsSignedIn()).toMatchObject({ organization: null, organizations: [] });
  });

  test.each([
    ["said not to be verified", { email_verified: false }],
    ["not said to be verified", {}],
  ])("an address that is %s opens nothing", async (_, claims) => {
    await person();
    idp.account = { sub, email, ...claims };
    const browser = new Browser();
    expect(await browser.signIn()).toBe(signInPage("social-unverified"));
    expect(await browser.whoIsSignedIn()).toBeNull();
  });

  test("whoever says no at the provider is told so", async () => {
    idp.agrees = false;
    expect(await new Browser().signIn()).toBe(signInPage("social-cancelled"));
  });

  test("a provider that is not set up does not exist", async () => {
    for (const step of ["start", "callback"]) {
      expect((await app.call(`/auth/social/microsoft/${step}`, { key: null })).status).toBe(404);
      expect((await app.call(`/auth/social/example/${step}`, { key: null })).status).toBe(404);
    }
  });

  test.each([
    "https://evil.example",
    "//evil.example",
    "/€",
    "/\u0001",
    "/\\evil.example",
    "/%5cevil.example/../..//x y",
    "envelopes",
  ])("never leads to another site: %s", async (returnTo) => {
    await person();
    const after = await new Browser().signIn(`?returnTo=${encodeURIComponent(returnTo)}`);
    expect(after).toBe("/");
  });
});

describe("the way back works once, in the browser that began", () => {
  test("not a second time", async () => {
    await person();
    const browser = new Browser();
    const callback = await browser.through(await browser.start());
    const cookie = browser.jar().get("__Host-svc_social") ?? "";
    expect(await browser.finish(callback)).toBe("/");
    browser.jar().set("__Host-svc_social", cookie);
    browser.jar().delete(sessionCookieName);
    expect(await browser.finish(callback)).toBe(signInPage("social-failed"));
    expect(await browser.whoIsSignedIn()).toBeNull();
  });

  test("not in another browser, and then not in the first either", async () => {
    await person();
    const browser = new Browser();
    const callback = await browser.through(await browser.start());
    const victim = new Browser();
    expect(await victim.finish(callback)).toBe(signInPage("social-failed"));
    expect(await victim.whoIsSignedIn()).toBeNull();
    expect(await browser.finish(callback)).toBe(signInPage("social-failed"));
  });

  test("not after ten minutes", async () => {
    await person();
    const browser = new Browser();
    const callback = await browser.through(await browser.start());
    clock.shift(10 * minute);
    expect(await browser.finish(callback)).toBe(signInPage("social-failed"));
  });

  test.each([
    ["another state", "state", "x"],
    ["another issuer", "iss", "https://evil.example"],
    ["another code", "code", "x"],
    ["no code", "code", ""],
  ])("not with %s", async (_, name, value) => {
    await person();
    const browser = new Browser();
    const callback = new URL(await browser.through(await browser.start()));
    callback.searchParams.set(name, value);
    expect(await browser.finish(callback.href)).toBe(signInPage("social-failed"));
    expect(await browser.whoIsSignedIn()).toBeNull();
  });

  test("not with parameters given twice, or none", async () => {
    const browser = new Browser();
    const callback = await browser.through(await browser.start());
    expect(await browser.finish(`${callback}&code=x`)).toBe(signInPage("social-failed"));
    expect(await browser.finish(`${app.url}/auth/social/google/callback`)).toBe(signInPage("social-failed"));
  });

  test.each([
    ["nonce", "another"],
    ["code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"],
  ])("not when the %s on the way out was another", async (name, value) => {
    await person();
    const browser = new Browser();
    const out = new URL(await browser.start());
    expect(out.searchParams.get("code_challenge_method")).toBe("S256");
    out.searchParams.set(name, value);
    expect(await browser.finish(await browser.through(out.href))).toBe(signInPage("social-failed"));
  });

  test("its cookie belongs to this host and to no script", async () => {
    const answer = await app.call("/auth/social/google/start", { key: null });
    expect(answer.headers.get("set-cookie")).toMatch(
      /^__Host-svc_social=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax; Max-Age=600$/,
    );
  });
});

describe("connecting", () => {
  test("whoever has just signed in connects an account with any address, sees it and disconnects it", async () => {
    const browser = await signedIn(await person());
    idp.account = { sub, email: "private@elsewhere.example", email_verified: false };
    expect(await browser.signIn()).toBe("/settings/account");
    const listed = await browser.ask("/auth/social");
    expect(listed.body).toMatchObject({ data: [{ provider: "google", email: "private@elsewhere.example" }] });
    expect(await notices()).toBe(1);
    expect(await new Browser().signIn()).toBe("/");
    expect((await browser.ask("/auth/social/google", "DELETE")).status).toBe(204);
    expect((await browser.ask("/auth/social/google", "DELETE")).status).toBe(404);
    expect(await notices()).toBe(2);
    expect(await new Browser().signIn()).toBe(signInPage("social-unverified"));
  });

  test("an account that signs another person in stays theirs", async () => {
    await person();
    expect(await new Browser().signIn()).toBe("/");
    const other = await signedIn(await person(`other-${email}`));
    expect(await other.signIn()).toBe(accountPage("social-taken"));
    expect((await other.ask("/auth/social")).body).toMatchObject({ data: [] });
  });

  test("a link on another site connects nothing", async () => {
    const browser = await signedIn(await person());
    idp.account = { sub, email: "attacker@elsewhere.example", email_verified: true };
    const headers = { "sec-fetch-site": "cross-site" };
    const { next } = await browser.step(`${app.url}/auth/social/google/start`, headers);
    expect(await browser.finish(await browser.through(next ?? ""))).toBe(signInPage("social-no-account"));
    expect((await browser.ask("/auth/social")).body).toMatchObject({ data: [] });
  });

  test("not without the session it began with, nor with an old one", async () => {
    const user = await person();
    const browser = await signedIn(user);
    idp.account = { sub, email: "private@elsewhere.example", email_verified: false };
    const callback = await browser.through(await browser.start());
    browser.jar().delete(sessionCookieName);
    expect(await browser.finish(callback)).toBe(accountPage("social-failed"));

    const late = await signedIn(user);
    clock.shift(8 * minute);
    const begun = await late.through(await late.start());
    clock.shift(8 * minute);
    expect(await late.finish(begun)).toBe(accountPage("social-stale"));
    expect(await late.start()).toBe(app.url + accountPage("social-stale"));
    expect((await late.ask("/auth/social")).body).toMatchObject({ data: [] });
    expect((await late.ask("/auth/social/google", "DELETE")).body).toMatchObject({ code: "fresh-sign-in-required" });
  });
});

describe("what a provider says of an address", () => {
  const token = { iss: "https://idp.example", sub: "1", email: "ada@example.com" };
  const shared = "https://login.microsoftonline.com/{tenantid}/v2.0";
  test.each([
    ["google", "https://accounts.google.com", { email_verified: true, email: "a@example.com" }, false],
    [
      "google",
      "https://accounts.google.com",
      { email_verified: true, email: "a@example.com", hd: "elsewhere.example" },
      false,
    ],
    [
      "google",
      "https://accounts.google.com",
      { email_verified: true, email: "a@hosted.example", hd: "Hosted.example" },
      true,
    ],
    ["google", "https://accounts.google.com", { email_verified: true, email: "a@gmail.com" }, true],
    ["google", "https://accounts.google.com", { email_verified: true, email: "a@GoogleMail.com" }, true],
    ["google", "https://id.example", { email_verified: true }, true],
    ["google", "https://accounts.google.com", { email_verified: "true" }, false],
    ["google", "https://accounts.google.com", { xms_edov: true }, false],
    ["microsoft", shared, {}, false],
    ["microsoft", shared, { email_verified: true }, false],
    ["microsoft", shared, { xms_edov: true }, true],
    ["microsoft", shared, { xms_edov: "1" }, true],
    ["microsoft", shared, { xms_edov: false }, false],
    ["microsoft", "https://login.microsoftonline.com/tenant/v2.0", { email_verified: true }, true],
  ] as const)("%s %s %j", (provider, issuer, claims, verified) => {
    expect(readClaims(provider, issuer, { ...token, ...claims }).emailVerified).toBe(verified);
  });
});

test("an ID token that the provider has not signed signs nobody in", async () => {
  await person("forged@example.com");
  idp.account = { sub: "forged", email: "forged@example.com", email_verified: true };
  const browser = new Browser();
  idp.isForged = true;
  try {
    expect(await browser.signIn()).toBe(signInPage("social-failed"));
  } finally {
    idp.isForged = false;
  }
  expect(await browser.whoIsSignedIn()).toBeNull();
  expect(await browser.signIn()).toBe("/");
});

describe("a provider out of reach", () => {
  test("is no dead end: on the way out, and on the way back", async () => {
    const other = await startIdentityProvider();
    const appliance = await startAppliance({ clock, env: other.env("microsoft") });
    const start = () => appliance.call("/auth/social/microsoft/start", { key: null });
    const unavailable = `${appliance.url}/sign-in?problem=provider-unavailable`;
    // It answers, but not as a provider.
    const waiting = await Promise.all([start(), start(), start()]);
    for (const { status, headers } of waiting) expect([status, headers.get("location")]).toEqual([302, unavailable]);
    other.serve(appliance.url);
    const out = await start();
    const to = new URL(out.headers.get("location") ?? "");
    expect(to.origin).toBe(other.issuer);
    await other.stop();
    const callback = new URL(`${appliance.url}/auth/social/microsoft/callback`);
    callback.searchParams.set("state", to.searchParams.get("state") ?? "");
    callback.searchParams.set("code", "x");
    callback.searchParams.set("iss", other.issuer);
    const cookie = (out.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    const back = await appliance.call(callback.pathname + callback.search, { key: null, headers: { cookie } });
    expect(back.headers.get("location")).toBe(unavailable);
    clock.shift(60 * minute);
    expect((await start()).headers.get("location")).toBe(unavailable);
    await appliance.stop();
  });

  test("the address guard holds: loopback is called only by the operator's leave", async () => {
    const env = { ...idp.env("google"), SIGNET_OUTBOUND_ALLOW: "" };
    const appliance = await startAppliance({ clock, env });
    const answer = await appliance.call("/auth/social/google/start", { key: null });
    expect(answer.headers.get("location")).toBe(`${appliance.url}/sign-in?problem=provider-unavailable`);
    await appliance.stop();
  });
});
