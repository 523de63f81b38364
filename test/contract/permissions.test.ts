import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { endpoints } from "../../server/contract.ts";
import type { OrgRole } from "../../server/features/identity/contract.ts";
import { endSession } from "../../server/features/identity/session-store.ts";
import { idleMs, sessionCookieName, startSession } from "../../server/features/identity/sessions.ts";
import { insertMembership, insertUser } from "../../server/features/identity/store.ts";
import { type EndpointSpec, needsOrigin } from "../../server/kernel/endpoint.ts";
import { newId, newSecret } from "../../server/kernel/ids.ts";
import { type Permission, permissions } from "../../server/kernel/wire.ts";
import { type CallOptions, startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { shiftingClock } from "../harness/clock.ts";
import { problemOf } from "../harness/http.ts";

/**
 * Who may call what: permission × operation × role × credential, made from the endpoint table with nothing left out. Every
 * operation of organizations and people is called by everybody, over HTTP, and refuses whom it must.
 */

const roles: readonly OrgRole[] = ["owner", "admin", "member"];
/** Contract §9, written down here a second time: the six about templates and envelopes; the others are for owners and administrators. */
const ofMembers: readonly (Permission | undefined)[] = [
  "template:read",
  "template:write",
  "template:publish",
  "envelope:read",
  "envelope:send",
  "envelope:void",
  undefined,
];
const clock = shiftingClock();
let appliance: TestAppliance;
let origin: string;
/** Keys that hold every permission but one. */
const keysWithout = new Map<string, string>();
beforeAll(async () => {
  appliance = await startAppliance({ clock });
  origin = new URL(appliance.url).origin;
  for (const permission of permissions) {
    const others = permissions.filter((other) => other !== permission);
    keysWithout.set(permission, await appliance.createKey("live", others));
  }
});
afterAll(() => appliance.stop());

const examples: Record<string, string> = { version: "latest", provider: "google" };
const pathOf = ({ path }: EndpointSpec) =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => examples[name] ?? "tpl_000000000000000000000009");

function plainCall({ method, body }: EndpointSpec): CallOptions {
  if (body?.kind === "json") return { method, json: {} };
  if (body?.kind === "raw") return { method, body: "x", headers: { "content-type": Object.keys(body.types)[0] ?? "" } };
  if (body?.kind === "multipart") return { method, body: new FormData() };
  return { method };
}

/** A person of their own for every call, so that no operation spoils the next: with a role, or in no organization. */
async function person(role: OrgRole | null): Promise<{ user: string; session: string; cookie: string }> {
  const { deps, organization } = appliance;
  const user = newId("usr");
  const email = `${user}@example.com`;
  const now = deps.clock.ts();
  return await deps.db.tx(async (tx) => {
    await insertUser(tx, {
      id: user,
      email,
      email_lower: email.toLowerCase(),
      name: "P",
      password_hash: null,
      locale: null,
      starting_organization: null,
      created_at: now,
    });
    if (role !== null) await insertMembership(tx, { organization, user, role, created_at: now });
    const request = { ip: "127.0.0.1", userAgent: null, header: () => null };
    const { id, secret } = await startSession(tx, deps, user, "password", request);
    return { user, session: id, cookie: `${sessionCookieName}=${secret}` };
  });
}

type Answer = { status: number; code: string | null; permission: string | null };

async function ask(endpoint: EndpointSpec, options: CallOptions): Promise<Answer> {
  const call = plainCall(endpoint);
  const headers = { ...call.headers, ...options.headers };
  const response = await appliance.call(pathOf(endpoint), { ...call, key: null, ...options, headers });
  const isProblem = response.headers.get("content-type")?.startsWith("application/problem+json") === true;
  if (!isProblem) {
    await response.body?.cancel();
    return { status: response.status, code: null, permission: null };
  }
  const problem = problemOf({ status: response.status, headers: response.headers, body: await response.json() });
  return { status: response.status, code: problem.code, permission: problem.permission ?? null };
}

const byCookie = (cookie: string, from: string | null = origin): CallOptions => ({
  headers: { cookie, ...(from === null ? {} : { origin: from }) },
});

const refusedAtTheDoor = new Set(["unauthorized", "csrf-rejected"]);
/** Let in: whatever else the operation says of an empty body or an unknown id. */
function expectAdmitted({ status, code, permission }: Answer): void {
  expect(refusedAtTheDoor.has(code ?? ""), `${status} ${code}`).toBe(false);
  expect(permission).toBeNull();
  expect(status).not.toBe(405);
  expect(status).toBeLessThan(500);
}
const unauthorized = { status: 401, code: "unauthorized", permission: null };
const csrf = { status: 403, code: "csrf-rejected", permission: null };

const named = (credential: EndpointSpec["credential"]) =>
  endpoints
    .filter((endpoint) => endpoint.credential === credential)
    .map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const);
const ofOrganization = [...named("key"), ...named("dashboard")];
const ofPerson = named("person");

it("every operation of organizations names its permission, but for what any member may do", () => {
  const free = ofOrganization.filter(([, { permission }]) => permission === undefined).map(([name]) => name);
  // Each tool of an assistant asks for its own.
  expect(free).toEqual(["POST /mcp", "POST /auth/organization/leave"]);
  expect(ofOrganization.length).toBeGreaterThan(40);
  expect(ofPerson.length).toBeGreaterThan(15);
});

describe.each([...ofOrganization, ...ofPerson])("%s", (_name, endpoint) => {
  it("refuses who is nobody, or nobody any more, all alike", async () => {
    expect(await ask(endpoint, { headers: { origin } })).toEqual(unauthorized);
    for (const value of ["", "x", newSecret("svcu"), newSecret("svcs"), newSecret("svc_live")])
      expect(await ask(endpoint, byCookie(`${sessionCookieName}=${value}`)), value).toEqual(unauthorized);
    for (const prefix of ["svcs", "svca", "svcv", "svcva", "svcd", "svcu"] as const) {
      const bearer = newSecret(prefix);
      expect(await ask(endpoint, { key: { bearer }, headers: { origin } }), prefix).toEqual(unauthorized);
    }
    const { user, session, cookie } = await person("owner");
    // Another name for the cookie is another cookie.
    expect(await ask(endpoint, byCookie(cookie.replace("__Host-", "")))).toEqual(unauthorized);
    await appliance.deps.db.tx((tx) => endSession(tx, user, session, appliance.deps.clock.ts()));
    expect(await ask(endpoint, byCookie(cookie))).toEqual(unauthorized);
  });

  it("takes a cookie from pages of our own only", async () => {
    const { cookie } = await person("owner");
    for (const from of ["https://evil.example", "null", `${origin}.evil.example`, origin.replace("http", "https")])
      expect(await ask(endpoint, byCookie(cookie, from)), from).toEqual(csrf);
    if (needsOrigin(endpoint)) expect(await ask(endpoint, byCookie(cookie, null))).toEqual(csrf);
  });
});

describe.each(ofOrganization)("%s", (_name, endpoint) => {
  const { permission, credential } = endpoint;

  it.each(roles)("asks a session of role %s for its permission", async (role) => {
    const answer = await ask(endpoint, byCookie((await person(role)).cookie));
    if (role !== "member" || ofMembers.includes(permission)) return expectAdmitted(answer);
    expect(answer).toEqual({ status: 403, code: "forbidden", permission });
  });

  it("refuses a person who belongs to no organization", async () => {
    const answer = await ask(endpoint, byCookie((await person(null)).cookie));
    expect(answer).toEqual({ status: 403, code: "forbidden", permission: null });
  });

  it("asks API keys of both modes for its permission, or refuses all of them", async () => {
    const without = { bearer: keysWithout.get(permission ?? "") ?? appliance.keys.live };
    if (credential === "dashboard") {
      for (const key of ["live", "test", without] as const)
        expect(await ask(endpoint, { key, headers: { origin } })).toMatchObject({ status: 403, code: "forbidden" });
      return;
    }
    for (const key of ["live", "test"] as const) expectAdmitted(await ask(endpoint, { key }));
    if (permission === undefined) return;
    expect(await ask(endpoint, { key: without })).toEqual({ status: 403, code: "forbidden", permission });
    // A key that is sent beside a cookie is the one that counts.
    const owner = await person("owner");
    const both = await ask(endpoint, { key: without, headers: { cookie: owner.cookie, origin } });
    expect(both).toEqual({ status: 403, code: "forbidden", permission });
  });
});

describe.each(ofPerson)("%s", (_name, endpoint) => {
  it("lets every person in, whatever their role, and no API key", async () => {
    for (const role of [...roles, null]) expectAdmitted(await ask(endpoint, byCookie((await person(role)).cookie)));
    for (const key of ["live", "test"] as const)
      expect(await ask(endpoint, { key, headers: { origin } })).toMatchObject({ status: 403, code: "forbidden" });
  });
});

it("a session ends after seven idle days and after thirty in all, and lives on while it is used", async () => {
  const session = endpoints.find(({ id }) => id === "getSession");
  if (!session) throw new Error("there is no getSession");
  const day = 24 * 60 * 60 * 1000;
  const idle = await person("member");
  const used = await person("member");
  for (let days = 0; days < 24; days += 6) {
    clock.shift(6 * day);
    expectAdmitted(await ask(session, byCookie(used.cookie)));
    await expect
      .poll(async () => {
        const row = await appliance.deps.db.read
          .selectFrom("sessions")
          .select("last_seen_at")
          .where("id", "=", used.session)
          .executeTakeFirstOrThrow();
        return appliance.deps.clock.now() - Date.parse(row.last_seen_at);
      })
      .toBeLessThan(60_000);
  }
  expect(await ask(session, byCookie(idle.cookie))).toEqual(unauthorized);
  clock.shift(6 * day + 1000);
  expect(await ask(session, byCookie(used.cookie))).toEqual(unauthorized);
  expect(idleMs).toBe(7 * day);
});
