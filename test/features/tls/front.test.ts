import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { request as plainRequest } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { request } from "node:https";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { besideChallenges, plainAnswers } from "../../../server/challenge-front.ts";
import { loadConfig } from "../../../server/config.ts";
import { createChallenges } from "../../../server/features/tls/acme/challenges.ts";
import { openTls } from "../../../server/features/tls/keeper.ts";
import { openAdminSocket, openFront } from "../../../server/front.ts";
import { connectionLimit } from "../../../server/front-limits.ts";

/** What strangers do to the server's ports before a word of theirs is understood. */

const challengePath = "/.well-known/acme-challenge/";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "signet-front-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function stranger(port: number): { socket: Socket; gone: Promise<void> } {
  const socket = connect(port, "127.0.0.1");
  socket.setNoDelay(true);
  // A connection that is cut off is what these tests want.
  socket.on("error", () => undefined);
  return { socket, gone: new Promise((resolve) => socket.once("close", () => resolve())) };
}

/** Answered after whatever connected before it was taken. */
async function answered(port: number): Promise<number | undefined> {
  const call = request({ host: "127.0.0.1", port, rejectUnauthorized: false, agent: false }).end();
  const [response] = await once(call, "response");
  response.resume();
  await once(response, "end");
  return response.statusCode;
}

async function answeredPlainly(port: number): Promise<number | undefined> {
  const [response] = await once(plainRequest({ host: "127.0.0.1", port, agent: false }).end(), "response");
  response.resume();
  return response.statusCode;
}

async function fetchOver(socketPath: string): Promise<Buffer> {
  const [response] = await once(plainRequest({ socketPath, agent: false }).end(), "response");
  return Buffer.concat(await response.toArray());
}

test("who connects and says nothing, or begins and stops, keeps no server from ending", {
  timeout: 60_000,
}, async () => {
  const config = loadConfig({ SIGNET_DATA_DIR: folder, SIGNET_HOST: "0.0.0.0", SIGNET_PORT: "0" });
  const tls = await openTls(config, Date.now);
  const front = await openFront(config, tls);
  front.serve((_request, response) => {
    response.statusCode = 204;
    response.end();
  });
  const begin = (hello: string) => {
    const one = stranger(front.port);
    one.socket.write(Buffer.from(hello, "latin1"));
    return one.gone;
  };
  const gone = [stranger(front.port).gone, begin("\x16\x03\x01\x02\x00\x01")];
  expect(await answered(front.port)).toBe(204);
  const served = tls.current();
  if (served === null) throw new Error("the server speaks TLS");
  tls.challenges.alpn.set("sign.example.com", served);
  gone.push(stranger(front.port).gone, begin("\x16\x03\x01\x02\x00\x01"));
  expect(await answered(front.port)).toBe(204);
  await front.close(0);
  await Promise.all(gone);
  tls.close();
});

/** Each begins a request and never ends it: in silence, or drop by drop so that the connection is never silent. */
test.each([
  ["HTTP/2", "in silence"],
  ["HTTP/2", "drop by drop"],
  ["HTTP/1.1", "in silence"],
  ["HTTP/1.1", "drop by drop"],
])("over %s a request that is begun %s and never ended is given up", { timeout: 60_000 }, async (version, manner) => {
  const config = loadConfig({ SIGNET_DATA_DIR: folder, SIGNET_HOST: "0.0.0.0", SIGNET_PORT: "0" });
  const tls = await openTls(config, Date.now);
  const front = await openFront(config, tls, { patience: { silentMs: 500, arrivalMs: 500 } });
  front.serve((incoming) => void incoming.on("error", () => undefined).resume());
  const place = { host: "127.0.0.1", port: front.port, rejectUnauthorized: false };
  const head = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100000\r\n\r\n";
  let begun: Duplex;
  if (version === "HTTP/2") {
    const session = connectHttp2(`https://127.0.0.1:${front.port}`, { rejectUnauthorized: false });
    session.on("error", () => undefined);
    begun = session.request({ ":method": "POST", ":path": "/" });
  } else {
    begun = connectTls(place);
    begun.write(head);
  }
  begun.on("error", () => undefined).resume();
  const gone = new Promise<void>((resolve) => begun.once("close", () => resolve()));
  begun.write("x");
  const drops = manner === "in silence" ? undefined : setInterval(() => begun.write("x"), 50);
  await gone;
  clearInterval(drops);
  await front.close(0);
  tls.close();
});

test.each([
  ["headers", "GET / HTTP/1.1\r\nhost: a\r\nx: "],
  ["a body", "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\nx"],
])("who never ends %s is told so", { timeout: 60_000 }, async (_what, begun) => {
  const config = loadConfig({ SIGNET_DATA_DIR: folder, SIGNET_PORT: "0" });
  const tls = await openTls(config, Date.now);
  const front = await openFront(config, tls, { patience: { silentMs: 10_000, arrivalMs: 500 } });
  front.serve((incoming) => void incoming.on("error", () => undefined).resume());
  const { socket, gone } = stranger(front.port);
  let answer = "";
  socket.on("data", (chunk) => {
    answer += chunk;
  });
  socket.write(begun);
  await gone;
  expect(answer).toMatch(/^HTTP\/1\.1 408 Request timeout\r\n/);
  expect(answer).toContain("content-type: application/problem+json; charset=utf-8");
  expect(answer).toMatch(/x-request-id: req_\w+/);
  expect(JSON.parse(answer.split("\r\n\r\n")[1] ?? "")).toMatchObject({ code: "request-timeout" });
  await front.close(0);
  tls.close();
});

test("over HTTP/2 an answer that nobody takes is given up", { timeout: 60_000 }, async () => {
  const config = loadConfig({ SIGNET_DATA_DIR: folder, SIGNET_HOST: "0.0.0.0", SIGNET_PORT: "0" });
  const tls = await openTls(config, Date.now);
  const front = await openFront(config, tls, { patience: { silentMs: 500, arrivalMs: 500 } });
  front.serve((_, response) => void response.end(Buffer.alloc(4_000_000)));
  const session = connectHttp2(`https://127.0.0.1:${front.port}`, { rejectUnauthorized: false });
  session.on("error", () => undefined);
  session.request({ ":path": "/" }).on("error", () => undefined);
  await once(session, "close");
  await front.close(0);
  tls.close();
});

test.each(["with TLS", "without"])(
  "over HTTP/1.1 %s an answer that nobody takes is given up",
  {
    timeout: 60_000,
  },
  async (manner) => {
    const secure = manner === "with TLS";
    const host = secure ? "0.0.0.0" : "127.0.0.1";
    const config = loadConfig({ SIGNET_DATA_DIR: folder, SIGNET_HOST: host, SIGNET_PORT: "0" });
    const tls = await openTls(config, Date.now);
    const front = await openFront(config, tls, { patience: { silentMs: 250, arrivalMs: 60_000 } });
    const gone = new Promise<void>((resolve) => {
      front.serve((incoming, response) => {
        // The second on its connection: between the two the time for a next request counts.
        if (incoming.url === "/") return void response.end("first");
        response.once("close", resolve);
        response.end(Buffer.alloc(20_000_000));
      });
    });
    const place = { host: "127.0.0.1", port: front.port, rejectUnauthorized: false };
    const client = secure ? connectTls(place) : connect(place);
    client.on("error", () => undefined);
    client.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    await once(client, "data");
    client.pause();
    client.write("GET /large HTTP/1.1\r\nhost: a\r\n\r\n");
    await gone;
    client.destroy();
    await front.close(0);
    tls.close();
  },
);

test("over HTTP/2 a request that is answered later than the times for silence goes on", {
  timeout: 60_000,
}, async () => {
  const config = loadConfig({ SIGNET_DATA_DIR: folder, SIGNET_HOST: "0.0.0.0", SIGNET_PORT: "0" });
  const tls = await openTls(config, Date.now);
  const front = await openFront(config, tls, { patience: { silentMs: 1000, arrivalMs: 1000 } });
  front.serve((_, response) => void setTimeout(() => response.end("late"), 1500));
  const session = connectHttp2(`https://127.0.0.1:${front.port}`, { rejectUnauthorized: false });
  session.on("error", () => undefined);
  const stream = session.request({ ":path": "/" });
  const [head] = await once(stream, "response");
  expect(head[":status"]).toBe(200);
  session.destroy();
  await front.close(0);
  tls.close();
});

test("over HTTP/2 a late answer that then goes on for long is not cut", { timeout: 60_000 }, async () => {
  const config = loadConfig({ SIGNET_DATA_DIR: folder, SIGNET_HOST: "0.0.0.0", SIGNET_PORT: "0" });
  const tls = await openTls(config, Date.now);
  const front = await openFront(config, tls, { patience: { silentMs: 1000, arrivalMs: 1000 } });
  const session = connectHttp2(`https://127.0.0.1:${front.port}`, { rejectUnauthorized: false });
  session.on("error", () => undefined);
  // The server has had enough of the silence by then.
  const late = once(session, "goaway");
  front.serve(async (_, response) => {
    if (!("stream" in response)) throw new Error("it came over HTTP/2");
    await late;
    let left = 30;
    const drops = setInterval(() => {
      left -= 1;
      if (left > 0) return void response.write("x");
      clearInterval(drops);
      response.end();
    }, 50);
  });
  const stream = session.request({ ":path": "/" });
  stream.on("error", () => undefined);
  let taken = 0;
  stream.on("data", (piece: Buffer) => {
    taken += piece.length;
  });
  await once(stream, "close");
  expect(taken).toBe(29);
  session.destroy();
  await front.close(0);
  tls.close();
});

test("who connects and never begins TLS is hung up on", { timeout: 60_000 }, async () => {
  const config = loadConfig({ SIGNET_DATA_DIR: folder, SIGNET_HOST: "0.0.0.0", SIGNET_PORT: "0" });
  const tls = await openTls(config, Date.now);
  const front = await openFront(config, tls, { patience: { silentMs: 300, arrivalMs: 300 } });
  await stranger(front.port).gone;
  await front.close(0);
  tls.close();
});

test.each(["0.0.0.0", "127.0.0.1"])(
  "at %s nobody takes more connections than there are, nor the administrators'",
  {
    timeout: 60_000,
  },
  async (host) => {
    const config = loadConfig({ SIGNET_DATA_DIR: folder, SIGNET_HOST: host, SIGNET_PORT: "0" });
    const tls = await openTls(config, Date.now);
    const crowds: unknown[] = [];
    const front = await openFront(config, tls, { connections: 3, onCrowd: (crowd) => void crowds.push(crowd) });
    front.serve((_, response) => void response.end());
    const file = path.join(folder, "admin.sock");
    const admin = await openAdminSocket(file);
    admin.serve((_, response) => void response.end("here"));
    const held = [1, 2, 3].map(() => stranger(front.port));
    await Promise.all(held.map(({ socket }) => once(socket, "connect")));
    await Promise.all([stranger(front.port).gone, stranger(front.port).gone]);
    // Of the second it is told with those of the minute.
    expect(crowds).toEqual([{ connections: 3, turnedAway: 1 }]);
    expect((await fetchOver(file)).toString()).toBe("here");
    for (const { socket } of held) socket.destroy();
    const call = () => (tls.current() ? answered(front.port) : answeredPlainly(front.port));
    // Its place is free when the server has seen the end of one.
    await expect.poll(() => call().catch(() => 0), { timeout: 30_000 }).toBe(200);
    await Promise.all([front.close(0), admin.close(0)]);
    tls.close();
  },
);

test("half of the descriptors that this process may open are for connections", () => {
  const script = `import { connectionLimit } from ${JSON.stringify(path.resolve(import.meta.dirname, "../../../server/front-limits.ts"))};
    console.log(connectionLimit());`;
  const line = 'ulimit -n 300; exec "$0" --input-type=module-typescript -e "$1"';
  const said = execFileSync("sh", ["-c", line, process.execPath, script], { stdio: ["ignore", "pipe", "pipe"] });
  expect(Number(said)).toBe(150);
  expect(connectionLimit("Max open files            65536                65536                files \n")).toBe(10_000);
  expect(connectionLimit("")).toBe(10_000);
});

test("while a challenge waits, a first message that comes drop by drop has its time, too", {
  timeout: 60_000,
}, async () => {
  const challenges = createChallenges();
  challenges.alpn.set("sign.example.com", { certPem: "", keyPem: "" });
  const accepted: Socket[] = [];
  const server = createServer(besideChallenges(challenges, (socket) => void accepted.push(socket), 300));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { socket, gone } = stranger((server.address() as AddressInfo).port);
  // A record of 16 KiB, of which each drop would begin the wait anew.
  socket.write(Buffer.from("1603014000", "hex"));
  const drops = setInterval(() => socket.write("\0"), 50);
  await gone;
  clearInterval(drops);
  expect(accepted).toEqual([]);
  server.close();
  await once(server, "close");
});

test("plain HTTP leads nobody elsewhere, whatever stands for the path", async () => {
  const server = plainAnswers(createChallenges(), "https://sign.example.com/").listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const paths = [
    "/\f",
    "/a\tb",
    "/\x80\xff",
    "//evil.example/",
    "/\\evil.example",
    "/@evil.example",
    "http://evil.example/",
    "*",
  ];
  const seen: [string, number, string | undefined][] = [];
  for (const at of paths) {
    const { socket, gone } = stranger(port);
    let reply = "";
    socket.setEncoding("latin1").on("data", (text: string) => (reply += text));
    socket.write(Buffer.from(`GET ${at} HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n`, "latin1"));
    await gone;
    seen.push([at, Number(reply.split(" ")[1]), /^location: (.*)\r$/im.exec(reply)?.[1]]);
  }
  const there = (to: string) => `https://sign.example.com${to}`;
  expect(seen).toEqual([
    ["/\f", 400, undefined],
    ["/a\tb", 400, undefined],
    ["/\x80\xff", 400, undefined],
    ["//evil.example/", 308, there("//evil.example/")],
    ["/\\evil.example", 308, there("/\\evil.example")],
    ["/@evil.example", 308, there("/@evil.example")],
    ["http://evil.example/", 404, undefined],
    ["*", 404, undefined],
  ]);
  server.close();
  await once(server, "close");
});

test.each([
  ["what is no HTTP", "NONSENSE\r\n\r\n", 400, "malformed-request"],
  [
    "headers that are too long",
    `GET / HTTP/1.1\r\nhost: a\r\nx: ${"a".repeat(20_000)}\r\n\r\n`,
    431,
    "headers-too-large",
  ],
  ["no host", "GET / HTTP/1.1\r\nconnection: close\r\n\r\n", 400, "malformed-request"],
  [
    "an expectation",
    "GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\nexpect: wonders\r\n\r\n",
    417,
    "expectation-failed",
  ],
  ["no challenge", `GET ${challengePath} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`, 404, "not-found"],
])("plain HTTP answers %s with a problem document", async (_what, sent, status, code) => {
  const server = plainAnswers(createChallenges(), "https://sign.example.com").listen(0, "127.0.0.1");
  await once(server, "listening");
  const { socket, gone } = stranger((server.address() as AddressInfo).port);
  let reply = "";
  socket.on("data", (chunk) => {
    reply += chunk;
  });
  socket.write(sent);
  await gone;
  const [head = "", body = ""] = reply.split("\r\n\r\n");
  expect(head).toContain("\r\ncontent-type: application/problem+json; charset=utf-8");
  const requestId = /\r\nx-request-id: (req_\w+)/.exec(head)?.[1];
  expect(JSON.parse(body)).toMatchObject({ type: `https://sign.example.com/errors/${code}`, status, code, requestId });
  expect(Number(head.split(" ")[1])).toBe(status);
  server.close();
  await once(server, "close");
});

test("plain HTTP says so in the reader's language, and gives a challenge its answer", async () => {
  const challenges = createChallenges();
  challenges.http.set("one", "one.thumbprint");
  const server = plainAnswers(challenges, "https://sign.example.com").listen(0, "127.0.0.1");
  await once(server, "listening");
  const place = { host: "127.0.0.1", port: (server.address() as AddressInfo).port, agent: false };
  const ask = async (at: string) => {
    const call = plainRequest({ ...place, path: at, headers: { "accept-language": "de" } }).end();
    const [response] = await once(call, "response");
    return [response.statusCode, Buffer.concat(await response.toArray()).toString()];
  };
  expect(await ask(`${challengePath}one`)).toEqual([200, "one.thumbprint"]);
  expect(await ask(`${challengePath}two`)).toEqual([404, expect.stringContaining('"title":"Nicht gefunden"')]);
  server.close();
  await once(server, "close");
});

test("plain HTTP goes on after a request on which something unforeseen happens", async () => {
  const said = vi.spyOn(console, "error").mockImplementation(() => undefined);
  onTestFinished(() => said.mockRestore());
  class Broken extends Map<string, string> {
    override get(name: string): string | undefined {
      if (name === "broken") throw new RangeError("unforeseen");
      return super.get(name);
    }
  }
  const challenges = { ...createChallenges(), http: new Broken([["one", "one.thumbprint"]]) };
  const server = plainAnswers(challenges, "https://sign.example.com").listen(0, "127.0.0.1");
  await once(server, "listening");
  const place = { host: "127.0.0.1", port: (server.address() as AddressInfo).port, agent: false };
  const ask = async (name: string) => {
    const call = plainRequest({ ...place, path: `${challengePath}${name}` }).end();
    const [response] = await once(call, "response");
    return [response.statusCode, Buffer.concat(await response.toArray()).toString()];
  };
  expect(await ask("broken")).toEqual([500, expect.stringContaining('"code":"internal-error"')]);
  expect(await ask("one")).toEqual([200, "one.thumbprint"]);
  expect(said).toHaveBeenCalledWith(new RangeError("unforeseen"));
  server.close();
  await once(server, "close");
});

test("a file that is no socket is not taken for the admin socket of before", async () => {
  const file = path.join(folder, "run", "admin.sock");
  const first = await openAdminSocket(file);
  await first.close(0);
  const mine = path.join(folder, "contract.pdf");
  await writeFile(mine, "mine");
  await expect(openAdminSocket(mine)).rejects.toThrow(/contract\.pdf is no socket/);
  expect(await readFile(mine, "utf8")).toBe("mine");
});
