import { once } from "node:events";
import { createServer, request, type ServerResponse } from "node:http";
import { connect, createServer as createHttp2, type Http2ServerResponse } from "node:http2";
import type { AddressInfo, Server } from "node:net";
import { afterEach, expect, it } from "vitest";
import { type ErrorCode, problemKinds } from "../../server/kernel/problem.ts";
import { expectDescribed, undescribed, watchAnswers } from "../harness/described.ts";

/** The check that every test of an appliance runs under: what the interface description does not have is found. */

type Reply = { status: number; headers?: Record<string, string>; body?: string };
const requestId = { "x-request-id": "req_12345678" };
const problem = (code: ErrorCode): Reply => ({
  status: problemKinds[code].status,
  headers: { ...requestId, "content-type": "application/problem+json; charset=utf-8" },
  body: JSON.stringify({ ...problemKinds[code], type: "x", code, instance: "x", requestId: "req_12345678" }),
});
const whole = { "content-type": "application/pdf", etag: '"x"', "accept-ranges": "bytes", ...requestId };

const cases: [string, string, Reply, string[]][] = [
  [
    "a success",
    "GET /v1/templates",
    { status: 200, headers: { ...requestId, "content-type": "application/json" } },
    [],
  ],
  ["a problem", "GET /v1/templates/tpl_1", problem("not-found"), []],
  ["HEAD", "HEAD /v1/envelopes/env_1/document", { status: 200, headers: whole }, []],
  ["a page", "GET /sign", { status: 418, headers: { "x-teapot": "1" } }, []],
  ["what is not there", "GET /v1/nothing", problem("not-found"), []],
  ["another method", "PUT /v1/templates", problem("method-not-allowed"), []],
  ["a status", "GET /v1/templates?limit=1", { status: 418 }, ["GET /v1/templates: status 418"]],
  [
    "a header",
    "GET /v1/templates/tpl_1",
    { status: 200, headers: { ...requestId, "X-Teapot": "1" } },
    ["GET /v1/templates/{id}: 200 with the header x-teapot"],
  ],
  [
    "a content type",
    "GET /v1/templates",
    { status: 200, headers: { "content-type": "text/html; charset=utf-8" } },
    ["GET /v1/templates: 200 with the content type text/html"],
  ],
  [
    "a code",
    "DELETE /v1/templates/tpl_1",
    problem("last-owner"),
    ["DELETE /v1/templates/{id}: 409 with the code last-owner"],
  ],
  ["an operation", "GET /v1/nothing", { status: 200 }, ["GET /v1/nothing, which is no operation: status 200"]],
  [
    "a part where there is none",
    "GET /v1/templates",
    { status: 206, headers: requestId },
    ["GET /v1/templates: status 206"],
  ],
];

function send(response: ServerResponse | Http2ServerResponse, { status, headers = {}, body = "" }: Reply): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.statusCode = status;
  response.end(body);
}

let server: Server | undefined;
afterEach(() => server?.close());

/** Listens on a free port that is watched. */
async function watched(made: Server): Promise<number> {
  server = made;
  await once(made.listen(0, "127.0.0.1"), "listening");
  const { port } = made.address() as AddressInfo;
  watchAnswers(port);
  return port;
}

function verdict(port: number): string[] {
  try {
    expectDescribed(port);
    return [];
  } catch (error) {
    return String(error).split("\n").slice(1);
  }
}

it.each(cases)("%s, over HTTP/1.1", async (_what, line, reply, wrong) => {
  const [method = "", path = ""] = line.split(" ");
  const port = await watched(createServer((_, response) => send(response, reply)));
  const call = request({ host: "127.0.0.1", port, method, path, agent: false }).end();
  const [response] = await once(call, "response");
  await once(response.resume(), "close");
  expect(verdict(port)).toEqual(wrong);
});

it.each(cases)("%s, over HTTP/2", async (_what, line, reply, wrong) => {
  const [method = "", path = ""] = line.split(" ");
  const port = await watched(createHttp2((_, response) => send(response, reply)));
  const session = connect(`http://127.0.0.1:${port}`);
  const stream = session.request({ ":method": method, ":path": path });
  await once(stream.resume(), "close");
  session.close();
  await once(session, "close");
  expect(verdict(port)).toEqual(wrong);
});

it("says each thing once, and forgets it when it was told", async () => {
  const port = await watched(createServer((_, response) => response.writeHead(418).end()));
  for (let n = 0; n < 3; n++) await (await fetch(`http://127.0.0.1:${port}/v1/templates`)).text();
  expect(verdict(port)).toEqual(["GET /v1/templates: status 418"]);
  expect(verdict(port)).toEqual([]);
});

it("takes a body that is no problem for one", () => {
  const headers = { "content-type": "application/problem+json" };
  const found = undescribed({ method: "GET", url: "/v1/templates", status: 401, headers, problem: "{}" });
  expect(found).toEqual([expect.stringContaining("a body that is no problem")]);
});
