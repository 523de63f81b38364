import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import forge from "node-forge";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { openOutbound } from "../../server/kernel/outbound.ts";
import { temporaryFolder } from "./open.ts";

let pem: { key: string; cert: string };

beforeAll(() => {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const key = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.publicKeyFromPem(publicKey.export({ type: "spki", format: "pem" }).toString());
  certificate.serialNumber = "01";
  certificate.validity.notBefore = new Date(Date.now() - 86_400_000);
  certificate.validity.notAfter = new Date(Date.now() + 86_400_000);
  const name = [{ name: "commonName", value: "hooks.example" }];
  certificate.setSubject(name);
  certificate.setIssuer(name);
  certificate.setExtensions([
    { name: "basicConstraints", cA: true },
    { name: "subjectAltName", altNames: [{ type: 2, value: "hooks.example" }] },
  ]);
  certificate.sign(forge.pki.privateKeyFromPem(key), forge.md.sha256.create());
  pem = { key, cert: forge.pki.certificateToPem(certificate) };
});

async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    if ("closeAllConnections" in server && typeof server.closeAllConnections === "function")
      server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const http = (listener: RequestListener) => listen(createServer(listener));
const https = (listener: RequestListener) => listen(createTlsServer(pem, listener));
const request = {
  method: "POST",
  headers: { "content-type": "text/plain" },
  body: "hello",
  timeoutMs: 5000,
  maxBytes: 1000,
};
const toLoopback = async () => [{ address: "127.0.0.1" }];
const echo: RequestListener = (call, answer) => {
  answer.writeHead(201, { "x-host": call.headers.host ?? "" });
  call.pipe(answer);
};

async function withCa() {
  const caFile = join(await temporaryFolder(), "ca.pem");
  await writeFile(caFile, pem.cert);
  return caFile;
}

test("calls a named host over TLS at the checked address, with the name in SNI, certificate and Host", async () => {
  const port = await https(echo);
  const options = { allow: [`webhook=127.0.0.0/8:${port}`], lookup: toLoopback, caFile: await withCa() };
  const outbound = openOutbound(options);
  const answer = await outbound.fetch("webhook", `https://hooks.example:${port}/path?q=1`, request);
  expect(answer).toMatchObject({ status: 201, privateTarget: true, headers: { "x-host": `hooks.example:${port}` } });
  expect(Buffer.from(answer.body).toString()).toBe("hello");
  await expect(outbound.fetch("webhook", `https://other.example:${port}/`, request)).rejects.toMatchObject({
    code: "tls",
  });
  const distrusting = openOutbound({ ...options, caFile: undefined });
  await expect(distrusting.fetch("webhook", `https://hooks.example:${port}/`, request)).rejects.toMatchObject({
    code: "tls",
  });
});

test("refuses what does not lead to a public address, however it is written", async () => {
  const outbound = openOutbound({ lookup: toLoopback });
  for (const url of [
    "https://localhost/",
    "https://hooks.example/",
    "https://127.0.0.1/",
    "https://2130706433/",
    "https://0177.0.0.1/",
    "https://0x7f.1/",
    "https://[::1]/",
    "https://[::ffff:10.0.0.1]/",
    "https://[64:ff9b::a00:1]/",
    "https://169.254.169.254/latest/meta-data",
    "https://user:password@8.8.8.8/",
    "http://8.8.8.8/",
    "ftp://8.8.8.8/",
    "file:///etc/passwd",
    "not a url",
  ]) {
    await expect(outbound.fetch("webhook", url, request), url).rejects.toMatchObject({ code: "url-not-allowed" });
    await expect(outbound.check("webhook", url), url).rejects.toMatchObject({ code: "url-not-allowed" });
  }
  await outbound.check("webhook", "https://8.8.8.8/");
  await outbound.check("tsa", "http://8.8.8.8/");
  const oneBad = openOutbound({ lookup: async () => [{ address: "8.8.8.8" }, { address: "10.0.0.1" }] });
  await expect(oneBad.check("webhook", "https://hooks.example/")).rejects.toMatchObject({ code: "url-not-allowed" });
});

test("in air-gap mode only what an entry names is called, and no other name is looked up", async () => {
  const asked: string[] = [];
  const lookup = async (name: string) => {
    asked.push(name);
    return [{ address: name.startsWith("in") ? "10.0.0.1" : "8.8.8.8" }];
  };
  const outbound = openOutbound({ airGap: true, allow: ["webhook=10.0.0.0/8:443"], lookup });
  await outbound.check("webhook", "https://inside.example/");
  for (const [purpose, url] of [
    ["webhook", "https://8.8.8.8/"],
    ["webhook", "https://outside.example/"],
    ["webhook", "https://inside.example:8443/"],
    ["tsa", "https://inside.example/"],
  ] as const)
    await expect(outbound.check(purpose, url), url).rejects.toMatchObject({ code: "url-not-allowed" });
  expect(asked).toEqual(["inside.example", "outside.example"]);
});

test("the name is looked up once per call: a second answer cannot lead inside", async () => {
  const port = await http(echo);
  let asked = 0;
  const outbound = openOutbound({
    allow: [`webhook=127.0.0.1:${port}`],
    lookup: async () => {
      asked += 1;
      return [{ address: asked === 1 ? "127.0.0.1" : "169.254.169.254" }];
    },
  });
  const url = `http://rebinding.example:${port}/`;
  expect((await outbound.fetch("webhook", url, request)).status).toBe(201);
  expect(asked).toBe(1);
  await expect(outbound.fetch("webhook", url, request)).rejects.toMatchObject({ code: "url-not-allowed" });
});

test("the next address is tried when one does not answer", async () => {
  const port = await http(echo);
  const outbound = openOutbound({
    allow: [`webhook=127.0.0.0/8:${port}`],
    lookup: async () => [{ address: "127.0.0.9" }, { address: "127.0.0.1" }],
  });
  expect((await outbound.fetch("webhook", `http://two.example:${port}/`, request)).status).toBe(201);
});

test("each way to fail has its code", async () => {
  const port = await http((call, answer) => {
    if (call.url === "/redirect") answer.writeHead(302, { location: "http://169.254.169.254/" }).end();
    else if (call.url === "/large") answer.end(Buffer.alloc(2000));
    else if (call.url === "/drip") answer.writeHead(200).write("x");
    else if (call.url === "/cut") call.socket.destroy();
    // "/silent" is never answered.
  });
  const outbound = openOutbound({ allow: [`webhook=127.0.0.1:${port}`, "webhook=127.0.0.1:1"] });
  const code = (url: string, timeoutMs = 5000) =>
    outbound.fetch("webhook", url, { ...request, timeoutMs }).then(
      () => "answered",
      (error: { code: string; status?: number }) => [error.code, error.status],
    );
  const base = `http://127.0.0.1:${port}`;
  expect(await code(`${base}/redirect`)).toEqual(["redirect", 302]);
  expect(await code(`${base}/large`)).toEqual(["too-large", 200]);
  expect(await code(`${base}/drip`, 200)).toEqual(["timeout", undefined]);
  expect(await code(`${base}/silent`, 200)).toEqual(["timeout", undefined]);
  expect(await code(`${base}/cut`)).toEqual(["connect", undefined]);
  expect(await code("http://127.0.0.1:1/")).toEqual(["connect", undefined]);
  const nowhere = openOutbound({
    lookup: async () => {
      throw new Error("ENOTFOUND");
    },
  });
  await expect(nowhere.fetch("webhook", "https://hooks.example/", request)).rejects.toMatchObject({ code: "dns" });
  const slow = openOutbound({ lookup: () => new Promise(() => undefined) });
  await expect(slow.fetch("webhook", "https://hooks.example/", { ...request, timeoutMs: 50 })).rejects.toMatchObject({
    code: "timeout",
  });
});

test("through a proxy, CONNECT names the checked address and TLS ends at the host", async () => {
  const port = await https(echo);
  const asked: string[] = [];
  const proxy = createServer();
  proxy.on("connect", (call, socket) => {
    asked.push(call.url ?? "");
    const upstream = connect(Number(call.url?.split(":")[1]), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on("error", () => socket.destroy());
    socket.on("error", () => upstream.destroy());
  });
  const proxyPort = await listen(proxy);
  const outbound = openOutbound({
    allow: [`webhook=127.0.0.1:${port}`],
    lookup: toLoopback,
    caFile: await withCa(),
    proxy: `http://127.0.0.1:${proxyPort}`,
  });
  const answer = await outbound.fetch("webhook", `https://hooks.example:${port}/`, request);
  expect(Buffer.from(answer.body).toString()).toBe("hello");
  expect(asked).toEqual([`127.0.0.1:${port}`]);
  await expect(outbound.fetch("webhook", "https://[::1]/", request)).rejects.toMatchObject({ code: "url-not-allowed" });
  expect(asked).toHaveLength(1);
});

/** Takes connections on every address of this machine and says nothing. */
async function silent() {
  const sockets: Socket[] = [];
  const server = createTcpServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => undefined).resume();
  });
  server.listen(0, "0.0.0.0");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { server, sockets, port: (server.address() as AddressInfo).port };
}

test("when the time is over its connection ends at once, and no further address is called", {
  timeout: 60_000,
}, async () => {
  const { server, sockets, port } = await silent();
  const outbound = openOutbound({
    allow: [`webhook=127.0.0.0/8:${port}`],
    lookup: async () => [{ address: "127.0.0.1" }, { address: "127.0.0.2" }],
  });
  const came = once(server, "connection");
  const call = outbound.fetch("webhook", `https://hooks.example:${port}/`, { ...request, timeoutMs: 2000 });
  const failed = expect(call).rejects.toMatchObject({ code: "timeout" });
  await came;
  const [first] = sockets;
  const closed = first && once(first, "close");
  await failed;
  const over = performance.now();
  await closed;
  // A handshake alone may take ten seconds, for which nobody waits now.
  expect(performance.now() - over).toBeLessThan(5000);
  // Accepted after whatever was sent before it.
  const probe = connect(port, "127.0.0.1");
  await once(server, "connection");
  probe.destroy();
  expect(sockets.map(({ localAddress }) => localAddress)).not.toContain("127.0.0.2");
  expect(sockets).toHaveLength(2);
});

test.each([
  ["nothing", ""],
  ["200 and nothing more", "HTTP/1.1 200 OK\r\n\r\n"],
])("a proxy that says %s is hung up on when the time is over", { timeout: 60_000 }, async (_, says) => {
  const { server, sockets, port } = await silent();
  const outbound = openOutbound({
    allow: ["webhook=127.0.0.1:1"],
    lookup: toLoopback,
    proxy: `http://127.0.0.1:${port}`,
  });
  const came = once(server, "connection");
  const call = outbound.fetch("webhook", "https://hooks.example:1/", { ...request, timeoutMs: 2000 });
  const failed = expect(call).rejects.toMatchObject({ code: "timeout" });
  await came;
  const [first] = sockets;
  first?.once("data", () => first.write(says));
  const closed = first && once(first, "close");
  await failed;
  const over = performance.now();
  await closed;
  expect(performance.now() - over).toBeLessThan(5000);
});

test.each([
  ["a proxy", "at once"],
  ["a proxy", "when it is asked"],
  ["a host", "at once"],
  ["a host", "when it is asked"],
])("%s that hangs up %s is called once", { timeout: 60_000 }, async (who, when) => {
  let calls = 0;
  const server = createTcpServer((socket) => {
    calls += 1;
    socket.on("error", () => undefined);
    if (when === "at once") socket.destroy();
    else socket.once("data", () => socket.destroy());
  });
  const port = await listen(server);
  const outbound = openOutbound({
    allow: ["tsa=127.0.0.1:1", `tsa=127.0.0.1:${port}`],
    lookup: toLoopback,
    ...(who === "a proxy" ? { proxy: `http://127.0.0.1:${port}` } : {}),
  });
  const url = `http://tsa.example:${who === "a proxy" ? 1 : port}/`;
  await expect(outbound.fetch("tsa", url, { ...request, timeoutMs: 20_000 })).rejects.toMatchObject({
    code: "connect",
  });
  expect(calls).toBe(1);
});

test("what a proxy refuses is said with its status, and its connection ends", async () => {
  const proxy = createServer();
  const closed = Promise.withResolvers<void>();
  proxy.on("connect", (_, socket) => {
    socket.on("close", () => closed.resolve()).end("HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n");
  });
  const port = await listen(proxy);
  const outbound = openOutbound({
    allow: ["webhook=127.0.0.1:1"],
    lookup: toLoopback,
    proxy: `http://127.0.0.1:${port}`,
  });
  await expect(outbound.fetch("webhook", "https://hooks.example:1/", request)).rejects.toMatchObject({
    code: "connect",
    message: "the proxy answered 403",
  });
  await closed.promise;
});
