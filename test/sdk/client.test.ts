import { createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { inspect } from "node:util";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { type InstalledSdk, installSdk, method } from "../harness/sdk.ts";

/** The client against a server that fails as networks and busy servers do; webhooks; what a browser may not do. */

let sdk: InstalledSdk;
let api: Awaited<ReturnType<InstalledSdk["load"]>>;
beforeAll(async () => {
  sdk = await installSdk();
  api = await sdk.load();
});
afterAll(async () => await sdk?.remove());

type Seen = { method: string; url: string; headers: IncomingMessage["headers"]; body: string; at: number };
type Answer = (response: ServerResponse) => unknown;
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  vi.unstubAllGlobals();
});

/** A server that gives each request the next of these answers, and the last of them to all further ones. */
async function serverWith(...answers: Answer[]): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const { method = "", url = "", headers } = request;
    seen.push({ method, url, headers, body, at: performance.now() });
    answers[Math.min(seen.length, answers.length) - 1]?.(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return { url: `http://127.0.0.1:${address.port}`, seen };
}

const ok =
  (body: unknown, status = 200): Answer =>
  (response) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
const problem =
  (status: number, code: string, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response
      .writeHead(status, { "content-type": "application/problem+json", "x-request-id": "req_12345678", ...headers })
      .end(JSON.stringify({ status, code, title: code, detail: `It is ${code}.`, requestId: "req_12345678" }));
const dropped: Answer = (response) => response.socket?.destroy();
const silent: Answer = () => undefined;

const client = (url: string, options: { timeoutMs?: number; maxRetries?: number } = {}) =>
  new api.Signet({ baseUrl: url, apiKey: "svc_test_key", ...options });
/** What a call is refused with. */
const refusal = async (call: unknown): Promise<unknown> => {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new Error("the call was not refused");
};

/** What a method gives that can be iterated over. */
function entriesOf(value: unknown): AsyncIterable<unknown> {
  if (isIterable(value)) return value;
  throw new Error("this cannot be iterated over");
}
const isIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === "object" && value !== null && Symbol.asyncIterator in value;

test("what creates something is tried again with its key: after 429, 503 and a lost connection", async () => {
  const { url, seen } = await serverWith(
    problem(429, "rate-limited", { "retry-after": "1" }),
    problem(503, "service-unavailable", { "retry-after": "0" }),
    dropped,
    ok({ id: "env_1" }, 201),
  );
  const envelope = await method(client(url), "envelopes.create")({ template: "tpl_1", recipients: [] });
  expect(envelope).toEqual({ id: "env_1" });
  expect(seen.map(({ method: verb, url: path }) => `${verb} ${path}`)).toEqual(Array(4).fill("POST /v1/envelopes"));
  expect(new Set(seen.map(({ headers }) => headers["idempotency-key"])).size).toBe(1);
  expect(seen[0]?.headers["idempotency-key"]).toMatch(/^[0-9a-f-]{36}$/);
  expect(seen[3]?.body).toBe('{"template":"tpl_1","recipients":[]}');
  expect(seen[3]?.headers.authorization).toBe("Bearer svc_test_key");
  const times = seen.map(({ at }) => at);
  expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(990);
  // After a lost connection nobody says how long: half to all of 0.5 s, doubled with each attempt.
  expect((times[3] ?? 0) - (times[2] ?? 0)).toBeGreaterThanOrEqual(990);
});

test("another call has another key, and an answer that is still being made is waited for", async () => {
  const { url, seen } = await serverWith(
    problem(409, "idempotency-in-progress", { "retry-after": "0" }),
    ok({ id: "env_1" }),
  );
  const create = method(client(url), "envelopes.create");
  await create({}, { idempotencyKey: "order 1" });
  await create({});
  await create({});
  const keys = seen.map(({ headers }) => headers["idempotency-key"]);
  expect(keys.slice(0, 2)).toEqual(["order 1", "order 1"]);
  expect(new Set(keys).size).toBe(3);
});

test("what could be done twice is not repeated after a lost connection or a 500, but after 429", async () => {
  const lost = await serverWith(dropped);
  const failure = await refusal(method(client(lost.url), "envelopes.addViewers")("env_1", { viewers: [] }));
  expect(failure).toBeInstanceOf(api.SignetConnectionError);
  expect(lost.seen).toHaveLength(1);
  const failed = await serverWith(problem(500, "internal-error"));
  expect(await refusal(method(client(failed.url), "envelopes.addViewers")("env_1", {}))).toMatchObject({ status: 500 });
  expect(failed.seen).toHaveLength(1);
  const busy = await serverWith(problem(429, "rate-limited", { "retry-after": "0" }), ok({ data: [] }));
  await method(client(busy.url), "envelopes.addViewers")("env_1", { viewers: [] });
  expect(busy.seen).toHaveLength(2);
  const tagged = await serverWith(problem(503, "service-unavailable", { "retry-after": "0" }));
  const save = method(client(tagged.url), "templates.saveDraft");
  expect(await refusal(save("tpl_1", {}, { ifMatch: '"a"' }))).toMatchObject({ status: 503 });
  expect(tagged.seen).toHaveLength(1);
  expect(await refusal(save("tpl_1", {}))).toMatchObject({ status: 503 });
  expect(tagged.seen).toHaveLength(1 + 4);
});

test("a deletion whose answer was lost is done, and one of what is not there is refused", async () => {
  const { url, seen } = await serverWith(dropped, problem(404, "not-found"));
  const remove = method(client(url), "templates.delete");
  expect(await remove("tpl_1")).toBeUndefined();
  expect(seen).toHaveLength(2);
  expect(await refusal(remove("tpl_2"))).toMatchObject({ code: "not-found" });
});

test("a refusal has its code, request and places, and is not repeated; a long wait is the caller's", async () => {
  const { url, seen } = await serverWith((response) =>
    response.writeHead(403, { "content-type": "application/problem+json", "x-request-id": "req_12345678" }).end(
      JSON.stringify({
        code: "forbidden",
        detail: "The key lacks a permission.",
        permission: "envelope:send",
        errors: [{ pointer: "#/a", code: "required", detail: "Say it." }],
        later: "unknown members are no matter",
      }),
    ),
  );
  const error = await refusal(method(client(url), "envelopes.get")("env_1"));
  expect(error).toBeInstanceOf(api.SignetError);
  expect(error).toMatchObject({
    name: "SignetError",
    message: "The key lacks a permission.",
    status: 403,
    code: "forbidden",
    requestId: "req_12345678",
    permission: "envelope:send",
    errors: [{ pointer: "#/a", code: "required" }],
    retryAfter: null,
  });
  expect(seen).toHaveLength(1);
  const hour = await serverWith(problem(429, "rate-limited", { "retry-after": "3600" }));
  expect(await refusal(method(client(hour.url), "envelopes.list")())).toMatchObject({ status: 429, retryAfter: 3600 });
  expect(hour.seen).toHaveLength(1);
  const dated = await serverWith(
    problem(503, "service-unavailable", { "retry-after": new Date(Date.now() + 600_000).toUTCString() }),
  );
  const later = await refusal(method(client(dated.url), "envelopes.list")());
  const seconds = later instanceof api.SignetError ? (later.retryAfter ?? 0) : 0;
  expect(seconds).toBeGreaterThan(590);
  expect(seconds).toBeLessThanOrEqual(601);
});

test("what is no answer of Signet is told apart: a page, a redirect, silence, nobody", async () => {
  const page: Answer = (response) => response.writeHead(200, { "content-type": "text/html" }).end("<p>Log in</p>");
  const proxy = await serverWith(page);
  const unexpected = { code: "unexpected-answer", requestId: null };
  expect(await refusal(method(client(proxy.url), "envelopes.get")("env_1"))).toMatchObject(unexpected);
  expect(await refusal(method(client(proxy.url), "envelopes.list")())).toMatchObject(unexpected);
  const other = await serverWith(ok({}));
  const moved = await serverWith((response) => response.writeHead(302, { location: other.url }).end());
  expect(await refusal(method(client(moved.url), "envelopes.get")("env_1"))).toMatchObject({
    ...unexpected,
    status: 302,
  });
  expect(other.seen).toEqual([]);
  const mute = await serverWith(silent);
  const late = await refusal(method(client(mute.url, { timeoutMs: 100, maxRetries: 1 }), "envelopes.get")("env_1"));
  expect(late).toMatchObject({ name: "SignetConnectionError", isTimeout: true });
  expect(mute.seen).toHaveLength(2);
  const nobody = await refusal(method(client("http://127.0.0.1:9", { maxRetries: 0 }), "envelopes.get")("env_1"));
  expect(nobody).toMatchObject({ name: "SignetConnectionError", isTimeout: false });
});

test("the caller's signal stops a call at once, also while it waits", async () => {
  const mute = await serverWith(silent);
  const stop = new AbortController();
  const call = method(client(mute.url), "envelopes.get")("env_1", { signal: stop.signal });
  await vi.waitFor(() => expect(mute.seen).toHaveLength(1));
  stop.abort(new Error("not needed any more"));
  await expect(call).rejects.toThrow("not needed any more");
  const busy = await serverWith(problem(429, "rate-limited", { "retry-after": "50" }));
  const again = new AbortController();
  const waiting = method(client(busy.url), "envelopes.get")("env_1", { signal: again.signal });
  await vi.waitFor(() => expect(busy.seen).toHaveLength(1));
  again.abort();
  expect(await refusal(waiting)).toMatchObject({ name: "AbortError" });
});

test("a mistake in a call is told before anything is sent, and the key is never shown", async () => {
  const { url, seen } = await serverWith(ok({}));
  const signet = client(url);
  for (const [name, args, says] of [
    ["envelopes.create", [{}, { dry_run: true }], /no option dry_run/],
    ["envelopes.get", [], /id is missing/],
    ["envelopes.get", [".."], /id is missing/],
    ["envelopes.get", ["env_1", {}, {}], /fewer arguments/],
    ["envelopes.create", [{}, { idempotencyKey: "ä" }], /printable ASCII/],
    ["templates.uploadFile", ["tpl_1", "agreement.pdf"], /must be a Blob/],
  ] as const)
    expect(await refusal(method(signet, name)(...args))).toMatchObject({ message: expect.stringMatching(says) });
  expect(seen).toEqual([]);
  expect(inspect(signet, { depth: 9, showHidden: true })).not.toContain("svc_test_key");
  expect(JSON.stringify(signet)).not.toContain("svc_test_key");
  await method(signet, "envelopes.get")("a/../b?c");
  expect(seen[0]?.url).toBe("/v1/envelopes/a%2F..%2Fb%3Fc");
  for (const baseUrl of ["", "sign.example.com", "ftp://sign.example.com", "https://a:b@sign.example.com"])
    expect(() => new api.Signet({ baseUrl })).toThrow("baseUrl must be");
  expect(() => new api.Signet({ baseUrl: url, apiKey: "svc\nkey" })).toThrow("apiKey is not");
});

test("a list goes on from page to page and ends with the failure of one", async () => {
  const { url, seen } = await serverWith(
    ok({ data: [1, 2], hasMore: true, nextCursor: "c1" }),
    ok({ data: [3], hasMore: true, nextCursor: "c2" }),
    problem(403, "forbidden"),
  );
  const found: unknown[] = [];
  const all = async () => {
    const list = method(client(url), "envelopes.list")({ limit: 2, q: "a b", status: undefined });
    for await (const entry of entriesOf(list)) found.push(entry);
  };
  expect(await refusal(all())).toMatchObject({ code: "forbidden" });
  expect(found).toEqual([1, 2, 3]);
  expect(seen.map((one) => one.url.slice("/v1/envelopes".length))).toEqual([
    "?limit=2&q=a+b",
    "?limit=2&q=a+b&cursor=c1",
    "?limit=2&q=a+b&cursor=c2",
  ]);
});

const stream =
  (...pieces: string[]): Answer =>
  async (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    // Each on its way before the next one: breaks may fall anywhere.
    for (const piece of pieces) await new Promise<void>((sent) => response.write(piece, () => sent()));
  };
const thenDrop =
  (answer: Answer): Answer =>
  async (response) => {
    await answer(response);
    response.socket?.destroySoon();
  };

test("a stream that breaks, ends or falls silent is opened again after its last entry, until the server ends it", async () => {
  const { url, seen } = await serverWith(
    thenDrop(
      stream(
        "retry: 10\n\n",
        "id: 1\nda",
        'ta: {"seq":1}\n\n: ping\n\nid: 2\r\ndata: {"seq":\r',
        "\ndata: 2}\r\n\r\n",
        "id: 3\ndata: {",
      ),
    ),
    problem(503, "service-unavailable", { "retry-after": "0" }),
    stream('id: 3\ndata: {"seq":3}\n\n'),
    stream('retry: 10\n\nid: 4\ndata: {"seq":"ü"}\n\n', "event: end\ndata: {}\n\n", 'id: 5\ndata: {"seq":5}\n\n'),
  );
  const entries: unknown[] = [];
  const follow = method(client(url, { timeoutMs: 300 }), "envelopes.follow");
  for await (const entry of entriesOf(follow("env_1", { lastEventId: 0 }))) entries.push(entry);
  expect(entries).toEqual([{ seq: 1 }, { seq: 2 }, { seq: 3 }, { seq: "ü" }]);
  expect(seen.map(({ headers }) => headers["last-event-id"])).toEqual(["0", "2", "2", "3"]);
  expect(seen[0]?.headers.accept).toBe("text/event-stream");
});

test("a stream ends with 204, with a refusal, and when its reader goes or stops it", async () => {
  const follow = async (url: string, options: object, each: (entry: unknown) => boolean) => {
    const entries = method(client(url), "envelopes.follow")("env_1", options);
    for await (const entry of entriesOf(entries)) if (!each(entry)) break;
  };
  const nothing = await serverWith((response) => response.writeHead(204).end());
  await follow(nothing.url, {}, () => expect.unreachable());
  const refused = await serverWith(
    thenDrop(stream('retry: 1\n\nid: 1\ndata: {"seq":1}\n\n')),
    problem(401, "unauthorized"),
  );
  expect(await refusal(follow(refused.url, {}, () => true))).toMatchObject({ code: "unauthorized" });
  let closed = 0;
  const open: Answer = (response) => {
    response.on("close", () => {
      closed += 1;
    });
    return stream('id: 1\ndata: {"seq":1}\n\n')(response);
  };
  const left = await serverWith(open);
  await follow(left.url, {}, () => false);
  await vi.waitFor(() => expect(closed).toBe(1));
  const stop = new AbortController();
  const stopped = follow(left.url, { signal: stop.signal }, () => {
    stop.abort();
    return true;
  });
  expect(await refusal(stopped)).toMatchObject({ name: "AbortError" });
  await vi.waitFor(() => expect(closed).toBe(2));
  const garbled = await serverWith(stream("id: 1\ndata: {\n\n"));
  expect(await refusal(follow(garbled.url, {}, () => true))).toMatchObject({ code: "unexpected-answer" });
});

// The vector of the contract (§17).
const secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const payload = '{"id":"evt_000000000000000000000001","type":"webhook.test"}';
const headers = {
  "webhook-id": "evt_000000000000000000000001",
  "webhook-timestamp": "1795252800",
  "webhook-signature": "v1,xw4cUngyZW7yVS3vs7iNZZUjmnpi5ZrDJH86IdBFZWw=",
};
const always = Number.POSITIVE_INFINITY;

test("a webhook is taken in each form that it may come in", async () => {
  const event = { id: "evt_000000000000000000000001", type: "webhook.test" };
  const given = { payload, headers, secret, toleranceSeconds: always };
  const old = "v1,AAAAUngyZW7yVS3vs7iNZZUjmnpi5ZrDJH86IdBFZWw=";
  for (const more of [
    {},
    { payload: new TextEncoder().encode(payload) },
    { payload: Buffer.from(payload) },
    { headers: new Headers(headers) },
    { headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]])) },
    // While a secret is rotated, and with a kind of signature that this version does not know.
    { headers: { ...headers, "webhook-signature": `v2,abc ${old} ${headers["webhook-signature"]}` } },
  ])
    expect(await api.verifyWebhook({ ...given, ...more })).toEqual(event);
});

test("a webhook that was changed, repeated or made by somebody else is refused, and says why", async () => {
  const given = { payload, headers, secret, toleranceSeconds: always };
  const reasonOf = async (more: object) => {
    const error = await refusal(api.verifyWebhook({ ...given, ...more }));
    expect(error).toBeInstanceOf(api.WebhookVerificationError);
    return error instanceof api.WebhookVerificationError ? error.reason : null;
  };
  const without = (name: keyof typeof headers) => ({ ...headers, [name]: undefined });
  expect(await reasonOf({ payload: payload.replace("test", "tesT") })).toBe("no-match");
  expect(await reasonOf({ payload: `${payload} ` })).toBe("no-match");
  expect(await reasonOf({ secret: `whsec_${Buffer.alloc(32).toString("base64")}` })).toBe("no-match");
  expect(await reasonOf({ headers: { ...headers, "webhook-id": "evt_2" } })).toBe("no-match");
  expect(await reasonOf({ headers: { ...headers, "webhook-timestamp": "1795252801" } })).toBe("no-match");
  for (const signature of ["v1,", "v1,!!!", "v1,AAAA", headers["webhook-signature"].slice(3), "v1", " "])
    expect(await reasonOf({ headers: { ...headers, "webhook-signature": signature } }), signature).toBe("no-match");
  for (const name of Object.keys(headers) as (keyof typeof headers)[])
    expect(await reasonOf({ headers: without(name) })).toBe("missing-header");
  expect(await reasonOf({ headers: { ...headers, "webhook-timestamp": "1795252800.5" } })).toBe("invalid-timestamp");
  for (const wrong of ["", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", "whsec_", "whsec_!"])
    await expect(api.verifyWebhook({ ...given, secret: wrong })).rejects.toThrow(TypeError);

  const signed = (text: string, seconds: number) => {
    const timestamp = String(Math.floor(Date.now() / 1000) + seconds);
    const key = Buffer.from(secret.slice("whsec_".length), "base64");
    const signature = createHmac("sha256", key).update(`evt_1.${timestamp}.${text}`).digest("base64");
    return {
      payload: text,
      headers: { "webhook-id": "evt_1", "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` },
      toleranceSeconds: undefined,
    };
  };
  expect(await reasonOf(signed(payload, -310))).toBe("too-old");
  expect(await reasonOf(signed(payload, 310))).toBe("too-new");
  expect(await reasonOf({ ...signed(payload, -20), toleranceSeconds: 10 })).toBe("too-old");
  for (const seconds of [-290, 290])
    expect(await api.verifyWebhook({ ...given, ...signed(payload, seconds) })).toMatchObject({ type: "webhook.test" });
  for (const text of ["", "[]", '"text"', '{"id":"evt_1"}'])
    expect(await reasonOf(signed(text, 0)), text).toBe("invalid-payload");
});

test("where there is a page, a key throws, and nothing but public verification is sent", async () => {
  const { url, seen } = await serverWith(ok({ keys: [] }));
  vi.stubGlobal("window", {});
  vi.stubGlobal("document", {});
  expect(() => new api.Signet({ baseUrl: url, apiKey: "svc_test_key" })).toThrow("must not be used in a browser");
  const signet = new api.Signet({ baseUrl: url });
  expect(await refusal(method(signet, "envelopes.get")("env_1"))).toMatchObject({
    message: expect.stringContaining("envelopes.get needs an API key"),
  });
  expect(seen).toEqual([]);
  await method(signet, "verification.anchorKeys")();
  expect(seen[0]?.url).toBe("/.well-known/svc/keys.json");
});

test("public operations are sent without the key", async () => {
  const { url, seen } = await serverWith(ok({ status: "unknown" }));
  await method(client(url), "verification.verifyDocument")({ sha256: "0".repeat(64) });
  expect(seen[0]?.headers.authorization).toBeUndefined();
  expect(seen[0]?.headers["user-agent"]).toMatch(/^signet-sdk\/\d/);
});
