import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { endpoints } from "../../server/contract.ts";
import { joinOrganization } from "../../server/features/identity/memberships.ts";
import { createPerson } from "../../server/features/identity/people.ts";
import { endSession } from "../../server/features/identity/session-store.ts";
import type { EndpointSpec } from "../../server/kernel/endpoint.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { shiftingClock } from "../harness/clock.ts";

/** Whoever is let in and then sends the body slowly must still be allowed when it has arrived: every operation that takes one. */

const clock = shiftingClock();
let app: TestAppliance;
let owner: string;
beforeAll(async () => {
  app = await startAppliance({ clock });
  owner = await app.signIn();
});
afterAll(() => app.stop());

const examples: Record<string, string> = { version: "latest", provider: "google" };
const pathOf = ({ path }: EndpointSpec) =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => examples[name] ?? "tpl_000000000000000000000009");

function typeOf({ body }: EndpointSpec): string {
  if (body?.kind === "raw") return Object.keys(body.types)[0] ?? "";
  return body?.kind === "multipart" ? "multipart/form-data; boundary=x" : "application/json";
}

let people = 0;
async function admin(): Promise<{ user: string; cookie: string }> {
  people += 1;
  const email = `late${people}@example.com`;
  const user = await app.deps.db.tx(async (tx) => {
    const id = await createPerson(tx, app.deps, { email, name: email, passwordHash: null, locale: null });
    await joinOrganization(tx, app.deps, app.organization, { id, email, name: email }, "admin", null);
    return id;
  });
  return { user, cookie: await app.signIn(user) };
}

async function sessionOf(user: string) {
  return await app.deps.db.read
    .selectFrom("sessions")
    .selectAll()
    .where("user", "=", user)
    .orderBy("signed_in_at", "desc")
    .executeTakeFirstOrThrow();
}

/** Sends everything but the end of the body. @returns a function that sends the rest and tells the status */
function begin(endpoint: EndpointSpec, headers: Record<string, string>, body = "{ }"): () => Promise<number> {
  const { hostname, port, host, origin } = new URL(app.url);
  const socket: Socket = connect(Number(port), hostname);
  let answer = "";
  socket.on("data", (chunk) => {
    answer += chunk.toString("latin1");
  });
  const ended = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  const lines = {
    host,
    origin,
    connection: "close",
    "content-type": typeOf(endpoint),
    "content-length": String(body.length),
    ...headers,
  };
  const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`${endpoint.method} ${pathOf(endpoint)} HTTP/1.1\r\n${head.join("")}\r\n${body.slice(0, 1)}`);
  return async () => {
    socket.write(body.slice(1));
    await ended;
    return Number(answer.split(" ")[1]);
  };
}

/** A session is touched when its call is let in. */
async function admitted(user: string): Promise<void> {
  const since = clock.ts();
  await expect.poll(async () => (await sessionOf(user)).last_seen_at >= since, { interval: 2 }).toBe(true);
}

async function beginAs(endpoint: EndpointSpec, body?: string) {
  const { user, cookie } = await admin();
  clock.shift(1000);
  const seen = admitted(user);
  const finish = begin(endpoint, { cookie }, body);
  await seen;
  return { user, cookie, finish };
}

const taking = (...credentials: EndpointSpec["credential"][]) =>
  endpoints
    .filter(({ method, credential }) => method !== "GET" && credentials.includes(credential))
    .map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const);

describe.each(taking("key", "dashboard"))("%s", (_name, endpoint) => {
  it("refuses who was removed while the body was on its way", async () => {
    const { user, finish } = await beginAs(endpoint);
    const path = `/auth/organization/members/${user}`;
    const headers = { cookie: owner, origin: app.url };
    expect((await app.call(path, { key: null, method: "DELETE", headers })).status).toBe(204);
    expect(await finish()).toBe(403);
  });
});

describe.each(taking("key", "dashboard", "person"))("%s", (_name, endpoint) => {
  it("refuses who was signed out while the body was on its way", async () => {
    const { user, finish } = await beginAs(endpoint);
    const { id } = await sessionOf(user);
    await app.deps.db.tx((tx) => endSession(tx, user, id, clock.ts()));
    expect(await finish()).toBe(401);
  });
});

it("a key that was revoked while the body was on its way does nothing more", async () => {
  const endpoint = endpoints.find(({ id }) => id === "createEnvelope");
  if (!endpoint) throw new Error("there is no createEnvelope");
  const bearer = await app.createKey("test");
  const [row] = await app.deps.db.read.selectFrom("api_keys").selectAll().orderBy("created_at", "desc").execute();
  const id = row?.id ?? "";
  const finish = begin(endpoint, { authorization: `Bearer ${bearer}` });
  const used = () => app.deps.db.read.selectFrom("api_keys").selectAll().where("id", "=", id).executeTakeFirst();
  await expect.poll(async () => (await used())?.last_used_at ?? null, { interval: 2 }).not.toBeNull();
  const headers = { cookie: owner, origin: app.url };
  expect((await app.call(`/v1/api-keys/${id}`, { key: null, method: "DELETE", headers })).status).toBe(204);
  expect(await finish()).toBe(401);
});

it("an administrator who became a member meanwhile does not act with what they held", async () => {
  const endpoint = endpoints.find(({ id }) => id === "createApiKey");
  if (!endpoint) throw new Error("there is no createApiKey");
  const { user, finish } = await beginAs(endpoint, '{"name":"back door","mode":"live","scopes":["org:manage"]}');
  const headers = { cookie: owner, origin: app.url };
  const json = { role: "member" };
  const changed = await app.call(`/auth/organization/members/${user}`, { key: null, method: "PATCH", json, headers });
  expect(changed.status).toBe(200);
  expect(await finish()).toBe(403);
});
