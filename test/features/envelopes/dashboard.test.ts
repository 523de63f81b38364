import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { EnvelopeChange, TestMail } from "../../../server/features/envelopes/dashboard-contract.ts";
import { createApiKey, createOrganization, revokeApiKey } from "../../../server/features/identity/service.ts";
import { permissions } from "../../../server/kernel/wire.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { createEnvelope, publishTemplate, sentEnvelope, streamed } from "../../harness/envelopes.ts";

let app: TestAppliance;
let template: string;
let headers: Record<string, string>;
let stranger: Record<string, string>;

beforeAll(async () => {
  app = await startAppliance();
  template = await publishTemplate(app);
  headers = { cookie: await app.signIn() };
  const other = await createOrganization(app.deps, {
    name: "Other Ltd",
    owner: { email: "other@example.com", name: "Otto Other", password: null },
  });
  stranger = { cookie: await app.signIn(other.user) };
});
afterAll(async () => app.stop());

const actor = { type: "user" as const, id: "usr_x", name: "Olive", email: "owner@example.com" };
const voidIt = (id: string) => app.json(`/v1/envelopes/${id}/void`, { json: { reason: "A mistake" } });

describe("the stream of changes", () => {
  async function follow(cookie: Record<string, string>, signal?: AbortSignal) {
    const response = await app.call("/auth/changes", { key: null, headers: cookie, ...(signal ? { signal } : {}) });
    expect(response.status).toBe(200);
    const events = streamed(response);
    expect((await events.next()).value).toEqual({ retry: "3000" });
    return events;
  }
  const idOf = (event: Record<string, string> | undefined) => {
    expect(event?.event).toBe("envelope");
    return EnvelopeChange.parse(JSON.parse(event?.data ?? "")).id;
  };

  test("names each envelope of the organization that changes, of both modes, and no other", async () => {
    const [live, quiet] = [await sentEnvelope(app, template), await sentEnvelope(app, template)];
    const events = await follow(headers);
    const end = new AbortController();
    const others = await follow(stranger, end.signal);
    const heard = others.next().then(
      () => "something",
      () => "nothing",
    );
    const test = await createEnvelope(app, template, {}, { key: "test" });
    const seen = new Set<string>([idOf((await events.next()).value)]);
    await voidIt(live.id);
    while (!seen.has(live.id)) seen.add(idOf((await events.next()).value));
    expect([...seen].toSorted()).toEqual([live.id, test.id].toSorted());
    expect(seen).not.toContain(quiet.id);
    await events.return(undefined);
    end.abort();
    expect(await heard).toBe("nothing");
  });

  test("ends with the session, and tells nothing after it", async () => {
    const { id } = await sentEnvelope(app, template);
    const cookie = await app.signIn();
    const events = await follow({ cookie });
    const out = await app.json("/auth/sign-out", { method: "POST", key: null, headers: { cookie, origin: app.url } });
    expect(out.status).toBeLessThan(300);
    await voidIt(id);
    expect((await events.next()).done).toBe(true);
  });

  test("is for the dashboard alone", async () => {
    expect((await app.json("/auth/changes")).status).toBeGreaterThanOrEqual(401);
    expect((await app.json("/auth/changes", { key: null })).status).toBe(401);
  });
});

test("the audit stream ends when its key is revoked, and tells nothing after it", async () => {
  const { id } = await sentEnvelope(app, template);
  const input = { name: "to be revoked", mode: "live" as const };
  const { id: key, key: bearer } = await createApiKey(app.deps, app.organization, actor, new Set(permissions), input);
  const response = await app.call(`/v1/envelopes/${id}/events/stream`, { key: { bearer } });
  const events = streamed(response);
  for (const type of ["envelope.created", "envelope.ready", "recipient.sent"]) {
    let event = (await events.next()).value;
    if (event?.retry !== undefined) event = (await events.next()).value;
    expect(JSON.parse(event?.data ?? "{}").type).toBe(type);
  }
  await revokeApiKey(app.deps, app.organization, key, { actor, ip: null });
  await voidIt(id);
  expect((await events.next()).done).toBe(true);
});

describe("the address book", () => {
  const People = z.object({ data: z.array(z.object({ name: z.string().nullable(), email: z.string() })) });
  const find = async (query: string, cookie = headers) =>
    People.parse((await app.json(`/auth/contacts${query}`, { key: null, headers: cookie })).body).data;
  const send = (name: string, email: string, more: object = {}, key: "live" | "test" = "live") =>
    createEnvelope(
      app,
      template,
      {
        recipients: [
          { role: "tenant", name, email },
          { role: "landlord", name: "Lina Landlord", email: "lina@example.com" },
        ],
        ...more,
      },
      { key },
    );

  test("is the people of earlier envelopes: each address once, with its newest name, of one organization and mode", async () => {
    await send("Zoe Old", "zoe@contacts.example");
    await send("Zoë Newer", "Zoe@contacts.example", { cc: [{ email: "copy@contacts.example", name: "Carl Copy" }] });
    await send("Tess Test", "tess@contacts.example", {}, "test");
    expect(await find("?q=contacts.ex")).toEqual([
      { name: "Zoë Newer", email: "Zoe@contacts.example" },
      { name: "Carl Copy", email: "copy@contacts.example" },
    ]);
    expect(await find("?q=zo%C3%AB%20n")).toEqual([{ name: "Zoë Newer", email: "Zoe@contacts.example" }]);
    expect(await find("?q=contacts.ex&testMode=true")).toEqual([{ name: "Tess Test", email: "tess@contacts.example" }]);
    expect((await find("")).length).toBeGreaterThan(2);
    expect(await find("?q=nobody%25")).toEqual([]);
    expect(await find("?q=contacts.ex", stranger)).toEqual([]);
    expect((await app.json("/auth/contacts")).status).toBeGreaterThanOrEqual(401);
  });
});

describe("held mails", () => {
  const List = z.object({ data: z.array(TestMail), hasMore: z.boolean(), nextCursor: z.string().nullable() });
  const mails = async (query: string, cookie = headers) => {
    const { status, body } = await app.json(`/auth/mails${query}`, { key: null, headers: cookie });
    return { status, list: status === 200 ? List.parse(body) : null };
  };

  test("members read the mails of a test-mode envelope, links included", async () => {
    const { id } = await sentEnvelope(app, template, {}, { key: "test" });
    const { list } = await mails(`?envelope=${id}`);
    expect(list?.data).toHaveLength(1);
    expect(list?.data[0]).toMatchObject({
      envelope: id,
      kind: "signing_request",
      to: { email: "ada@example.com" },
      status: "held",
      heldFor: "test_mode",
    });
    expect(list?.data[0]?.link).toMatch(/\/sign#svcs_/);
    expect(list?.data[0]?.text).toContain("/sign#svcs_");
  });

  test("live mail is never among them", async () => {
    const live = await sentEnvelope(app, template);
    expect((await mails(`?envelope=${live.id}`)).status).toBe(404);
    const { list } = await mails("?limit=100");
    expect(list?.data.length).toBeGreaterThan(0);
    expect(list?.data.map(({ envelope }) => envelope)).not.toContain(live.id);
  });

  test("other organizations see none, and keys cannot ask", async () => {
    const { id } = await sentEnvelope(app, template, {}, { key: "test" });
    expect((await mails(`?envelope=${id}`, stranger)).status).toBe(404);
    expect((await mails("", stranger)).list?.data).toEqual([]);
    expect((await app.json("/auth/mails")).status).toBeGreaterThanOrEqual(401);
  });

  test("the list has pages", async () => {
    await sentEnvelope(app, template, {}, { key: "test" });
    const first = await mails("?limit=1");
    const second = await mails(`?limit=1&cursor=${first.list?.nextCursor}`);
    expect(first.list).toMatchObject({ hasMore: true });
    expect(second.list?.data[0]?.id).not.toBe(first.list?.data[0]?.id);
    expect(Date.parse(second.list?.data[0]?.createdAt ?? "")).toBeLessThanOrEqual(
      Date.parse(first.list?.data[0]?.createdAt ?? ""),
    );
  });
});
