import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { endpoints } from "../../server/contract.ts";
import { createApiKey, createOrganization, revokeApiKey } from "../../server/features/identity/service.ts";
import { type EndpointSpec, isForAllOrigins } from "../../server/kernel/endpoint.ts";
import { newSecret } from "../../server/kernel/ids.ts";
import { errorCodesOf } from "../../server/kernel/openapi-responses.ts";
import { type Permission, permissions } from "../../server/kernel/wire.ts";
import { type CallOptions, startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { shiftingClock } from "../harness/clock.ts";
import { publishTemplate, sentEnvelope } from "../harness/envelopes.ts";
import { problemOf } from "../harness/http.ts";

/** What must hold of every operation, derived from the one list of them. */

const clock = shiftingClock();
let appliance: TestAppliance;
let lesserKeys: Map<Permission | undefined, string>;
beforeAll(async () => {
  appliance = await startAppliance({ clock });
  lesserKeys = new Map();
  for (const { permission } of endpoints) {
    if (lesserKeys.has(permission)) continue;
    const others = permissions.filter((other) => other !== permission);
    lesserKeys.set(permission, await appliance.createKey("live", others));
  }
});
afterAll(() => appliance.stop());

const examples: Record<string, string> = { version: "latest", sequence: "1", token: "svcd_x" };
const pathOf = ({ path }: EndpointSpec) =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => examples[name] ?? "tpl_000000000000000000000001");

/** A body that gets as far as it can: of the right type, empty. */
function plainCall(endpoint: EndpointSpec): CallOptions {
  const { method, body } = endpoint;
  if (body?.kind === "json") return { method, json: {} };
  if (body?.kind === "raw") return { method, body: "x", headers: { "content-type": Object.keys(body.types)[0] ?? "" } };
  if (body?.kind === "multipart") return { method, body: new FormData() };
  return { method };
}

const nameOf = ({ method, path }: EndpointSpec) => `${method} ${path}`;
const keyed = endpoints
  .filter(({ credential }) => credential === "key")
  .map((endpoint) => [nameOf(endpoint), endpoint] as const);
const signer = endpoints
  .filter(({ credential }) => credential === "signer")
  .map((endpoint) => [nameOf(endpoint), endpoint] as const);
const all = endpoints.map((endpoint) => [nameOf(endpoint), endpoint] as const);

const unauthorized = async (path: string, options: CallOptions) => {
  const answer = await appliance.json(path, options);
  expect(answer.status).toBe(401);
  const { requestId: _, ...problem } = problemOf(answer);
  return problem;
};

describe.each(keyed)("%s", (_name, endpoint) => {
  it("answers 401 the same whatever is wrong with the credential, and says nothing of the resource", async () => {
    const call = plainCall(endpoint);
    const path = pathOf(endpoint);
    const missing = await unauthorized(path, { ...call, key: null });
    expect(missing).toMatchObject({ code: "unauthorized", instance: endpoint.path });
    const bad = ["x", "svc_live_", newSecret("svc_live"), newSecret("svcs"), `${appliance.keys.live}x`, "a b"];
    for (const bearer of bad) {
      expect(await unauthorized(path, { ...call, key: { bearer } }), bearer).toEqual(missing);
      const headers = { ...call.headers, "x-api-key": bearer };
      expect(await unauthorized(path, { ...call, key: null, headers }), bearer).toEqual(missing);
    }
    const basic = { ...call.headers, authorization: `Basic ${btoa(`${appliance.keys.live}:`)}` };
    expect(await unauthorized(path, { ...call, key: null, headers: basic })).toEqual(missing);
  });

  it("answers 403 to a key with every permission but the one it needs, and names that", async () => {
    const { permission } = endpoint;
    const bearer = lesserKeys.get(permission) ?? "";
    const answer = await appliance.json(pathOf(endpoint), { ...plainCall(endpoint), key: { bearer } });
    if (permission === undefined) return expect(answer.status).not.toBe(403);
    expect(answer.status).toBe(403);
    const problem = problemOf(answer);
    expect(problem).toMatchObject({ code: "forbidden", permission, instance: endpoint.path });
    expect(problem.detail).toContain(permission);
  });
});

describe.each(signer)("%s", (_name, endpoint) => {
  it("takes neither nothing nor an API key nor an unknown token", async () => {
    for (const key of [null, "live", { bearer: newSecret("svca") }, { bearer: newSecret("svcs") }] as const) {
      const answer = await appliance.json(pathOf(endpoint), { ...plainCall(endpoint), key });
      expect(answer.status).toBe(401);
      expect(problemOf(answer)).toMatchObject({ code: "token-invalid", instance: endpoint.path });
    }
  });
});

describe.each(all)("%s", (_name, endpoint) => {
  it("answers nonsense with a problem that its description names, never with a fault", async () => {
    const { method } = endpoint;
    const path = pathOf(endpoint);
    const documented = new Set(errorCodesOf(endpoint));
    const calls: [string, CallOptions][] = [
      [path, plainCall(endpoint)],
      [`${path}?limit=x&cursor=%00&unknown=1&limit=2&test_mode=maybe&version=9`, plainCall(endpoint)],
      [path.replaceAll(/\w+_0+1|latest|svcd_x/g, "%F0%9F%98%80%27%22%00..%2f"), plainCall(endpoint)],
    ];
    if (method !== "GET" && method !== "DELETE") {
      for (const text of ["", "{", "[]", "null", "0", '"x"', `{"a":${"[".repeat(500)}`, '{"__proto__":{"a":1}}'])
        calls.push([path, { method, body: text, headers: { "content-type": "application/json" } }]);
      calls.push([path, { method, body: "a=b", headers: { "content-type": "application/x-www-form-urlencoded" } }]);
      calls.push([path, { method, body: "x", headers: { "content-type": "multipart/form-data" } }]);
      calls.push([path, { method, json: {}, headers: { "idempotency-key": "" } }]);
    }
    for (const [target, options] of calls) {
      const response = await appliance.call(target, options);
      const text = await response.text();
      expect(response.status, `${target} ${JSON.stringify(options)} ${text}`).toBeLessThan(500);
      expect(response.headers.get("x-request-id")).toMatch(/^req_/);
      expect(response.headers.get("referrer-policy")).toBe("no-referrer");
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
      if (response.status < 400) continue;
      expect(response.headers.get("cache-control")).toBe("no-store");
      const problem = problemOf({ status: response.status, headers: response.headers, body: JSON.parse(text) });
      expect(documented, `${problem.code} of ${target} ${JSON.stringify(options)}`).toContain(problem.code);
    }
  });

  it("has its path, its HEAD and its other methods answered as HTTP says", async () => {
    const path = pathOf(endpoint);
    // A path with a parameter takes this one too, where a word stands in the parameter's place.
    const siblings = endpoints.filter((other) =>
      new RegExp(`^${other.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(path),
    );
    const answer = await appliance.json(path, { method: "PROPFIND" });
    expect(answer.status).toBe(405);
    expect(problemOf(answer)).toMatchObject({ code: "method-not-allowed" });
    const allowed = new Set<string>(siblings.map(({ method }) => method));
    if (allowed.has("GET")) allowed.add("HEAD");
    if (isForAllOrigins(endpoint.path)) allowed.add("OPTIONS");
    expect((answer.headers.get("allow") ?? "").split(", ").toSorted()).toEqual([...allowed].toSorted());
    const options = await appliance.call(path, {
      method: "OPTIONS",
      key: null,
      headers: { origin: "https://x.example" },
    });
    await options.arrayBuffer();
    expect(options.status).toBe(isForAllOrigins(endpoint.path) ? 204 : 405);
    expect(options.headers.get("access-control-allow-origin")).toBe(isForAllOrigins(endpoint.path) ? "*" : null);
    expect(options.headers.get("access-control-allow-credentials")).toBeNull();
    if (!allowed.has("HEAD")) return;
    const [get, head] = [await appliance.call(path), await appliance.call(path, { method: "HEAD" })];
    expect(await head.text()).toBe("");
    expect(head.status).toBe(get.status);
    expect(head.headers.get("content-type")).toBe(get.headers.get("content-type"));
    await get.body?.cancel();
  });
});

describe("keys that are no longer good", () => {
  it("are refused like keys that never were: revoked at once, expired to the millisecond", async () => {
    const never = await unauthorized("/v1/templates", { key: { bearer: newSecret("svc_live") } });
    const { organization, owner } = appliance;
    const actor = { type: "user", id: owner.id, name: null, email: owner.email } as const;
    const made = async () =>
      await createApiKey(appliance.deps, organization, actor, new Set(permissions), {
        name: "short",
        mode: "live",
        expiresInDays: 1,
      });
    const [revoked, expiring] = [await made(), await made()];
    for (const { key } of [revoked, expiring])
      expect((await appliance.call("/v1/templates", { key: { bearer: key } })).status).toBe(200);
    await revokeApiKey(appliance.deps, organization, revoked.id, { actor, ip: null });
    expect(await unauthorized("/v1/templates", { key: { bearer: revoked.key } })).toEqual(never);
    clock.shift(Date.parse(expiring.expiresAt ?? "") - clock.now() - 5000);
    expect((await appliance.call("/v1/templates", { key: { bearer: expiring.key } })).status).toBe(200);
    clock.shift(5000);
    expect(await unauthorized("/v1/templates", { key: { bearer: expiring.key } })).toEqual(never);
  });
});

describe("what another mode or organization owns", () => {
  let ids: Record<string, string>;
  let foreign: string;
  beforeAll(async () => {
    const template = await publishTemplate(appliance);
    const envelope = await sentEnvelope(appliance, template, { viewers: [{ email: "vi@example.com" }] });
    ids = { template, envelope: envelope.id, recipient: envelope.recipients[0]?.id ?? "" };
    const other = await createOrganization(appliance.deps, {
      name: "Other Ltd",
      owner: { email: "other@example.com", name: "Otto", password: null },
    });
    const actor = { type: "user", id: other.user, name: "Otto", email: "other@example.com" } as const;
    const made = await createApiKey(appliance.deps, other.organization, actor, new Set(permissions), {
      name: "other",
      mode: "live",
      scopes: [...permissions],
    });
    foreign = made.key;
  });

  const withId = keyed.filter(([, { path }]) => path.includes("{id}"));
  it.each(withId)("is to %s what does not exist", async (_name, endpoint) => {
    const isTemplate = endpoint.path.startsWith("/v1/templates");
    const path = (id: string) => pathOf(endpoint).replace("tpl_000000000000000000000001", id);
    const ask = async (key: CallOptions["key"], id: string) => {
      const answer = await appliance.json(path(id), { ...plainCall(endpoint), ...(key ? { key } : {}) });
      expect(answer.status, JSON.stringify(answer.body)).toBe(404);
      const { requestId: _, ...problem } = problemOf(answer);
      return problem;
    };
    const [own, unknown] = isTemplate
      ? [ids.template ?? "", "tpl_000000000000000000000009"]
      : [ids.envelope ?? "", "env_000000000000000000000009"];
    const missing = await ask("live", unknown);
    expect(await ask({ bearer: foreign }, own)).toEqual(missing);
    if (!isTemplate) expect(await ask("test", own)).toEqual(missing);
  });
});
