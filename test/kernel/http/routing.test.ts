import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newSecret } from "../../../server/kernel/ids.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { problemOf, raw } from "../../harness/http.ts";

let appliance: TestAppliance;
beforeAll(async () => {
  appliance = await startAppliance();
});
afterAll(() => appliance.stop());

describe("addresses", () => {
  it("that nobody serves are 404, whatever they look like", async () => {
    const paths = ["/v1", "/v1/", "/v1/nothing", "/v1/templates/", "/V1/templates", "/v1//templates", "/v2/templates"];
    for (const path of [...paths, "/v1/templates/a/b/c/d", "/.env", "/v1/templates/%", "/%E0%A4%A"]) {
      const answer = await appliance.json(path);
      expect(answer.status, path).toBe(404);
      expect(problemOf(answer).code, path).toBe("not-found");
    }
    expect((await appliance.json("/v1/templates/%zz/draft", { method: "PUT", json: {} })).status).toBe(404);
    for (const id of ["%00", "..%2f..%2fetc%2fpasswd", "%2e%2e", "%F0%9F%98%80", "'%20or%201=1--", "x".repeat(8000)]) {
      const answer = await appliance.json(`/v1/templates/${id}`);
      expect(answer.status, id).toBe(404);
    }
  });

  it("may be long but not endless", async () => {
    const answer = await raw(
      appliance.url,
      `GET /v1/templates?q=${"a".repeat(100_000)} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
    );
    expect(answer.status).toBe(431);
    expect((await appliance.call("/healthz")).status).toBe(200);
  });

  it("keep tokens out of `instance`", async () => {
    const answer = await appliance.json(`/v1/public/documents/${newSecret("svcd")}`, { key: null });
    expect(problemOf(answer)).toMatchObject({ status: 404, instance: "/v1/public/documents/{token}" });
    expect(JSON.stringify(answer.body)).not.toContain("svcd_");
  });
});

describe("request ids", () => {
  it("are kept when they are good and replaced when they are not", async () => {
    for (const id of ["abcdefgh", "A-Z.a_z-09", "x".repeat(128)]) {
      const { headers } = await appliance.call("/v1/templates", { headers: { "x-request-id": id } });
      expect(headers.get("x-request-id")).toBe(id);
      const refused = await appliance.json("/v1/nothing", { headers: { "x-request-id": id } });
      expect(problemOf(refused).requestId).toBe(id);
    }
    const seen = new Set<string | null>();
    for (const id of ["short12", "x".repeat(129), "with space", "semi;colon", "a/b/c/d/e", "<script>alert"]) {
      const { headers } = await appliance.call("/v1/templates", { headers: { "x-request-id": id } });
      expect(headers.get("x-request-id")).toMatch(/^req_[0-9A-Za-z]{24}$/);
      seen.add(headers.get("x-request-id"));
    }
    expect(seen.size).toBe(6);
    expect((await appliance.call("/healthz")).headers.get("x-request-id")).toMatch(/^req_/);
  });
});

describe("API keys", () => {
  it("are taken from either header, and from both when they agree", async () => {
    const { live, test } = appliance.keys;
    const status = async (headers: Record<string, string>) =>
      (await appliance.call("/v1/templates", { key: null, headers })).status;
    expect(await status({ "x-api-key": live })).toBe(200);
    expect(await status({ authorization: `Bearer ${live}` })).toBe(200);
    expect(await status({ authorization: `bearer ${live}` })).toBe(200);
    expect(await status({ authorization: `Bearer ${live}`, "x-api-key": live })).toBe(200);
    expect(await status({ authorization: `Bearer ${live}`, "x-api-key": test })).toBe(401);
    expect(await status({ authorization: `Basic x`, "x-api-key": live })).toBe(401);
    expect(await status({ cookie: `__Host-svc_session=${live}` })).toBe(401);
    const inQuery = await appliance.call(`/v1/templates?api_key=${live}`, { key: null });
    expect(inQuery.status).toBe(401);
  });
});

describe("browsers", () => {
  it("of other sites get no permission on operations with a key", async () => {
    const { headers } = await appliance.call("/v1/templates", { headers: { origin: "https://evil.example" } });
    expect([...headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
  });

  it("of any site may ask what is public, refusals included", async () => {
    const options = { key: null, headers: { origin: "https://site.example" } };
    const keys = await appliance.call("/.well-known/svc/keys.json", options);
    expect([keys.status, keys.headers.get("access-control-allow-origin")]).toEqual([200, "*"]);
    const refused = await appliance.json("/v1/public/verify", { ...options, json: { sha256: "x" } });
    expect([refused.status, refused.headers.get("access-control-allow-origin")]).toEqual([422, "*"]);
    const preflight = await appliance.call("/v1/public/verify", { ...options, method: "OPTIONS" });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-methods")).toContain("POST");
    expect(preflight.headers.get("access-control-allow-headers")).toContain("content-type");
  });

  it.each([
    ["GET", "/v1/public/verify", 405],
    ["DELETE", "/v1/public/anchors/latest", 405],
    ["POST", "/v1/public/nope", 404],
    ["GET", "/v1/public/%zz", 404],
    ["GET", "/.well-known/svc/nope", 404],
    ["POST", "/.well-known/svc/keys.json", 405],
  ])("of any site can read that %s %s is %i", async (method, path, status) => {
    const origin = "https://site.example";
    const answer = await appliance.json(path, { method, key: null, headers: { origin } });
    expect(problemOf(answer).status).toBe(status);
    expect(answer.headers.get("access-control-allow-origin")).toBe("*");
    expect(answer.headers.get("access-control-expose-headers")).toContain("x-request-id");
    const headers = { origin, "access-control-request-method": method };
    const preflight = await appliance.call(path, { method: "OPTIONS", key: null, headers });
    expect([preflight.status, preflight.headers.get("access-control-allow-origin")]).toEqual([204, "*"]);
  });

  it("of other sites read nothing beside these", async () => {
    for (const path of ["/v1/publicity", "/v1/public", "/.well-known/nope", "/v1/nope"]) {
      for (const method of ["GET", "OPTIONS"]) {
        const answer = await appliance.json(path, { method, key: null, headers: { origin: "https://site.example" } });
        expect([answer.status, answer.headers.get("access-control-allow-origin")], path).toEqual([404, null]);
      }
    }
  });
});
