import { afterAll, beforeAll, expect, test } from "vitest";
import { endpoints } from "../../../server/contract.ts";
import { needsOrigin } from "../../../server/kernel/endpoint.ts";
import type { TestAppliance } from "../../harness/appliance.ts";
import { auth, problem, startSignIn } from "../../harness/sign-in.ts";

let app: TestAppliance;
let cookie: string;
beforeAll(async () => {
  app = await startSignIn();
  cookie = await app.signIn();
});
afterAll(() => app.stop());

const changing = endpoints.filter(needsOrigin);
const address = (path: string) => path.replaceAll(/\{\w+\}/g, "x");

test("every operation that changes something and may carry the cookie is in the list", () => {
  const ids = changing.map(({ id }) => id);
  for (const id of ["signInWithPassword", "signOut", "deleteSessions", "createApiKey", "createEnvelope"]) {
    expect(ids).toContain(id);
  }
  expect(changing.every(({ method }) => method !== "GET")).toBe(true);
  const left = endpoints.filter((endpoint) => endpoint.path.startsWith("/auth/") && !needsOrigin(endpoint));
  expect(left.every(({ method }) => method === "GET")).toBe(true);
});

test.each(changing.map(({ method, path }) => [method, path]))(
  "%s %s is refused from other sites",
  async (method, path) => {
    for (const origin of [
      null,
      "null",
      "https://evil.example",
      `${app.url}.evil.example`,
      app.url.replace("http", "https"),
    ]) {
      const answer = await auth(app, address(path), method === "DELETE" ? undefined : {}, { method, cookie, origin });
      expect([origin, answer.status, problem(answer).code]).toEqual([origin, 403, "csrf-rejected"]);
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
  },
);

test("a page of another site cannot sign somebody in without a cookie either", async () => {
  for (const path of ["/auth/sign-in/password", "/auth/sign-in/code", "/auth/sign-in/magic"]) {
    expect(problem(await auth(app, path, {}, { origin: "https://evil.example" })).code).toBe("csrf-rejected");
  }
});
