import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newSecret } from "../../../server/kernel/ids.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { shiftingClock } from "../../harness/clock.ts";
import { publishTemplate, sentEnvelope } from "../../harness/envelopes.ts";
import { problemOf } from "../../harness/http.ts";

const clock = shiftingClock();
let appliance: TestAppliance;
beforeAll(async () => {
  appliance = await startAppliance({ clock, env: { SIGNET_TRUSTED_PROXIES: "127.0.0.1,10.0.0.0/8" } });
});
afterAll(() => appliance.stop());

const from = (ip: string) => ({ key: null, headers: { "x-forwarded-for": ip } });
const limitsOf = (headers: Headers) =>
  ["limit", "remaining", "reset"].map((name) => Number(headers.get(`ratelimit-${name}`)));

describe("rate limits of public operations", () => {
  it("are told with every answer, refuse with 429, count per client and end with the window", async () => {
    const verify = (ip: string, sha256: unknown = "0".repeat(64)) =>
      appliance.json("/v1/public/verify", { ...from(ip), json: { sha256 } });
    const first = await verify("198.51.100.1");
    expect(first.status).toBe(200);
    expect(limitsOf(first.headers)).toEqual([60, 59, 60]);
    expect((await verify("198.51.100.1", 7)).headers.get("ratelimit-remaining")).toBe("58");
    for (let i = 0; i < 58; i++) await verify("198.51.100.1, 10.0.0.9");
    const refused = await verify("198.51.100.1");
    expect(problemOf(refused)).toMatchObject({ status: 429, code: "rate-limited", instance: "/v1/public/verify" });
    const [limit, remaining, reset] = limitsOf(refused.headers);
    expect([limit, remaining]).toEqual([60, 0]);
    expect(reset).toBeGreaterThan(0);
    expect(refused.headers.get("retry-after")).toBe(String(reset));
    expect(problemOf(refused).retryAfter).toBe(reset);
    // Its own X-Forwarded-For does not make a client another one.
    expect((await verify("6.6.6.6, 198.51.100.1")).status).toBe(429);
    expect((await verify("198.51.100.2")).status).toBe(200);
    clock.shift(60_001);
    expect(limitsOf((await verify("198.51.100.1")).headers)).toEqual([60, 59, 60]);
  });

  it("differ as the specification says", async () => {
    for (const path of ["/v1/public/anchors", "/v1/public/anchors/latest", "/.well-known/svc/keys.json"]) {
      const { headers } = await appliance.call(path, from("198.51.100.3"));
      expect(headers.get("ratelimit-limit"), path).toBe("240");
    }
    expect((await appliance.call("/v1/templates")).headers.get("ratelimit-limit")).toBeNull();
  });

  it("come before the body is read", async () => {
    const path = "/v1/public/verify";
    for (let i = 0; i < 60; i++) await appliance.call(path, { ...from("198.51.100.9"), body: "{" });
    const answer = await appliance.json(path, { ...from("198.51.100.9"), body: "x".repeat(100_000) });
    expect(answer.status).toBe(429);
  });
});

describe("a document", () => {
  let path: string;
  let whole: Buffer;
  let etag: string;
  beforeAll(async () => {
    const { id } = await sentEnvelope(appliance, await publishTemplate(appliance));
    path = `/v1/envelopes/${id}/document?version=original`;
    const response = await appliance.call(path);
    expect(response.status).toBe(200);
    whole = Buffer.from(await response.arrayBuffer());
    etag = response.headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[0-9a-f]{64}"$/);
    expect(response.headers.get("accept-ranges")).toBe("bytes");
    expect(response.headers.get("content-length")).toBe(String(whole.length));
  });
  const get = async (headers: Record<string, string>) => {
    const response = await appliance.call(path, { headers });
    return {
      status: response.status,
      range: response.headers.get("content-range"),
      etag: response.headers.get("etag"),
      bytes: Buffer.from(await response.arrayBuffer()),
    };
  };

  it("is not sent again to who has it", async () => {
    for (const tag of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
      const answer = await get({ "if-none-match": tag });
      expect([answer.status, answer.etag, answer.bytes.length], tag).toEqual([304, etag, 0]);
    }
    expect((await get({ "if-none-match": '"other"' })).status).toBe(200);
  });

  it("is sent in parts", async () => {
    const size = whole.length;
    const cases: [string, number, number][] = [
      ["bytes=0-0", 0, 0],
      ["bytes=5-9", 5, 9],
      ["bytes=10-", 10, size - 1],
      ["bytes=-7", size - 7, size - 1],
      [`bytes=${size - 1}-${size + 100}`, size - 1, size - 1],
      [`bytes=-${size * 2}`, 0, size - 1],
    ];
    for (const [range, start, end] of cases) {
      const answer = await get({ range });
      expect([answer.status, answer.range], range).toEqual([206, `bytes ${start}-${end}/${size}`]);
      expect(answer.bytes.equals(whole.subarray(start, end + 1)), range).toBe(true);
    }
    for (const range of [`bytes=${size}-`, "bytes=-0"]) {
      expect(await get({ range })).toMatchObject({ status: 416, range: `bytes */${size}` });
    }
    for (const range of ["bytes=9-5", "bytes=0-1,3-4", "pages=1-2", "bytes=a-b", "bytes=-"]) {
      expect((await get({ range })).bytes.length, range).toBe(size);
    }
  });

  it("is sent in parts only of the version that the client began with", async () => {
    expect((await get({ range: "bytes=0-4", "if-range": etag })).status).toBe(206);
    const other = await get({ range: "bytes=0-4", "if-range": '"other"' });
    expect([other.status, other.bytes.length]).toEqual([200, whole.length]);
    const head = await appliance.call(path, { method: "HEAD" });
    expect([head.status, head.headers.get("etag"), head.headers.get("content-length")]).toEqual([
      200,
      etag,
      String(whole.length),
    ]);
  });

  it("is not cached by anybody in between", async () => {
    expect((await appliance.call(path)).headers.get("cache-control")).toBe("no-store");
    expect((await appliance.call("/.well-known/svc/keys.json")).headers.get("cache-control")).toContain("public");
    const unknown = await appliance.json(`/v1/public/documents/${newSecret("svcd")}`, { key: null });
    expect(unknown.headers.get("cache-control")).toBe("no-store");
  });
});
