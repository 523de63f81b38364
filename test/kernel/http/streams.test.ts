import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { changesTopic, envelopeTopic } from "../../../server/features/envelopes/audit.ts";
import { endMembership, foundOrganization, joinOrganization } from "../../../server/features/identity/memberships.ts";
import { createPerson } from "../../../server/features/identity/people.ts";
import { createApiKey } from "../../../server/features/identity/service.ts";
import { revokeAccess, revokeKey } from "../../../server/features/sign-in/access.ts";
import { permissions } from "../../../server/kernel/wire.ts";
import { type CallOptions, startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { shiftingClock } from "../../harness/clock.ts";
import { publishTemplate, sentEnvelope, streamed } from "../../harness/envelopes.ts";
import { problemOf } from "../../harness/http.ts";
import { exchangeViewer, viewerToken } from "../../harness/viewers.ts";

const streamsPerCaller = 6;
const clock = shiftingClock();
let app: TestAppliance;
beforeAll(async () => {
  app = await startAppliance({ clock, env: { SIGNET_STREAMS_PER_CALLER: String(streamsPerCaller) } });
});
afterAll(() => app.stop());

const by = { actor: { type: "system" as const, id: null, name: null, email: null }, ip: null };
const person = { email: "leaver@example.com", name: "Leaver" };

/** A member here who owns an organization of their own as well. */
async function memberOfTwo() {
  const { deps, organization } = app;
  return await deps.db.tx(async (tx) => {
    const id = await createPerson(tx, deps, { ...person, passwordHash: null, locale: null });
    await joinOrganization(tx, deps, organization, { id, ...person }, "member", null);
    return { id, other: await foundOrganization(tx, deps, { name: "Own" }, id, by) };
  });
}

const switchTo = (cookie: string, organization: string) =>
  app.call("/auth/organization", { key: null, json: { organization }, headers: { cookie, origin: app.url } });

test("a stream ends when its session works elsewhere, and tells nothing of what comes after", async () => {
  const { id } = await sentEnvelope(app, await publishTemplate(app));
  const { id: user, other } = await memberOfTwo();
  const cookie = await app.signIn(user);
  expect((await switchTo(cookie, app.organization)).status).toBe(200);
  const opened = await Promise.all(
    ["/auth/changes", `/v1/envelopes/${id}/events/stream`].map((path) =>
      app.call(path, { key: null, headers: { cookie } }),
    ),
  );
  expect(opened.map(({ status }) => status)).toEqual([200, 200]);
  const told = opened.map(async (response) => {
    const events: unknown[] = [];
    for await (const event of streamed(response)) if ("data" in event) events.push(event.data);
    return events.join("\n");
  });
  expect((await switchTo(cookie, other)).status).toBe(200);
  await app.deps.db.tx((tx) =>
    endMembership(tx, app.deps, app.organization, { id: user, ...person, role: "member" }, "member.removed", by),
  );
  const voided = await app.json(`/v1/envelopes/${id}/void`, { json: { reason: "a secret reason" } });
  expect(voided.status).toBeLessThan(300);
  app.deps.events.publish(changesTopic);
  app.deps.events.publish(envelopeTopic(id));
  for (const text of await Promise.all(told)) expect(text).not.toContain("a secret reason");
});

test("an open stream does not count as use of its session", async () => {
  const cookie = await app.signIn();
  const gone = new AbortController();
  const { body } = await app.call("/auth/changes", { key: null, headers: { cookie }, signal: gone.signal });
  const reader = body?.getReader();
  await reader?.read();
  const lastSeen = async () => {
    const { last_seen_at } = await app.deps.db.read
      .selectFrom("sessions")
      .select("last_seen_at")
      .orderBy("signed_in_at", "desc")
      .executeTakeFirstOrThrow();
    return last_seen_at;
  };
  clock.shift(10 * 60_000);
  // Two looks: when the second change is told, the first one's look was over long ago.
  for (let change = 0; change < 2; change++) {
    await sentEnvelope(app, await publishTemplate(app));
    await reader?.read();
  }
  expect(Date.parse(await lastSeen())).toBeLessThan(clock.now() - 5 * 60_000);
  gone.abort();
});

test("so many streams of one key as the setting says, and no more until one is closed", async () => {
  const { id } = await sentEnvelope(app, await publishTemplate(app));
  const [bearer, other] = [await app.createKey("live"), await app.createKey("live")];
  // Held to the end: a response that is collected as garbage closes its stream, or can no longer be closed by a signal.
  const held: Response[] = [];
  const open = async (key: string) => {
    const response = await app.call(`/v1/envelopes/${id}/events/stream`, { key: { bearer: key } });
    held.push(response);
    return response;
  };
  for (let count = 0; count < streamsPerCaller; count++) expect((await open(bearer)).status).toBe(200);
  const refused = await open(bearer);
  expect(refused.headers.get("retry-after")).toBe("15");
  expect(problemOf({ status: refused.status, headers: refused.headers, body: await refused.json() })).toMatchObject({
    code: "rate-limited",
    status: 429,
  });
  expect((await open(other)).status).toBe(200);
  await held[0]?.body?.cancel();
  await expect.poll(async () => (await open(bearer)).status).toBe(200);
  await Promise.all(held.map(({ body, bodyUsed }) => (bodyUsed ? undefined : body?.cancel())));
});

describe("streams end within a second once their holder may not follow them", () => {
  let id = "";
  let owner: CallOptions = {};
  beforeAll(async () => {
    owner = { key: null, headers: { cookie: await app.signIn(), origin: app.url } };
    id = (await sentEnvelope(app, await publishTemplate(app), { viewers: [{ email: "viewer@example.org" }] })).id;
  });
  const trail = () => `/v1/envelopes/${id}/events/stream`;
  const post = (target: string, cookie: string) =>
    app.json(target, { method: "POST", key: null, headers: { cookie, origin: app.url } });

  /** Whoever holds a key or a session, what they follow, and what takes it from them. */
  type Case = () => Promise<{ streams: [string, CallOptions][]; end: () => Promise<unknown> }>;
  const madeKey = () =>
    createApiKey(app.deps, app.organization, by.actor, new Set(permissions), { name: "to go", mode: "live" });
  const withCookie = (cookie: string) => ({ key: null, headers: { cookie } });
  const member = async (email: string) => {
    const { deps, organization } = app;
    const someone = { email, name: "Mel" };
    const user = await deps.db.tx(async (tx) => {
      const made = await createPerson(tx, deps, { ...someone, passwordHash: null, locale: null });
      await joinOrganization(tx, deps, organization, { id: made, ...someone }, "member", null);
      return made;
    });
    const headers = withCookie(await app.signIn(user));
    return {
      user,
      headers,
      streams: [
        ["/auth/changes", headers],
        [trail(), headers],
      ] as [string, CallOptions][],
    };
  };
  const cases: [string, Case][] = [
    [
      "a key that is revoked",
      async () => {
        const { id: key, key: bearer } = await madeKey();
        return {
          streams: [[trail(), { key: { bearer } }]],
          end: () => app.json(`/v1/api-keys/${key}`, { ...owner, method: "DELETE" }),
        };
      },
    ],
    [
      "a key that an administrator of the machine revokes",
      async () => {
        const { id: key, key: bearer } = await madeKey();
        return { streams: [[trail(), { key: { bearer } }]], end: () => revokeKey(app.deps, by.actor, key) };
      },
    ],
    [
      "a session that signs out",
      async () => {
        const { streams, headers } = await member("out@example.com");
        return { streams, end: () => post("/auth/sign-out", headers.headers.cookie) };
      },
    ],
    [
      "a person whose sessions all end",
      async () => {
        const { streams } = await member("all@example.com");
        return {
          streams,
          end: () => revokeAccess(app.deps, by.actor, { email: "all@example.com", keys: false }),
        };
      },
    ],
    [
      "a member who is removed",
      async () => {
        const { user, streams } = await member("removed@example.com");
        return { streams, end: () => app.json(`/auth/organization/members/${user}`, { ...owner, method: "DELETE" }) };
      },
    ],
  ];
  test.each(cases)("%s", async (_, prepare) => {
    const { streams, end } = await prepare();
    const opened = await Promise.all(
      streams.map(async ([target, options]) => streamed(await app.call(target, options))),
    );
    // Each has begun and waits.
    await Promise.all(opened.map(async (events) => expect((await events.next()).value).toEqual({ retry: "3000" })));
    const ended = opened.map(async (events) => {
      for await (const event of events) expect(event.event).not.toBe("end");
      return performance.now();
    });
    const begun = performance.now();
    const answer = await end();
    if (answer instanceof Object && "status" in answer) expect(answer.status).toBeLessThan(300);
    for (const at of await Promise.all(ended)) expect(at - begun).toBeLessThan(1000);
  });

  test("a viewer who is taken away, with a word", async () => {
    const { accessToken, viewer } = await exchangeViewer(app, await viewerToken(app, "viewer@example.org"));
    const events = streamed(await app.call(`/v1/viewer/stream?access_token=${accessToken}`, { key: null }));
    expect((await events.next()).value).toEqual({ retry: "3000" });
    const begun = performance.now();
    await app.json(`/v1/envelopes/${id}/viewers/${viewer}`, { method: "DELETE" });
    expect((await events.next()).value).toEqual({ event: "expired", data: "{}" });
    expect((await events.next()).done).toBe(true);
    expect(performance.now() - begun).toBeLessThan(1000);
  });
});
