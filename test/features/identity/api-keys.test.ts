import { Kysely, type KyselyPlugin } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createAuthenticators } from "../../../server/features/identity/authenticate.ts";
import { administrativePermissions, type Permission, permissions } from "../../../server/kernel/wire.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { movableClock } from "../../harness/clock.ts";
import { audit, type Browser, browser, person } from "../../harness/people.ts";
import { visitor } from "../../harness/scenario.ts";

const day = 24 * 60 * 60_000;
const clock = movableClock();
const keys = "/v1/api-keys";
const refused = (status: number, code: string) => ({ status, body: { code } });

let app: TestAppliance;
let owner: Browser;
beforeAll(async () => {
  app = await startAppliance({ clock });
  owner = browser(app, await app.signIn());
});
afterAll(() => app.stop());

async function create(change: Record<string, unknown> = {}, as: Browser = owner) {
  // Keys of one millisecond stand in no order.
  clock.advance(1);
  const { status, body } = await as("POST", keys, { name: "Billing system", mode: "test", ...change });
  expect(status).toBe(201);
  return body as { id: string; key: string; hint: string; scopes: Permission[]; expiresAt: string | null };
}
const use = (key: string) => app.call("/v1/envelopes", { key: { bearer: key } });

describe("creating a key", () => {
  test("shows its secret once: afterwards there is a hint, and the database holds a hash", async () => {
    const made = await create();
    expect(made).toMatchObject({
      id: expect.stringMatching(/^key_/),
      key: expect.stringMatching(/^svc_test_[0-9A-Za-z]{49}$/),
      hint: `${made.key.slice(0, 11)}…${made.key.slice(-4)}`,
      mode: "test",
      status: "active",
      expiresAt: null,
      createdBy: { type: "user", name: "Olive Owner" },
    });
    expect((await use(made.key)).status).toBe(200);
    const { body } = await owner("GET", keys);
    expect(body.data).toContainEqual(expect.objectContaining({ id: made.id, hint: made.hint }));
    expect(JSON.stringify(body)).not.toContain(made.key);
    expect(JSON.stringify(await app.deps.db.read.selectFrom("api_keys").selectAll().execute())).not.toContain(made.key);
  });

  test("without scopes grants all that its creator holds but the administrative ones", async () => {
    const usual = permissions.filter((permission) => !administrativePermissions.includes(permission));
    expect((await create()).scopes).toEqual(usual);
    expect((await create({ scopes: ["envelope:read"] })).scopes).toEqual(["envelope:read"]);
    expect((await create({ scopes: ["org:manage", "org:manage"] })).scopes).toEqual(["org:manage"]);
    const { key } = await create({ scopes: ["template:read"] });
    expect((await use(key)).status).toBe(403);
  });

  test("takes a live key live and ends it on its day", async () => {
    const made = await create({ mode: "live", expiresInDays: 90 });
    expect(made.key).toMatch(/^svc_live_/);
    expect(made.expiresAt).toBe(new Date(clock.now() + 90 * day).toISOString());
    for (const expiresInDays of [0, 366, 1.5]) {
      const answer = await owner("POST", keys, { name: "x", mode: "live", expiresInDays });
      expect(answer).toMatchObject({ status: 422, body: { errors: [{ pointer: "#/expiresInDays" }] } });
    }
    const { key, id } = await create({ expiresInDays: 1 });
    clock.advance(day - 1);
    expect((await use(key)).status).toBe(200);
    clock.advance(1);
    expect((await use(key)).status).toBe(401);
    owner = browser(app, await app.signIn());
    expect((await owner("GET", keys)).body.data).toContainEqual(expect.objectContaining({ id, status: "expired" }));
  });

  test("needs a sign-in of the last fifteen minutes; listing and revoking do not", async () => {
    const { id } = await create();
    const fresh = browser(app, await app.signIn());
    clock.advance(15 * 60_000 - 1);
    expect((await fresh("POST", keys, { name: "in time", mode: "test" })).status).toBe(201);
    clock.advance(1);
    expect(await fresh("POST", keys, { name: "late", mode: "test" })).toMatchObject(
      refused(403, "fresh-sign-in-required"),
    );
    expect((await fresh("GET", keys)).status).toBe(200);
    expect((await fresh("DELETE", `${keys}/${id}`)).status).toBe(204);
    owner = browser(app, await app.signIn());
  });

  test("is for owners and administrators at the dashboard, never for a key", async () => {
    const admin = await person(app, "Ada", "admin");
    const member = await person(app, "Max", "member");
    const { id } = await create({}, admin.as);
    for (const [method, path, json] of [
      ["POST", keys, { name: "x", mode: "test" }],
      ["GET", keys],
      ["DELETE", `${keys}/${id}`],
    ] as const) {
      expect(await member.as(method, path, json)).toMatchObject({
        status: 403,
        body: { code: "forbidden", permission: "apikey:manage" },
      });
      expect(await app.json(path, { method, ...(json ? { json } : {}) })).toMatchObject(refused(403, "forbidden"));
      expect(await browser(app, null)(method, path, json)).toMatchObject(refused(401, "unauthorized"));
    }
  });

  test("by somebody whose role has ended grants nothing", async () => {
    const admin = await person(app, "Anna", "admin");
    await owner("PATCH", `/auth/organization/members/${admin.id}`, { role: "member" });
    expect(await admin.as("POST", keys, { name: "x", mode: "test" })).toMatchObject(refused(403, "forbidden"));
  });

  test("stops at a hundred keys that were not revoked", async () => {
    const { body } = await owner("POST", "/auth/organizations", { name: "Many Keys Ltd" });
    expect(body).toMatchObject({ organization: { name: "Many Keys Ltd" } });
    let last = "";
    for (let index = 0; index < 100; index += 1) last = (await create({ name: `key ${index}` })).id;
    expect(await owner("POST", keys, { name: "one more", mode: "test" })).toMatchObject(refused(409, "conflict"));
    expect((await owner("DELETE", `${keys}/${last}`)).status).toBe(204);
    await create();
    await owner("POST", "/auth/organization", { organization: app.organization });
  });
});

describe("revoking a key", () => {
  test("ends it at once, for good, and only for the organization that owns it", async () => {
    const { id, key } = await create();
    expect((await use(key)).status).toBe(200);
    const { body } = await owner("POST", "/auth/organizations", { name: "Neighbour Ltd" });
    expect(body).toMatchObject({ organization: { name: "Neighbour Ltd" } });
    expect(await owner("DELETE", `${keys}/${id}`)).toMatchObject(refused(404, "not-found"));
    expect((await owner("GET", keys)).body.data).toEqual([]);
    await owner("POST", "/auth/organization", { organization: app.organization });
    expect((await owner("DELETE", `${keys}/${id}`)).status).toBe(204);
    expect((await use(key)).status).toBe(401);
    expect(await owner("DELETE", `${keys}/${id}`)).toMatchObject(refused(404, "not-found"));
    expect((await owner("GET", keys)).body.data).not.toContainEqual(expect.objectContaining({ id }));
  });

  test("ends it for what is asked afterwards, also when it was being looked up meanwhile", async () => {
    const { id, key } = await create();
    let revoking: Promise<unknown> | undefined;
    // What a request has read of the key comes to it only when the key is revoked.
    const late: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        revoking ??= owner("DELETE", `${keys}/${id}`);
        await revoking;
        return result;
      },
    };
    const { read, tx } = app.deps.db;
    if (!(read instanceof Kysely)) throw new Error("plugins cannot be put in");
    const { key: holder } = createAuthenticators({
      ...app.deps,
      db: { ...app.deps.db, read: read.withPlugin(late), tx },
    });
    const request = { ...visitor, header: (name: string) => (name === "x-api-key" ? key : null) };
    const ask = () => holder(request, new URLSearchParams(), false);
    await ask();
    await expect(ask()).rejects.toMatchObject({ code: "unauthorized" });
  });

  test("and creating one stand in the record, without the secret", async () => {
    clock.advance(1);
    const { id, key } = await create({ name: "Recorded", scopes: ["envelope:read"] });
    clock.advance(1);
    await owner("DELETE", `${keys}/${id}`);
    expect((await audit(owner)).slice(0, 2)).toEqual(["Olive Owner api_key.revoked", "Olive Owner api_key.created"]);
    const { body } = await owner("GET", "/auth/organization/audit?limit=2");
    expect(body.data).toMatchObject([
      { target: id, data: { name: "Recorded" } },
      { target: id, data: { name: "Recorded", mode: "test", scopes: ["envelope:read"] } },
    ]);
    expect(JSON.stringify(body)).not.toContain(key);
  });
});
