import { afterAll, beforeAll, expect, test } from "vitest";
import { anchorNow } from "../../../server/features/evidence/anchors/signing.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { sealedEnvelope } from "../../harness/bundles.ts";
import { movableClock } from "../../harness/clock.ts";
import { publishTemplate } from "../../harness/scenario.ts";

/** What anybody may fetch to check anchors: how long it may be kept, how one asks whether it is still the same, and how often. */

const clock = movableClock();
let app: TestAppliance;
beforeAll(async () => {
  app = await startAppliance({ clock, env: { SIGNET_TRUSTED_PROXIES: "127.0.0.1" } });
  await sealedEnvelope(app, clock, await publishTemplate(app));
});
afterAll(() => app.stop());

const get = (path: string, headers: Record<string, string> = {}, ip = "198.51.100.1") =>
  app.call(path, { key: null, headers: { "x-forwarded-for": ip, ...headers } });

const lasting = [
  "/.well-known/svc/keys.json",
  "/.well-known/svc/certificates.pem",
  "/.well-known/svc/timestamp-certificates.pem",
  "/v1/public/anchors/1",
  "/v1/public/anchors/1/checkpoint",
];
const newest = ["/v1/public/anchors", "/v1/public/anchors/latest"];

test.each([
  ...lasting.map((path) => [path, "public, max-age=300"]),
  ...newest.map((path) => [path, "public, max-age=10"]),
])("%s may be kept, and is not sent again to who has it", async (path, cache) => {
  const first = await get(path);
  expect([first.status, first.headers.get("cache-control")]).toEqual([200, cache]);
  const etag = first.headers.get("etag") ?? "";
  expect(etag).toMatch(/^"[0-9a-f]{64}"$/);
  for (const tag of [etag, `W/${etag}`, `"other", ${etag}`]) {
    const again = await get(path, { "if-none-match": tag });
    expect([again.status, await again.text(), again.headers.get("etag")], tag).toEqual([304, "", etag]);
    expect(again.headers.get("cache-control")).toBe(cache);
    // A question costs as much as an answer.
    expect(again.headers.get("ratelimit-limit")).toBe("240");
  }
  const other = await get(path, { "if-none-match": '"other"' });
  expect([other.status, await other.text()]).toEqual([200, await first.text()]);
});

test("the newest anchor has another tag once there is another; look-ups and refusals are never kept", async () => {
  const before = (await get("/v1/public/anchors/latest")).headers.get("etag") ?? "";
  await sealedEnvelope(app, clock, await publishTemplate(app));
  await anchorNow(app.deps);
  const after = await get("/v1/public/anchors/latest", { "if-none-match": before });
  expect([after.status, after.headers.get("etag") === before]).toEqual([200, false]);
  const asked = await app.json("/v1/public/verify", { key: null, json: { sha256: "0".repeat(64) } });
  expect([asked.headers.get("cache-control"), asked.headers.get("etag")]).toEqual(["no-store", null]);
  const none = await get("/v1/public/anchors/999");
  expect([none.status, none.headers.get("etag"), none.headers.get("cache-control")]).toEqual([404, null, "no-store"]);
});

test.each([
  ["/v1/public/anchors/latest", ["/v1/public/anchors", "/v1/public/anchors/1", "/v1/public/anchors/1/checkpoint"]],
  ["/.well-known/svc/keys.json", ["/.well-known/svc/certificates.pem", "/.well-known/svc/timestamp-certificates.pem"]],
])("%s and its neighbours are 240 a minute for each client together", async (path, neighbours) => {
  const ip = "198.51.100.7";
  for (let n = 0; n < 240; n += 1) expect((await get(path, {}, ip)).status).toBe(200);
  for (const one of [path, ...neighbours]) {
    const refused = await get(one, {}, ip);
    expect([
      refused.status,
      refused.headers.get("ratelimit-limit"),
      refused.headers.get("ratelimit-remaining"),
    ]).toEqual([429, "240", "0"]);
    expect(refused.headers.get("retry-after")).toBe(refused.headers.get("ratelimit-reset"));
    expect(await refused.json()).toMatchObject({ code: "rate-limited" });
  }
  expect((await get(path, {}, "198.51.100.8")).status).toBe(200);
});
