import { request as httpRequest } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLog } from "../../../server/kernel/log.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { placesOf, problemOf } from "../../harness/http.ts";
import { enter, linkTokenOf, publishTemplate, send, submission } from "../../harness/scenario.ts";

const token = "metrics-token-0123456789";

describe("operations", () => {
  let appliance: TestAppliance;
  beforeAll(async () => {
    appliance = await startAppliance({ env: { SIGNET_METRICS_TOKEN: token } });
  });
  afterAll(() => appliance.stop());
  const get = (path: string, headers: Record<string, string> = {}) => appliance.call(path, { key: null, headers });

  it("tell that the service lives and is ready", async () => {
    for (const [path, status] of [
      ["/healthz", "ok"],
      ["/readyz", "ready"],
    ] as const) {
      const response = await get(path);
      expect([response.status, await response.json()]).toEqual([200, { status }]);
      expect(response.headers.get("x-request-id")).toMatch(/^req_/);
      expect((await appliance.call(path, { method: "HEAD", key: null })).status).toBe(200);
    }
  });

  it("describe the interface to who asks for nothing else, and leave probes their parameters", async () => {
    for (const path of ["/openapi.json", "/openapi.yaml"]) {
      expect((await get(path)).status).toBe(200);
      for (const query of ["x=1", "x", "__proto__=1"]) {
        const answer = await appliance.json(`${path}?${query}`, { key: null });
        expect(problemOf(answer)).toMatchObject({ status: 422, code: "validation-failed" });
        expect(placesOf(problemOf(answer))).toEqual([`?${query.split("=")[0]} unknown`]);
      }
    }
    for (const path of ["/healthz", "/readyz"]) expect((await get(`${path}?from=balancer`)).status).toBe(200);
    expect((await get("/metrics?x=1", { authorization: `Bearer ${token}` })).status).toBe(200);
  });

  it("give figures to who has the token only, and none that names a resource", async () => {
    await appliance.call("/v1/templates/tpl_000000000000000000000001");
    expect((await get("/metrics")).status).toBe(401);
    for (const authorization of [
      `Bearer ${token}x`,
      `Bearer ${token.slice(1)}`,
      token,
      `Bearer ${appliance.keys.live}`,
    ])
      expect((await get("/metrics", { authorization })).status).toBe(401);
    const response = await get("/metrics", { authorization: `Bearer ${token}` });
    const text = await response.text();
    expect(response.status).toBe(200);
    expect(text).toContain('route="/v1/templates/{id}"');
    expect(text).not.toMatch(/tpl_|svc_live_/);
  });

  it("have no figures without a token", async () => {
    const other = await startAppliance();
    const answer = await other.json("/metrics", { key: null, headers: { authorization: "Bearer " } });
    await other.stop();
    expect(answer.status).toBe(404);
    expect(problemOf(answer).code).toBe("not-found");
  });
});

describe("a graceful stop", () => {
  it("finishes the request that runs, and takes no more", async () => {
    const appliance = await startAppliance();
    const url = new URL("/v1/templates", appliance.url);
    const headers = { authorization: `Bearer ${appliance.keys.live}`, "content-type": "application/json" };
    const slow = httpRequest(url, { method: "POST", headers });
    const answered = new Promise<number>((resolve, reject) => {
      slow.once("response", (response) => {
        response.resume();
        response.once("end", () => resolve(response.statusCode ?? 0));
      });
      slow.once("error", reject);
    });
    slow.write('{"name":');
    // The server has it once another request, sent later, was answered.
    await new Promise((resolve) =>
      slow.once("socket", (socket) => (socket.connecting ? socket.once("connect", resolve) : resolve(null))),
    );
    await appliance.call("/healthz");
    const stopped = appliance.stop();
    await expect(fetch(new URL("/healthz", url))).rejects.toThrow();
    slow.end('"last one"}');
    expect(await answered).toBe(201);
    await stopped;
  });
});

describe("the log", () => {
  it("holds no secret of a whole signing, at its most talkative", async () => {
    const lines: string[] = [];
    const log = createLog("debug", { write: (line) => void lines.push(line) });
    const appliance = await startAppliance({ log, env: { SIGNET_METRICS_TOKEN: token } });
    const secrets = [appliance.keys.live, appliance.keys.test, token];
    const template = await publishTemplate(appliance);
    await send(appliance, template);
    for (const email of ["ada@example.com", "ben@example.com"]) {
      const link = await linkTokenOf(appliance, email);
      const bearer = await enter(appliance, email);
      secrets.push(link, bearer);
      const code = (await appliance.mail()).find((mail) => mail.code)?.code;
      if (code) secrets.push(code);
      await appliance.call("/v1/signing/otp/verify", { key: { bearer }, json: { code: "000000" } });
      const done = await appliance.json("/v1/signing/submit", {
        key: { bearer },
        json: await submission(appliance, bearer),
      });
      expect(done.status, JSON.stringify(done.body)).toBe(200);
    }
    await appliance.jobs.idle();
    for (const mail of await appliance.mail()) if (mail.link) secrets.push(new URL(mail.link).hash.slice(1), mail.link);
    // What fails is logged with its cause: also then without what was sent.
    const { db } = appliance.deps;
    const { tx } = db;
    Object.assign(db, { tx: () => Promise.reject(new Error("disk on fire")) });
    const failed = await appliance.call("/v1/templates", {
      json: { name: "hush-hush-name" },
      headers: { cookie: "session=cookie-secret", "idempotency-key": "idempotency-secret" },
    });
    Object.assign(db, { tx });
    expect(failed.status).toBe(500);
    await appliance.stop();
    const text = lines.join("");
    expect(lines.length).toBeGreaterThan(15);
    expect(text).toContain("disk on fire");
    expect(text).toContain("/v1/signing/submit");
    const given = ["hush-hush-name", "cookie-secret", "idempotency-secret", "Zürich", "ada@example.com"];
    for (const secret of [...secrets, ...given].filter(Boolean)) {
      const found = lines.find((line) => new RegExp(`\\b${secret.replaceAll(/[^\w]/g, "\\$&")}\\b`).test(line));
      expect(found, secret).toBeUndefined();
    }
    expect(text).not.toMatch(/svc[a-z]{0,2}(_live|_test)?_[0-9A-Za-z]{20,}/);
    for (const line of lines)
      expect(JSON.parse(line)).toMatchObject({ level: expect.any(String), time: expect.any(String) });
  });
});
