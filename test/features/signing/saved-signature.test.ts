import { afterAll, beforeAll, expect, test } from "vitest";
import { createOrganization } from "../../../server/features/identity/service.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { drawn } from "../../harness/scenario.ts";

let app: TestAppliance;
let cookie: string;
beforeAll(async () => {
  app = await startAppliance();
  cookie = await app.signIn();
});
afterAll(() => app.stop());

const call = (method: string, json?: object, as = cookie) =>
  app.json("/auth/profile/signature", {
    key: null,
    method,
    headers: { cookie: as, origin: app.url },
    ...(json === undefined ? {} : { json }),
  });
const typed = { method: "type", text: "Olive Owner", font: "Caveat" };

test("a member saves a signature, replaces and forgets it; nobody else reads it, and it is encrypted at rest", async () => {
  expect((await call("GET")).status).toBe(404);
  expect(await call("PUT", drawn)).toMatchObject({ status: 200, body: drawn });
  expect(await call("PUT", typed)).toMatchObject({ status: 200, body: typed });
  expect(await call("GET")).toMatchObject({ status: 200, body: typed });
  const other = await createOrganization(app.deps, {
    name: "Other Ltd",
    owner: { email: "other@example.com", name: "Otto Other", password: null },
  });
  expect((await call("GET", undefined, await app.signIn(other.user))).status).toBe(404);
  expect((await app.json("/auth/profile/signature")).status).toBeGreaterThanOrEqual(401);
  const rows = await app.deps.db.read.selectFrom("saved_signatures").selectAll().execute();
  expect(rows).toHaveLength(1);
  expect(JSON.stringify(rows)).not.toContain("Olive");
  expect((await call("DELETE")).status).toBe(204);
  expect((await call("GET")).status).toBe(404);
  expect((await call("DELETE")).status).toBe(204);
});

test("what could not be drawn later is refused", async () => {
  const image = `data:image/png;base64,${Buffer.from("no picture").toString("base64")}`;
  const refused = await call("PUT", { method: "draw", image });
  expect(refused).toMatchObject({ status: 422, body: { errors: [{ pointer: "#/image", code: "format" }] } });
  expect((await call("PUT", { method: "automatic" })).status).toBe(422);
  expect((await call("GET")).status).toBe(404);
});
