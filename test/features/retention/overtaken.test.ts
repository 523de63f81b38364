import { afterAll, beforeAll, expect, test } from "vitest";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { browser } from "../../harness/people.ts";

/** Two administrators change the term at the same time. */

const settings = "/auth/organization/retention";
let app: TestAppliance;
beforeAll(async () => {
  app = await startAppliance();
});
afterAll(() => app.stop());

test("who saw another term than the present one does not overwrite it", async () => {
  const owner = browser(app, await app.signIn());
  await owner("PATCH", settings, { keepDays: 40 });
  const seen = (await owner("GET", settings)).headers.get("etag") ?? "";
  expect(seen).toMatch(/^"/);
  const change = (keepDays: number | null, ifMatch: string) =>
    owner("PATCH", settings, { keepDays }, { "if-match": ifMatch });
  expect((await change(60, seen)).status).toBe(200);
  const late = await change(50, seen);
  expect(late).toMatchObject({ status: 412, body: { code: "precondition-failed" } });
  const now = await owner("GET", settings);
  expect(now.body).toMatchObject({ keepDays: 60 });
  // Who wants what is there already has lost nothing.
  expect((await change(60, seen)).status).toBe(200);
  const again = await change(null, `"other", ${now.headers.get("etag")}`);
  expect(again).toMatchObject({ status: 200, body: { keepDays: null } });
  expect((await change(null, again.headers.get("etag") ?? "")).status).toBe(200);
});
