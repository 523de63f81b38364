import { mkdtemp, rm } from "node:fs/promises";
import { createServer as createHttp, type RequestListener } from "node:http";
import { createServer as createHttps } from "node:https";
import { type AddressInfo, createServer as createSocketServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, expect, test } from "vitest";
import { watchAppliance } from "../../apps/console/src/main/appliance-status.ts";
import { loadConfig } from "../../server/config.ts";
import { loadTls } from "../../server/tls.ts";
import { startAppliance } from "../harness/appliance.ts";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function listen(server: Server): Promise<number> {
  const sockets = new Set<{ destroy: () => void }>();
  server.on("connection", (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(
    () =>
      new Promise((resolve) => {
        server.close(resolve);
        for (const socket of sockets) socket.destroy();
      }),
  );
  return (server.address() as AddressInfo).port;
}
const serve = async (listener: RequestListener) => `http://127.0.0.1:${await listen(createHttp(listener))}`;
const watch = (timeoutMs = 5000) => watchAppliance({ now: () => new Date(), timeoutMs });

test("a real appliance is running; when it has stopped, it is stopped", async () => {
  let time = Date.parse("2030-01-01T00:00:00.000Z");
  const look = watchAppliance({ now: () => new Date(time), timeoutMs: 5000 });
  const appliance = await startAppliance();
  const first = await look(appliance.url);
  expect(first).toMatchObject({
    url: appliance.url,
    found: { state: "running", apiVersion: expect.stringMatching(/^\d+\.\d+\.\d+$/) },
    since: "2030-01-01T00:00:00.000Z",
  });
  time += 60_000;
  expect(await look(appliance.url)).toEqual({ ...first, checkedAt: "2030-01-01T00:01:00.000Z" });
  await appliance.stop();
  time += 60_000;
  expect(await look(appliance.url)).toEqual({
    url: appliance.url,
    found: { state: "stopped" },
    since: "2030-01-01T00:02:00.000Z",
    checkedAt: "2030-01-01T00:02:00.000Z",
  });
});

test("an appliance that says that it is not ready is quoted", async () => {
  const url = await serve((request, response) => {
    response.statusCode = request.url === "/healthz" ? 200 : 503;
    response.end(request.url === "/healthz" ? '{"status":"ok"}' : '{"status":"not ready","cause":"stopping"}');
  });
  expect((await watch()(url)).found).toEqual({ state: "not-ready", cause: "stopping" });
});

test("a server that takes connections and does not answer is starting", async () => {
  const port = await listen(createSocketServer());
  expect((await watch(150)(`http://127.0.0.1:${port}`)).found).toEqual({ state: "starting" });
});

test.each<[string, RequestListener]>([
  ["another page", (_request, response) => response.end("<h1>It works</h1>")],
  ["other JSON", (_request, response) => response.end('{"status":"up"}')],
  ["a redirect", (_request, response) => response.writeHead(302, { location: "https://example.com/" }).end()],
])("%s is not Signet", async (_what, listener) => {
  expect((await watch()(await serve(listener))).found).toEqual({ state: "unreachable", cause: "not-signet" });
});

test("another protocol is not Signet", async () => {
  const port = await listen(createSocketServer((socket) => socket.end("SSH-2.0-OpenSSH_10.0\r\n")));
  expect((await watch()(`http://127.0.0.1:${port}`)).found).toEqual({ state: "unreachable", cause: "not-signet" });
});

test("a certificate that nobody vouches for is named as the cause", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-console-tls-"));
  closers.push(() => rm(folder, { recursive: true }));
  const tls = await loadTls(loadConfig({ SIGNET_DATA_DIR: folder, SIGNET_HOST: "0.0.0.0" }));
  if (!tls) throw new Error("there is no certificate");
  const port = await listen(createHttps({ cert: tls.cert, key: tls.key }, (_request, response) => response.end()));
  expect((await watch()(`https://127.0.0.1:${port}`)).found).toEqual({ state: "unreachable", cause: "certificate" });
});
