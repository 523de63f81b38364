import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Browser, Page } from "playwright";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startFaultBeside } from "../../server/kernel/wire.ts";
import { forbid } from "../harness/another-user.ts";
import { startAppliance } from "../harness/appliance.ts";
import { startMain } from "../harness/console-process.ts";
import { launch } from "../harness/page.ts";
import { axeFinds } from "./axe.ts";
import { picture } from "./picture.ts";
import { chooseAppliance, openConsole } from "./window.ts";

/** What the console shows while no appliance answers: the real bundles in Chromium, at sockets that are as they must not be. */

let main: Awaited<ReturnType<typeof startMain>>;
let browser: Browser;
const folder = mkdtempSync(path.join(tmpdir(), "signet-console-states-"));
beforeAll(async () => {
  [main, browser] = await Promise.all([startMain(), launch()]);
});
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});
afterAll(async () => {
  await browser?.close();
  main?.stop();
  rmSync(folder, { recursive: true });
});

async function listen(server: Server, name: string): Promise<string> {
  const socket = path.join(folder, name);
  const clients = new Set<Socket>();
  server.on("connection", (client) => clients.add(client));
  server.listen(socket);
  await once(server, "listening");
  closers.push(async () => {
    for (const client of clients) client.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return socket;
}

/** Opens the overview with the socket chosen and waits until its place says how the appliance is. */
async function show(
  socket: string,
  remote: boolean,
  state: string,
): Promise<{ page: Page; done: () => Promise<void> }> {
  await chooseAppliance(main, { socket, remote });
  const { page, problems } = await openConsole(browser, main);
  await page.getByRole("heading", { level: 1, name: state, exact: true }).waitFor();
  return {
    page,
    done: async () => {
      await axeFinds(page, state);
      expect(problems).toEqual([]);
      await page.context().close();
    },
  };
}
const commands = (page: Page) =>
  page.locator("main input[readonly]").evaluateAll((fields) => fields.map((field) => Reflect.get(field, "value")));
const buttons = async (page: Page) =>
  (await page.getByRole("main").getByRole("button").allTextContents()).filter((text) => text !== "Copy");

const stoppedCommands = ["sudo systemctl start signet", "sudo signet doctor", "sudo journalctl -u signet -n 50"];

test("stopped because its last start failed: the cause, and what finds out more, in English and German", async () => {
  const dataDir = path.join(folder, "data");
  const taken = createServer();
  taken.listen(0, "127.0.0.1");
  await once(taken, "listening");
  closers.push(() => new Promise((resolve) => taken.close(resolve)));
  const address = taken.address();
  const port = String(typeof address === "object" ? address?.port : 0);
  // Elsewhere than the data folder, as the packages have it: its users may not look into that.
  const socket = path.join(folder, "admin.sock");
  const env = { SIGNET_PORT: port, SIGNET_ADMIN_SOCKET: socket };
  await expect(startAppliance({ folder: dataDir, env })).rejects.toThrow("is taken by another program");
  expect(statSync(startFaultBeside(socket)).mode & 0o777).toBe(0o640);
  const { page, done } = await show(socket, false, "Stopped");
  await page.getByText("The last start failed,").waitFor();
  await page.getByText(new RegExp(`port ${port} on .* is taken by another program`)).waitFor();
  await expect.poll(() => commands(page)).toEqual(stoppedCommands);
  await picture(page, "stopped-last-start");
  await done();
  const german = await openConsole(browser, main, { locale: "de-DE" });
  await german.page.getByText("Der letzte Start ist gescheitert,").waitFor();
  // What the appliance said stays as it was said, and is marked as English.
  await german.page.locator("q[lang=en]", { hasText: "is taken by another program" }).waitFor();
  await german.page.getByText("Sehen, was nicht stimmt und was zu tun ist").waitFor();
  expect(german.problems).toEqual([]);
  await german.page.context().close();
  // Of another machine's appliance it says nothing.
  const far = await show(socket, true, "Stopped");
  expect(await far.page.getByText("The last start failed,").count()).toBe(0);
  await far.done();
  const app = await startAppliance({ folder: dataDir, env: { SIGNET_ADMIN_SOCKET: socket } });
  await app.stop();
  expect(existsSync(startFaultBeside(socket))).toBe(false);
});

test("stopped: the service can be started, here or in a terminal", async () => {
  const { page, done } = await show(path.join(folder, "none.sock"), false, "Stopped");
  await expect.poll(() => commands(page)).toEqual(stoppedCommands);
  await expect.poll(() => buttons(page)).toEqual(["Start the service", "Check again"]);
  await done();
});

test("starting: nothing is started once more, and it says how to see how far it is", async () => {
  const { page, done } = await show(await listen(createServer(), "silent.sock"), false, "Starting");
  await page.getByText("takes connections and does not answer yet").waitFor();
  await expect.poll(() => commands(page)).toEqual(["sudo journalctl -u signet -n 50"]);
  await expect.poll(() => buttons(page)).toEqual(["Check again"]);
  await done();
});

test("broken: the cause in its own words, a restart and the log", async () => {
  const stranger = createHttpServer((_request, response) => response.writeHead(500).end("<h1>It works</h1>"));
  const { page, done } = await show(await listen(stranger, "stranger.sock"), false, "Broken");
  await page.getByText("The appliance answered with status 500, which cannot be understood.").waitFor();
  await expect.poll(() => commands(page)).toEqual(["sudo systemctl restart signet", "sudo journalctl -u signet -n 50"]);
  await expect.poll(() => buttons(page)).toEqual(["Restart the service", "Check again"]);
  await done();
});

test("not allowed: which group it takes, and nothing that only an administrator could do", async () => {
  const { page, done } = await show(path.join(folder, "locked.sock"), false, "Stopped");
  const socket = await listen(createServer(), "locked.sock");
  closers.unshift(forbid(socket));
  await page.getByRole("button", { name: "Check again" }).click();
  await page.getByRole("heading", { level: 1, name: "Not allowed", exact: true }).waitFor();
  await page.getByText("sudo usermod -aG signet-admin").waitFor();
  await expect.poll(() => commands(page)).toEqual([]);
  await expect.poll(() => buttons(page)).toEqual(["Check again"]);
  await done();
});

test("remote: how the forwarding is set up again, and nothing of this machine", async () => {
  const socket = path.join(folder, "forwarded.sock");
  const { page, done } = await show(socket, true, "Stopped");
  await page.getByText(`ssh -N -L ${socket}:/run/signet/admin.sock signet.example.com`).waitFor();
  await expect.poll(() => commands(page)).toEqual(["sudo systemctl status signet"]);
  await expect.poll(() => buttons(page)).toEqual(["Check again"]);
  await done();
});

test("every command that the console shows is one of the installed package", () => {
  const root = path.resolve(import.meta.dirname, "../..");
  const renderer = path.join(root, "apps/console/src/renderer");
  const sources = readdirSync(renderer, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".tsx"))
    .map((name) => path.join(renderer, name));
  const words = ["en", "de"].flatMap((language) =>
    ["console", "findings"].map((name) => path.join(root, `locales/${language}/${name}.json`)),
  );
  const shown = [...sources, ...words].map((file) => readFileSync(file, "utf8")).join("\n");
  expect(shown).not.toMatch(/npm run|npx |server\/main\.ts/);
  const calls = [...shown.matchAll(/(\w+) signet (?:[a-z]+-)?[a-z]+ ?(?:[a-z-]+)?["'`$]/g)].map(([call]) => call);
  expect(calls.length).toBeGreaterThan(1);
  expect(calls.filter((call) => !/^(sudo|start|restart|status|u) signet /.test(call))).toEqual([]);
});
