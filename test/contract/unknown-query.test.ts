import { once } from "node:events";
import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { endpoints } from "../../server/contract.ts";
import type { EndpointSpec } from "../../server/kernel/endpoint.ts";
import { Problem } from "../../server/kernel/problem.ts";
import { localEndpoints } from "../../server/local-contract.ts";
import { type CallOptions, startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { publishTemplate, sentEnvelope, trailOf } from "../harness/envelopes.ts";
import { placesOf, problemOf } from "../harness/http.ts";
import { exchange, ok } from "../harness/scenario.ts";
import { enterAsViewer } from "../harness/viewers.ts";

/** A misspelt parameter must not silently mean "everything": every operation refuses what it does not know. */

let app: TestAppliance;
let ids: Record<string, string>;
const credentials: Partial<Record<EndpointSpec["credential"], Pick<CallOptions, "key" | "headers">>> = {};
beforeAll(async () => {
  app = await startAppliance();
  const template = await publishTemplate(app);
  const viewers = [{ email: "vi@example.com" }];
  const envelope = await sentEnvelope(app, template, { viewers });
  const link = (await app.mail()).find(({ to }) => to.email === "ada@example.com")?.link ?? "";
  const { accessToken } = await exchange(app, new URL(link).hash.slice(1));
  const browser = { key: null, headers: { cookie: await app.signIn(), origin: new URL(app.url).origin } };
  credentials.key = {};
  credentials.public = { key: null, headers: { origin: new URL(app.url).origin } };
  credentials.dashboard = browser;
  credentials.person = browser;
  credentials.signer = { key: { bearer: accessToken } };
  credentials.viewer = { key: { bearer: await enterAsViewer(app, "vi@example.com") } };
  const [event] = (await trailOf(app, envelope.id)).data;
  const hook = await ok(app, 201, "/v1/webhook-endpoints", { json: { url: "https://hooks.example.com/" } });
  const { id: endpoint } = z.object({ id: z.string() }).parse(hook.body);
  ids = {
    template,
    envelope: envelope.id,
    endpoint,
    event: event?.id ?? "",
    recipient: envelope.recipients[0]?.id ?? "",
  };
});
afterAll(() => app.stop());

const examples: Record<string, string> = { version: "latest", sequence: "1", provider: "google" };
function pathOf({ path }: EndpointSpec): string {
  const kind = /\/(template|envelope|event|webhook-endpoint)s\//.exec(path)?.[1];
  const id = kind === undefined ? "x_1" : ids[kind.replace("webhook-", "")];
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    name === "id" ? (id ?? "") : (examples[name] ?? ids[name] ?? "x_1"),
  );
}

const strangers = endpoints.filter(({ foreignQuery }) => foreignQuery);
const ours = endpoints
  .filter((one) => !strangers.includes(one))
  .map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const);

async function ask(endpoint: EndpointSpec, query: string): Promise<Problem> {
  const { method, body } = endpoint;
  const call: CallOptions = { method, ...credentials[endpoint.credential] };
  if (body?.kind === "json" && !body.optional) call.json = {};
  if (body?.kind === "raw") {
    call.body = "x";
    call.headers = { ...call.headers, "content-type": Object.keys(body.types)[0] ?? "" };
  }
  if (body?.kind === "multipart") call.body = new FormData();
  // A stream that began instead would not end.
  call.signal = AbortSignal.timeout(20_000);
  return problemOf(await app.json(`${pathOf(endpoint)}?${query}`, call));
}

describe.each(ours)("%s", (_name, endpoint) => {
  it.each(["nonsense=1", "constructor=1", "__proto__=1"])("refuses ?%s and names it", async (query) => {
    const problem = await ask(endpoint, query);
    // A resource that the path names and that is not there comes first (contract §1, order of checks).
    if (problem.code === "not-found") return expect(endpoint.path).toContain("{");
    expect(problem, JSON.stringify(problem)).toMatchObject({ status: 422, code: "validation-failed" });
    expect(placesOf(problem)).toContain(`?${query.split("=")[0]} unknown`);
  });
});

/** A token is unknown, and a page to go back to is ignored, whatever they are. */
const tolerant = ["access_token", "returnTo"];
const parameters = ours.flatMap(([name, endpoint]) =>
  Object.keys(endpoint.query instanceof z.ZodObject ? endpoint.query.shape : {})
    .filter((parameter) => !tolerant.includes(parameter))
    .map((parameter) => [name, parameter, endpoint] as const),
);
it.each(parameters)("%s refuses control characters in ?%s", async (_name, parameter, endpoint) => {
  for (const character of ["%00", "%07", "%C2%9B"]) {
    const problem = await ask(endpoint, `${parameter}=a${character}b`);
    expect(problem, JSON.stringify(problem)).toMatchObject({ status: 422, code: "validation-failed" });
    expect(placesOf(problem).map((place) => place.split(" ")[0])).toContain(`?${parameter}`);
  }
});

it("looks at all of them but for single things that are not there", async () => {
  const missing: string[] = [];
  for (const [name, endpoint] of ours) {
    const { status } = await app.json(`${pathOf(endpoint)}?nonsense=1`, {
      method: endpoint.method,
      ...credentials[endpoint.credential],
      signal: AbortSignal.timeout(20_000),
    });
    if (status === 404) missing.push(name);
  }
  expect(missing).toEqual([
    "GET /v1/templates/{id}/files/{file}/proposals",
    "GET /v1/envelopes/{id}/attachments/{attachment}",
    "PATCH /auth/organization/members/{id}",
    "DELETE /auth/organization/members/{id}",
    "POST /auth/organization/invitations/{id}/resend",
    "DELETE /auth/organization/invitations/{id}",
    "PATCH /auth/passkeys/{id}",
  ]);
});

it("what an identity provider sends along is its own matter", async () => {
  expect(strangers.map(({ id }) => id)).toEqual(["finishSocialSignIn"]);
  const target = "/auth/social/google/callback?state=x&session_state=1&authuser=0&prompt=none&scope=openid";
  const answer = await app.call(target, { key: null });
  expect([302, 404]).toContain(answer.status);
});

it("the mode of a key may be repeated, and is ignored", async () => {
  const json = { template: ids.template, recipients: [] };
  const answer = await app.json("/v1/envelopes?test_mode=1", { json });
  expect(placesOf(problemOf(answer))).not.toContain("?test_mode unknown");
});

describe.each(localEndpoints.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const))(
  "%s",
  (_name, { method, path, body }) => {
    it("refuses a parameter that it does not know", async () => {
      const call = request({
        socketPath: app.config.adminSocket,
        path: `${path.replaceAll(/\{\w+\}/g, "x")}?nonsense=1`,
        method,
        agent: false,
        headers: body ? { "content-type": "application/json" } : {},
      }).end(body ? "{}" : undefined);
      const [response] = await once(call, "response");
      let text = "";
      for await (const chunk of response) text += chunk;
      const problem = Problem.parse(JSON.parse(text));
      if (problem.code === "not-found") return expect(path).toContain("{");
      expect(placesOf(problem)).toContain("?nonsense unknown");
    });
  },
);
