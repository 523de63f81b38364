import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, expect, test } from "vitest";
import { defaultSocket, openConnection } from "../../apps/console/src/main/connection.ts";
import { controlService, serviceCommand } from "../../apps/console/src/main/service-control.ts";
import { openStore } from "../../apps/console/src/main/store.ts";
import { startAppliance } from "../harness/appliance.ts";

const folder = mkdtempSync(path.join(tmpdir(), "signet-console-connection-"));
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});
afterEach(() => rmSync(path.join(folder, "console.json"), { force: true }));
afterAll(() => rmSync(folder, { recursive: true }));

let moment = 0;
/** A console's way to the appliance at a socket, with a clock of its own. */
function connect(socket: string, timeoutMs = 5000) {
  const store = openStore(path.join(folder, "console.json"));
  const now = () => new Date(Date.UTC(2030, 0, 1) + moment++ * 1000);
  return openConnection({ store, socket, now, timeoutMs });
}
async function listen(server: Server, name: string): Promise<string> {
  const socket = path.join(folder, name);
  server.listen(socket);
  await once(server, "listening");
  closers.push(() => server.close());
  return socket;
}

test("an appliance that runs and stops: each state with its beginning", async () => {
  const appliance = await startAppliance();
  const { look } = connect(appliance.config.adminSocket);
  const first = await look();
  expect(first).toMatchObject({ state: "running", version: expect.stringMatching(/^\d+\.\d+\.\d+/), remote: false });
  const second = await look();
  expect(second.since).toBe(first.since);
  expect(second.checkedAt > first.checkedAt).toBe(true);
  await appliance.stop();
  const third = await look();
  expect(third).toMatchObject({ state: "stopped", version: null });
  expect(third.since).toBe(third.checkedAt);
});

test("a socket without a process behind it is stopped, one that is no socket is not running either", async () => {
  expect(await connect(path.join(folder, "none.sock")).look()).toMatchObject({ state: "stopped" });
  const file = path.join(folder, "file.sock");
  writeFileSync(file, "");
  expect(["stopped", "broken"]).toContain((await connect(file).look()).state);
});

test("what takes connections and does not answer is starting", async () => {
  const socket = await listen(
    createServer((client) => closers.push(() => client.destroy())),
    "silent.sock",
  );
  expect(await connect(socket, 150).look()).toMatchObject({ state: "starting" });
});

test.each<[string, () => Server]>([
  ["another protocol", () => createServer((client) => client.end("SSH-2.0-OpenSSH_10.0\r\n"))],
  ["another page", () => createHttpServer((_request, response) => response.end("<h1>It works</h1>"))],
  ["an appliance of another version", () => createHttpServer((_request, response) => response.end('{"up":true}'))],
])("%s is broken", async (name, server) => {
  const socket = await listen(server(), `${name.replaceAll(" ", "-")}.sock`);
  expect(await connect(socket).look()).toMatchObject({ state: "broken", detail: expect.any(String) });
});

test("the socket that is chosen is kept, and a file that cannot be read costs only itself", async () => {
  const { chosen } = connect("/run/signet/admin.sock");
  expect(chosen()).toEqual({ socket: "/run/signet/admin.sock", remote: false, byDefault: true });
  const file = path.join(folder, "console.json");
  const store = openStore(file);
  store.set({ connection: { socket: "/tmp/far.sock", remote: true } });
  expect(connect("/x").chosen()).toEqual({ socket: "/tmp/far.sock", remote: true, byDefault: false });
  writeFileSync(
    file,
    '{"connection":{"socket":"relative"},"preferences":{"language":"de","colorScheme":"dark","background":true}}',
  );
  expect(openStore(file).get()).toEqual({
    connection: null,
    preferences: { language: "de", colorScheme: "dark", background: true },
    window: null,
  });
  writeFileSync(file, "{");
  expect(openStore(file).get().connection).toBeNull();
});

test("the socket is where the packages put it, unless the environment names another", () => {
  expect(defaultSocket("linux", undefined)).toBe("/run/signet/admin.sock");
  expect(defaultSocket("darwin", "")).toBe("/run/signet/admin.sock");
  expect(defaultSocket("win32", undefined)).toBe("\\\\.\\pipe\\signet-admin");
  expect(defaultSocket("linux", "/srv/admin.sock")).toBe("/srv/admin.sock");
});

test("service control runs fixed words only, and says how it went", async () => {
  expect(serviceCommand("linux", "restart")).toMatchObject({
    program: "/usr/bin/pkexec",
    arguments: ["/usr/bin/systemctl", "restart", "signet.service"],
  });
  expect(serviceCommand("aix", "start")).toBeNull();
  const program = path.join(folder, "elevate");
  const standIn = (body: string) => {
    writeFileSync(program, `#!/bin/sh\n${body}\n`);
    chmodSync(program, 0o755);
  };
  standIn('echo "$@"');
  expect(await controlService("linux", "stop", program)).toEqual({
    outcome: "done",
    detail: "/usr/bin/systemctl stop signet.service",
  });
  standIn("exit 126");
  expect(await controlService("linux", "start", program)).toMatchObject({ outcome: "declined" });
  standIn("echo Unit signet.service not found. >&2; exit 5");
  expect(await controlService("linux", "start", program)).toEqual({
    outcome: "failed",
    detail: "Unit signet.service not found.",
  });
  expect(await controlService("linux", "start", path.join(folder, "none"))).toMatchObject({ outcome: "unavailable" });
});
