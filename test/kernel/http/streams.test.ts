import { afterAll, beforeAll, expect, test } from "vitest";
import { changesTopic, envelopeTopic } from "../../../server/features/envelopes/audit.ts";
import { endMembership, foundOrganization, joinOrganization } from "../../../server/features/identity/memberships.ts";
import { createPerson } from "../../../server/features/identity/people.ts";
import { mostStreams } from "../../../server/kernel/streams.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { shiftingClock } from "../../harness/clock.ts";
import { publishTemplate, sentEnvelope, streamed } from "../../harness/envelopes.ts";
import { problemOf } from "../../harness/http.ts";

const clock = shiftingClock();
let app: TestAppliance;
beforeAll(async () => {
  app = await startAppliance({ clock });
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

test("so many streams of one session, and no more until one is closed", async () => {
  const cookie = await app.signIn();
  const other = await app.signIn();
  // Held to the end: a response that is collected as garbage closes its stream, or can no longer be closed by a signal.
  const held: Response[] = [];
  const open = async (as: string) => {
    const response = await app.call("/auth/changes", { key: null, headers: { cookie: as } });
    held.push(response);
    return response;
  };
  for (let count = 0; count < mostStreams; count++) expect((await open(cookie)).status).toBe(200);
  const refused = await open(cookie);
  expect(problemOf({ status: refused.status, headers: refused.headers, body: await refused.json() })).toMatchObject({
    code: "rate-limited",
  });
  expect((await open(other)).status).toBe(200);
  await held[0]?.body?.cancel();
  await expect.poll(async () => (await open(cookie)).status).toBe(200);
  await Promise.all(held.map(({ body, bodyUsed }) => (bodyUsed ? undefined : body?.cancel())));
});
