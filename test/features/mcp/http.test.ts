import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { Envelope } from "../../../server/features/envelopes/contract.ts";
import { mostMessageBytes } from "../../../server/features/mcp/contract.ts";
import { newSecret } from "../../../server/kernel/ids.ts";
import { createLog } from "../../../server/kernel/log.ts";
import { type CallOptions, startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { envelopeInput, publishTemplate as publishPlainTemplate, trailOf } from "../../harness/envelopes.ts";
import { problemOf } from "../../harness/http.ts";
import { ok, publishTemplate, send } from "../../harness/scenario.ts";

/** `/mcp` as HTTP: who is let in, and what is answered without a client of the SDK. */

let app: TestAppliance;
beforeAll(async () => {
  const log = createLog("debug", { write: (line: string) => void lines.push(line) });
  app = await startAppliance({ log, env: { SIGNET_TRUSTED_PROXIES: "127.0.0.1" } });
});
afterAll(() => app.stop());

const lines: string[] = [];
const Line = z.object({ requestId: z.string(), route: z.string(), status: z.int() });
/** The requests to this route that were answered or cut off. */
const logged = (route: string) =>
  lines.flatMap((line) => Line.safeParse(JSON.parse(line)).data ?? []).filter((one) => one.route === route);

const listTools = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
const accept = { accept: "application/json, text/event-stream" };
const post = (options: CallOptions = {}) =>
  app.json("/mcp", { json: listTools, ...options, headers: { ...accept, ...options.headers } });
const Listed = z.object({ result: z.object({ tools: z.array(z.object({ name: z.string() })).min(1) }) });

test("answers a message with JSON, keeps no session and shows nothing to pages elsewhere", async () => {
  const { status, headers, body } = await post();
  expect(status).toBe(200);
  expect(Listed.parse(body).result.tools.map(({ name }) => name)).toContain("find_templates");
  expect(headers.get("content-type")).toBe("application/json");
  expect(headers.get("mcp-session-id")).toBeNull();
  expect(headers.get("cache-control")).toBe("no-store");
  expect(headers.get("access-control-allow-origin")).toBeNull();
  const taken = await app.call("/mcp", {
    json: { jsonrpc: "2.0", method: "notifications/initialized" },
    headers: accept,
  });
  expect([taken.status, await taken.text()]).toEqual([202, ""]);
});

test("takes a key however it is sent, and nothing else", async () => {
  const byHeader = await post({ key: null, headers: { "x-api-key": app.keys.live } });
  expect(Listed.safeParse(byHeader.body).success).toBe(true);
  for (const key of [null, { bearer: newSecret("svc_live") }, { bearer: `${app.keys.live}x` }]) {
    const answer = await post({ key });
    expect(problemOf(answer)).toMatchObject({ status: 401, code: "unauthorized" });
    expect(answer.headers.get("www-authenticate")).toBe("Bearer");
  }
  // Somebody who is signed in at the dashboard holds no key.
  const headers = { cookie: await app.signIn(), origin: app.url };
  expect(problemOf(await post({ key: null, headers }))).toMatchObject({ status: 401 });
});

test("refuses pages of other sites, whatever key they hold", async () => {
  for (const origin of ["https://evil.example", "null", `${app.url}.evil.example`, app.url.replace("http", "https")])
    expect(problemOf(await post({ headers: { origin } })), origin).toMatchObject({
      status: 403,
      code: "csrf-rejected",
    });
  expect((await post({ headers: { origin: new URL(app.url).origin } })).status).toBe(200);
});

test("is one address with one method, and takes messages of a bounded size", async () => {
  for (const method of ["GET", "DELETE", "PUT"]) {
    const answer = await app.json("/mcp", { method, headers: accept });
    expect(problemOf(answer)).toMatchObject({ status: 405 });
    expect(answer.headers.get("allow")).toBe("POST");
  }
  const large = { ...listTools, params: { x: "x".repeat(mostMessageBytes) } };
  expect(problemOf(await post({ json: large }))).toMatchObject({ status: 413, code: "payload-too-large" });
  for (const json of [[listTools], {}, "x", null, { jsonrpc: "1.0" }])
    expect(problemOf(await post({ json })), JSON.stringify(json)).toMatchObject({ status: 422 });
  const form = { body: "a=b", headers: { "content-type": "application/x-www-form-urlencoded" } };
  expect(problemOf(await app.json("/mcp", form))).toMatchObject({ status: 415 });
});

test("says in the protocol's own words what it does not speak", async () => {
  const Failure = z.object({ jsonrpc: z.literal("2.0"), error: z.object({ code: z.int(), message: z.string() }) });
  const version = "io.modelcontextprotocol/protocolVersion";
  const future = "2099-01-01";
  const _meta = {
    [version]: future,
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const json = { ...listTools, params: { _meta } };
  const unspoken = await post({ json, headers: { "mcp-protocol-version": future, "mcp-method": "tools/list" } });
  expect(unspoken.status).toBe(400);
  expect(Failure.parse(unspoken.body).error.message).toContain("Unsupported protocol version");
  // Nobody is told of changes by a stream: there is nothing that an answer would wait for.
  const spoken = "2026-07-28";
  const listening = {
    ...json,
    method: "subscriptions/listen",
    params: { notifications: {}, _meta: { ..._meta, [version]: spoken } },
  };
  const headers = { "mcp-protocol-version": spoken, "mcp-method": "subscriptions/listen" };
  expect(Failure.parse((await post({ json: listening, headers })).body).error.message).toContain("limit");
  const unknown = await post({ json: { jsonrpc: "2.0", id: 2, method: "sampling/createMessage" } });
  expect(Failure.parse(unknown.body).error.code).toBe(-32601);
});

test("only a few documents are read at a time; further requests are told when to retry", async () => {
  const { id } = await send(app, await publishTemplate(app));
  const params = { name: "download_document", arguments: { envelope: id, version: "original" } };
  const json = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
  const answers = await Promise.all(Array.from({ length: 30 }, () => post({ json })));
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(0);
  for (const answer of refused) expect(answer.headers.get("retry-after")).toBe("2");
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(30 - refused.length);
  // Their places are free again.
  expect((await post({ json })).status).toBe(200);
});

test("a client that leaves while it waits takes its stream along", async () => {
  const { id } = await send(app, await publishTemplate(app));
  const call = {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "follow_envelope", arguments: { envelope: id, seq: 100, seconds: 25 } },
  };
  let begun = 0;
  const count = (message: unknown) => {
    const { request } = Begun.parse(message);
    if (request.url === `/v1/envelopes/${id}/events/stream`) begun += 1;
  };
  subscribe("http.server.request.start", count);
  onTestFinished(() => void unsubscribe("http.server.request.start", count));
  const { streamsPerCaller: most } = app.config;
  // As many as a key may hold, three times over: whoever is one too many is refused and answered at once.
  for (let round = 1; round <= 3; round++) {
    const leaving = new AbortController();
    const options = { json: call, headers: accept, signal: leaving.signal };
    const waits = Promise.allSettled(Array.from({ length: most }, () => app.call("/mcp", options)));
    await expect.poll(() => begun).toBe(round * most);
    await ok(app, 200, `/v1/envelopes/${id}`);
    leaving.abort();
    expect((await waits).map(({ status }) => status)).toEqual(Array(most).fill("rejected"));
    // Each response that is closed is logged, and gives its place back.
    await expect.poll(() => logged("/v1/envelopes/{id}/events/stream").length).toBe(round * most);
  }
});
const Begun = z.object({ request: z.object({ url: z.string() }) });

test("what a tool calls is logged under the id of its request, and recorded with the address of the client", async () => {
  const envelope = envelopeInput(await publishPlainTemplate(app));
  const call = { name: "create_envelope", arguments: { envelope, idempotencyKey: "recorded-once" } };
  const headers = {
    ...accept,
    "x-request-id": "mine-12345",
    "x-forwarded-for": "192.0.2.77",
    "user-agent": "assistant",
  };
  const json = { jsonrpc: "2.0", id: 1, method: "tools/call", params: call };
  const { body } = await app.json("/mcp", { json, headers });
  const { structuredContent } = z.object({ result: z.object({ structuredContent: Envelope }) }).parse(body).result;
  const mine = ({ requestId }: z.infer<typeof Line>) => requestId === "mine-12345";
  expect([...logged("/v1/envelopes"), ...logged("/mcp")].filter(mine).map(({ status }) => status)).toEqual([201, 200]);
  const [created] = (await trailOf(app, structuredContent.id)).data;
  expect(created).toMatchObject({ type: "envelope.created", ip: "192.0.2.77", userAgent: "assistant" });
});
