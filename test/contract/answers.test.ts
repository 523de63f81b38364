import { once } from "node:events";
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { type AddressInfo, connect } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { endpoints } from "../../server/contract.ts";
import { answerRefused } from "../../server/front-problems.ts";
import { isForAllOrigins } from "../../server/kernel/endpoint.ts";
import { newSecret } from "../../server/kernel/ids.ts";
import { inLanguage } from "../../server/kernel/problem-words.ts";
import { readersLanguage } from "../../server/kernel/readers-language.ts";
import { readBytes } from "../../server/kernel/request-body.ts";
import { type CallOptions, startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { publishTemplate } from "../harness/envelopes.ts";
import { problemOf, raw } from "../harness/http.ts";

/** Whatever goes wrong, and wherever: a problem document with the id of the request, in the reader's language. */

let app: TestAppliance;
let template: string;
let browser: Pick<CallOptions, "key" | "headers">;
beforeAll(async () => {
  app = await startAppliance();
  template = await publishTemplate(app);
  browser = { key: null, headers: { cookie: await app.signIn(), origin: new URL(app.url).origin } };
});
afterAll(() => app.stop());

const end = "host: x\r\nconnection: close\r\n";
describe("what is no request that the API could read", () => {
  it.each([
    ["a request line of nonsense", 400, "malformed-request", "NONSENSE\r\n\r\n"],
    ["a header without a name", 400, "malformed-request", `GET /v1/templates HTTP/1.1\r\n${end}: x\r\n\r\n`],
    ["no Host", 400, "malformed-request", "GET /v1/templates HTTP/1.1\r\nconnection: close\r\n\r\n"],
    [
      "two lengths",
      400,
      "malformed-request",
      `POST /v1/templates HTTP/1.1\r\n${end}content-length: 1\r\ncontent-length: 2\r\n\r\nx`,
    ],
    ["headers of 20 KB", 431, "headers-too-large", `GET / HTTP/1.1\r\n${end}x: ${"a".repeat(20_000)}\r\n\r\n`],
    ["an expectation", 417, "expectation-failed", `GET /v1/templates HTTP/1.1\r\n${end}expect: wonders\r\n\r\n`],
  ])("%s is answered %i %s", async (_what, status, code, text) => {
    const answer = await raw(app.url, text);
    expect(problemOf(answer)).toMatchObject({ status, code });
    expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(problemOf(answer).type).toBe(`${app.url}/errors/${code}`);
  });

  it("is answered in the same way on the admin socket", async () => {
    const call = httpRequest({
      socketPath: app.config.adminSocket,
      path: "/local/status",
      headers: { expect: "wonders" },
    });
    const [response] = await once(call.end(), "response");
    expect(response.statusCode).toBe(417);
    expect(response.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
    response.resume();
  });
});

it("nonsense behind a pipelined request does not get into an answer that is under way", async () => {
  const slow = createServer();
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    if (request.url !== "/slow") return void response.end("second");
    response.writeHead(200, { "content-length": "10" });
    response.write("AAAAA");
  };
  slow.on("request", listener);
  answerRefused(
    slow,
    () => undefined,
    () => "http://signet.test",
  );
  slow.listen(0, "127.0.0.1");
  await once(slow, "listening");
  const url = `http://127.0.0.1:${(slow.address() as AddressInfo).port}`;
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let text = "";
  socket
    .on("error", () => undefined)
    .on("data", (chunk) => {
      text += chunk;
    });
  socket.write("GET /slow HTTP/1.1\r\nhost: x\r\n\r\nGET /two HTTP/1.1\r\nhost: x\r\n\r\n");
  await expect.poll(() => text).toMatch(/AAAAA$/);
  socket.write("nonsense\r\n\r\n");
  await once(socket, "close");
  expect(text).toMatch(/\r\n\r\nAAAAA$/);
  slow.close();
});

describe("a range behind the end of a file", () => {
  it("is a problem that is not kept, with the size of the file", async () => {
    const headers = { range: "bytes=99999999-" };
    const answer = await app.json(`/v1/templates/${template}/versions/1/document`, { headers });
    expect(problemOf(answer)).toMatchObject({ status: 416, code: "range-not-satisfiable" });
    expect(answer.headers.get("content-range")).toMatch(/^bytes \*\/\d+$/);
    const shared = await app.json("/.well-known/svc/certificates.pem", { key: null, headers });
    expect(problemOf(shared).status).toBe(416);
    expect(shared.headers.get("cache-control")).toBe("no-store");
  });
});

const taking = endpoints
  .filter(({ body, credential }) => body && (credential === "key" || credential === "public"))
  .map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const);
it.each(taking)("%s takes no packed body", async (_name, { method, path: route, body }) => {
  const type =
    body?.kind === "raw"
      ? Object.keys(body.types)[0]
      : body?.kind === "multipart"
        ? "multipart/form-data; boundary=x"
        : "application/json";
  const target = route.replaceAll(/\{\w+\}/g, "x");
  const headers = { "content-type": type ?? "", "content-encoding": "gzip", origin: new URL(app.url).origin };
  const answer = await app.json(target, { method, body: gzipSync('{"name":"x"}'), headers });
  expect(problemOf(answer)).toMatchObject({ status: 415, code: "unsupported-media-type" });
  expect(answer.headers.get("accept-encoding")).toBe("identity");
});

const shared = endpoints
  .filter(({ path }) => isForAllOrigins(path))
  .map(({ method, path: route }) => [method, route] as const);
it.each(shared)("%s %s shows pages elsewhere its headers", async (method, route) => {
  const headers = { origin: "https://elsewhere.example" };
  const answer = await app.call(route.replaceAll(/\{\w+\}/g, "1"), { key: null, method, headers });
  await answer.arrayBuffer();
  const exposed = (answer.headers.get("access-control-expose-headers") ?? "").split(", ");
  for (const [name] of answer.headers) {
    if (/^(ratelimit-|retry-after|x-request-id|etag|content-disposition|content-range)/.test(name))
      expect(exposed).toContain(name);
  }
  expect(exposed).toContain("retry-after");
});

it.each(["/v1/signing/exchange", "/v1/viewer/exchange"])("%s tells how many failures are left", async (target) => {
  const prefix = target.includes("viewer") ? "svcv" : "svcs";
  const left = [];
  for (let call = 0; call < 2; call++) {
    const { headers, status } = await app.json(target, { key: null, json: { token: newSecret(prefix) } });
    expect(status).toBe(401);
    expect(headers.get("ratelimit-limit")).toBe("30");
    expect(Number(headers.get("ratelimit-reset"))).toBeGreaterThan(0);
    left.push(Number(headers.get("ratelimit-remaining")));
  }
  expect(left).toEqual([29, 28]);
});

it("API keys come in pages", async () => {
  for (let key = 0; key < 3; key++) await app.createKey("test");
  type Page = { data: { id: string }[]; hasMore: boolean; nextCursor: string | null };
  const list = async (query: string) => (await app.json(`/v1/api-keys?${query}`, browser)).body as Page;
  const all = (await list("limit=100")).data.map(({ id }) => id);
  expect(all).toHaveLength(5);
  const first = await list("limit=2");
  const second = await list(`limit=2&cursor=${first.nextCursor}`);
  const third = await list(`limit=2&cursor=${second.nextCursor}`);
  expect([...first.data, ...second.data, ...third.data].map(({ id }) => id)).toEqual(all);
  expect([first.hasMore, second.hasMore, third.hasMore, third.nextCursor]).toEqual([true, true, false, null]);
  expect(problemOf(await app.json("/v1/api-keys?limit=0", browser)).status).toBe(422);
  expect(problemOf(await app.json("/v1/api-keys?cursor=x", browser)).status).toBe(422);
});

describe("a body that comes in drops", () => {
  const pace = { graceMs: 300, bytesPerSecond: 1000 };
  async function upload(everyMs: number, bytes: number, pieces: number): Promise<string> {
    const server = createServer((request, response) => {
      readBytes(request, 1_000_000, pace).then(
        (body) => response.end(`${body.length}`),
        (error: { code: string }) => response.end(error.code),
      );
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const call = httpRequest({ port: (server.address() as AddressInfo).port, method: "POST", agent: false });
    call.on("error", () => undefined);
    let sent = 0;
    const timer = setInterval(() => {
      if (sent++ < pieces) call.write("x".repeat(bytes));
      else call.end();
    }, everyMs);
    const [response] = await once(call, "response");
    let text = "";
    for await (const chunk of response) text += chunk;
    clearInterval(timer);
    call.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    return text;
  }

  it("is not waited for", async () => {
    expect(await upload(50, 1, 1000)).toBe("request-timeout");
  });

  it("is taken when it keeps a pace, however long it lasts", async () => {
    expect(await upload(50, 1000, 20)).toBe("20000");
  });
});

describe("the language of what an error says", () => {
  it.each([
    ["", "en"],
    ["de", "de"],
    ["de-AT,de;q=0.9,en;q=0.5", "de"],
    ["en-GB,de;q=0.9", "en"],
    ["fr, de;q=0.3, en;q=0.2", "de"],
    ["fr", "en"],
    ["de;q=0, *", "en"],
    [",;;q=", "en"],
  ])("for %j is %s", (header, language) => {
    expect(readersLanguage(header)).toBe(language);
  });

  it("is told in Content-Language and Vary, and is English when nobody asks", async () => {
    const ask = (language?: string) =>
      app.json(
        "/v1/envelopes?limit=0&nonsense=1&status=x",
        language === undefined ? {} : { headers: { "accept-language": language } },
      );
    const [english, german] = [await ask("en"), await ask("de-CH, en;q=0.5")];
    expect(german.headers.get("content-language")).toBe("de");
    expect(english.headers.get("content-language")).toBe("en");
    for (const { headers } of [english, german]) expect(headers.get("vary")).toContain("accept-language");
    expect(problemOf(english).detail).toBe("The request has 3 invalid members: see `errors`.");
    expect(problemOf(german).detail).toBe("Die Anfrage hat 3 ungültige Angaben: siehe `errors`.");
    expect(problemOf(german).title).toBe("Ungültige Angaben");
    expect(
      problemOf(german)
        .errors?.map(({ detail }) => detail)
        .toSorted(),
    ).toEqual([
      "Der Parameter `nonsense` ist hier nicht bekannt.",
      "Der Wert muss mindestens 1 sein.",
      "Erlaubt sind `rendering`, `sent`, `completed`, `declined`, `voided`, `expired`.",
    ]);
  });

  it.each([
    ["`The document` is required.", "`The document` fehlt."],
    ["`nothing` is not a member that is known here.", "`nothing` ist hier nicht bekannt."],
    ["At most 8 event streams may be open.", "At most 8 event streams may be open."],
    ["At most 12 characters.", "Höchstens 12 Zeichen."],
    ["Expected string, got nothing.", "Erwartet wird string, gesendet wurde nichts."],
  ])("leaves what somebody wrote as it is: %s", (english, german) => {
    expect(inLanguage("de", english)).toBe(german);
  });

  it("stays that of the first answer when it is repeated", async () => {
    const call = (language: string) =>
      app.json("/v1/templates", { json: {}, headers: { "idempotency-key": "language", "accept-language": language } });
    const [first, again] = [await call("de"), await call("en")];
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(problemOf(first).detail).toBe("`name` fehlt.");
    expect(again.body).toEqual(first.body);
    expect(again.headers.get("content-language")).toBe("de");
  });

  it.each([
    ["hello", "Das ist keine PDF-Datei."],
    ["%PDF-1.7 hello", /^Die PDF-Datei ist beschädigt und konnte nicht repariert werden: [^:]+\.$/],
  ])("is that of the reason why a file is refused: %s", async (body, german) => {
    const answer = await app.json(`/v1/templates/${template}/files`, {
      method: "POST",
      body,
      headers: { "content-type": "application/pdf", "accept-language": "de" },
    });
    expect(answer.headers.get("content-language")).toBe("de");
    expect(problemOf(answer)).toMatchObject({ code: "invalid-document", title: "Ungültiges Dokument" });
    expect(problemOf(answer).detail).toMatch(german);
    expect(problemOf(answer).errors?.[0]?.detail).toBe(problemOf(answer).detail);
  });

  it("is English, as a whole, when one of its sentences cannot be told in German", async () => {
    // A name that is longer than any of ours is not looked up.
    const answer = await app.json("/v1/templates", {
      json: { ["x".repeat(1000)]: 1 },
      headers: { "accept-language": "de" },
    });
    expect(answer.headers.get("content-language")).toBe("en");
    expect(problemOf(answer)).toMatchObject({ title: "Validation failed", status: 422 });
    expect(problemOf(answer).errors?.map(({ detail }) => detail)).toContain("`name` is required.");
  });
});

it("HTTP/2 says the same of an expectation", async () => {
  const secure = await startAppliance({ env: { SIGNET_HOST: "0.0.0.0" } });
  const session = connectHttp2(`https://127.0.0.1:${new URL(secure.url).port}`, { rejectUnauthorized: false });
  const stream = session.request({ ":path": "/v1/templates", expect: "wonders" });
  const [headers] = await once(stream, "response");
  expect(headers).toMatchObject({ ":status": 417, "content-type": "application/problem+json; charset=utf-8" });
  expect(headers["x-request-id"]).toMatch(/^req_/);
  stream.close();
  session.close();
  await secure.stop();
});
