import { afterAll, beforeAll, expect, test } from "vitest";
import { WebhookEndpoint, WebhookEndpointList, WebhookSecret } from "../../../server/features/webhooks/contract.ts";
import { administrativePermissions, permissions } from "../../../server/kernel/wire.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { movableClock } from "../../harness/clock.ts";
import { ok, refusal } from "../../harness/scenario.ts";

/** Registering, changing and deleting endpoints; whom they belong to. */

const clock = movableClock();
let app: TestAppliance;
let cookie: string;
beforeAll(async () => {
  app = await startAppliance({ clock, env: { SIGNET_OUTBOUND_ALLOW: "webhook=10.1.0.0/16:443" } });
  cookie = await app.signIn();
});
afterAll(() => app.stop());

const path = "/v1/webhook-endpoints";
const url = "https://10.1.2.3/hooks";
const browser = () => ({ key: null, headers: { cookie, origin: app.url } });
async function create(json: Record<string, unknown> = {}, options = {}) {
  return WebhookEndpoint.parse((await ok(app, 201, path, { json: { url, ...json }, ...options })).body);
}

test("an endpoint is answered with its secret once, and belongs to the mode of the key", async () => {
  const made = await create({ description: "CRM", events: ["envelope.sealed", "acceptance.created"] });
  expect(made).toMatchObject({
    id: expect.stringMatching(/^whe_[0-9A-Za-z]{24}$/),
    url,
    description: "CRM",
    events: ["envelope.sealed", "acceptance.created"],
    enabled: true,
    testMode: false,
    health: { successRate: null, attempts: 0, lastSuccessAt: null, lastFailureAt: null, failingSince: null },
    secretRotatedAt: null,
    previousSecretExpiresAt: null,
  });
  expect(Buffer.from(made.secret?.slice("whsec_".length) ?? "", "base64")).toHaveLength(32);
  const { secret: _, ...shown } = made;
  expect((await ok(app, 200, `${path}/${made.id}`)).body).toEqual(shown);
  expect(WebhookEndpointList.parse((await ok(app, 200, path)).body).data.map(({ id }) => id)).toContain(made.id);
  expect(await refusal(app, `${path}/${made.id}`, { key: "test" })).toMatchObject({ status: 404, code: "not-found" });
  expect((await ok(app, 200, path, { key: "test" })).body).toMatchObject({ data: [] });
  const asked = await ok(app, 200, `${path}?testMode=true`);
  expect(asked.body).toMatchObject({ data: [], hasMore: false, nextCursor: null });
  // `testMode` is the dashboard's; a key's own mode wins.
  expect(await create({ testMode: true })).toMatchObject({ testMode: false });
  expect(await create({ testMode: true }, browser())).toMatchObject({ testMode: true });
});

test("a repeated creation makes one endpoint and answers with the same secret", async () => {
  const options = { headers: { "idempotency-key": "endpoint-1" } };
  const first = await create({}, options);
  expect(await create({}, options)).toEqual(first);
});

test("only https URLs that may be called are taken", async () => {
  const refused = async (to: string) => await refusal(app, path, { json: { url: to } });
  for (const to of [
    "http://example.com/",
    "https://user@example.com/",
    "https://example.com/#a",
    "hooks",
    " https://a.de",
  ])
    expect(await refused(to), to).toMatchObject({ status: 422, code: "validation-failed", at: ["#/url"] });
  for (const to of [
    "https://127.0.0.1/",
    "https://169.254.169.254/",
    "https://[::1]/",
    "https://10.2.0.1/",
    "https://10.1.0.1:8443/",
  ])
    expect(await refused(to), to).toMatchObject({ status: 422, code: "url-not-allowed", at: ["#/url"] });
  // Its name may get an address yet.
  await create({ url: "https://not-there-yet.invalid/hooks" });
  expect(await refused("https://example.com/".padEnd(2049, "a"))).toMatchObject({ code: "validation-failed" });
});

test("changes keep what is not named", async () => {
  const { id, secret: _, ...before } = await create({ description: "CRM", events: ["envelope.sealed"] });
  const patch = async (json: unknown) => (await ok(app, 200, `${path}/${id}`, { method: "PATCH", json })).body;
  clock.advance(1000);
  expect(await patch({ enabled: false })).toEqual({ ...before, id, enabled: false, updatedAt: clock.ts() });
  expect(await patch({ description: null, events: [] })).toMatchObject({
    description: null,
    events: [],
    url,
    enabled: false,
  });
  const at = clock.ts();
  clock.advance(1000);
  expect(await patch({ enabled: false })).toMatchObject({ updatedAt: at });
  for (const json of [{ secret: "whsec_" }, { enabled: null }, { events: ["envelope.gone"] }])
    expect(await refusal(app, `${path}/${id}`, { method: "PATCH", json })).toMatchObject({ status: 422 });
  expect(await refusal(app, `${path}/${id}/test`, { method: "POST" })).toMatchObject({
    status: 409,
    code: "endpoint-disabled",
  });
});

test("a new secret leaves the old one valid for a day; it is shown again to a fresh sign-in alone", async () => {
  const { id, secret } = await create();
  const rotated = WebhookSecret.parse((await ok(app, 200, `${path}/${id}/secret/rotate`, { method: "POST" })).body);
  expect(rotated.secret).not.toBe(secret);
  expect(rotated.previousSecretExpiresAt).toBe(new Date(clock.now() + 86_400_000).toISOString());
  expect((await ok(app, 200, `${path}/${id}`)).body).toMatchObject({ secretRotatedAt: clock.ts() });
  const reveal = { method: "POST", ...browser() };
  expect(await refusal(app, `${path}/${id}/secret`, { method: "POST" })).toMatchObject({
    status: 403,
    code: "forbidden",
  });
  expect((await ok(app, 200, `${path}/${id}/secret`, reveal)).body).toEqual(rotated);
  clock.advance(16 * 60_000);
  expect(await refusal(app, `${path}/${id}/secret`, reveal)).toMatchObject({
    status: 403,
    code: "fresh-sign-in-required",
  });
  const rows = await app.deps.db.read.selectFrom("webhook_endpoints").selectAll().where("id", "=", id).execute();
  expect(JSON.stringify(rows)).not.toContain(rotated.secret.slice(6));
  const acts = await app.deps.db.read.selectFrom("admin_audit").select("action").where("target", "=", id).execute();
  expect(acts.map(({ action }) => action)).toEqual([
    "webhook.created",
    "webhook.secret_rotated",
    "webhook.secret_revealed",
  ]);
});

test("a key without org:manage and another organization reach none of it", async () => {
  const { id } = await create();
  const scopes = permissions.filter((one) => !administrativePermissions.includes(one));
  const bearer = await app.createKey("live", scopes);
  for (const [to, method] of [
    [path, "GET"],
    [`${path}/${id}`, "DELETE"],
    [`${path}/${id}/secret/rotate`, "POST"],
  ] as const)
    expect(await refusal(app, to, { key: { bearer }, method })).toMatchObject({ status: 403, code: "forbidden" });
  await ok(app, 204, `${path}/${id}`, { method: "DELETE" });
  for (const method of ["GET", "DELETE"])
    expect(await refusal(app, `${path}/${id}`, { method })).toMatchObject({ status: 404 });
});

test("there are at most 20 in each mode", async () => {
  const { data } = WebhookEndpointList.parse((await ok(app, 200, `${path}?limit=100`)).body);
  for (let index = data.length; index < 20; index += 1) await create();
  expect(await refusal(app, path, { json: { url } })).toMatchObject({ status: 409, code: "conflict" });
  await create({ testMode: true }, browser());
});
