import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { runCli } from "../../../server/cli.ts";
import { newSecret } from "../../../server/kernel/ids.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { signet } from "../../harness/cli.ts";
import { overStdio } from "../../harness/mcp.ts";
import { startReceiver } from "../../harness/webhook-receiver.ts";

/** `signet mcp`: how it is told the server and the key, and what it says when they are no good. */

let app: TestAppliance;
let folder: string;
beforeAll(async () => {
  app = await startAppliance();
  folder = await mkdtemp(path.join(tmpdir(), "signet-mcp-"));
});
afterAll(async () => {
  await app.stop();
  await rm(folder, { recursive: true, force: true });
});

const client = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } };
const hello = { jsonrpc: "2.0", id: 1, method: "initialize", params: client };
const anything = z.looseObject({});

test("takes the server and a file with the key as options", async () => {
  const file = path.join(folder, "key");
  await writeFile(file, `${app.keys.test}\n`);
  const assistant = await overStdio(
    { SIGNET_LOG_LEVEL: "debug" },
    ["--url", `${app.url}/`, "--key-file", file],
    "legacy",
  );
  expect(await assistant.data(anything, "find_envelopes", {})).toMatchObject({ data: [], hasMore: false });
  await assistant.close();
});

test("ends when the client hangs up, or when it is told to", async () => {
  const main = path.resolve("server/main.ts");
  const env = { SIGNET_URL: app.url, SIGNET_API_KEY: app.keys.live };
  for (const end of ["stdin", "SIGTERM"] as const) {
    const child = spawn(process.execPath, [main, "mcp"], { env, stdio: ["pipe", "pipe", "inherit"] });
    const exited = once(child, "exit");
    child.stdin.write(`${JSON.stringify(hello)}\n`);
    await once(child.stdout, "data");
    if (end === "stdin") child.stdin.end();
    else child.kill(end);
    expect([end, await exited]).toEqual([end, [0, null]]);
  }
});

test("speaks nothing but the protocol, and answers each line", async () => {
  const lines = [
    hello,
    { jsonrpc: "2.0", method: "notifications/initialized" },
    { jsonrpc: "2.0", id: 2, method: "tools/list" },
  ];
  let out = "";
  let err = "";
  let answered = () => {};
  const both = new Promise<void>((resolve) => (answered = resolve));
  const code = await runCli(
    ["mcp"],
    { SIGNET_URL: app.url, SIGNET_API_KEY: app.keys.live },
    {
      stdout: (text) => {
        out += text;
        if (out.split("\n").length === 3) answered();
      },
      stderr: (text) => {
        err += text;
      },
      stdin: (async function* () {
        for (const line of lines) yield `${JSON.stringify(line)}\n`;
        await both;
      })(),
      interactive: false,
      onSignal: () => undefined,
    },
  );
  expect([code, err]).toEqual([0, ""]);
  const answers = out.trimEnd().split("\n");
  expect(answers.map((line) => z.object({ id: z.int() }).parse(JSON.parse(line)).id)).toEqual([1, 2]);
});

test("wants an address and a key before it begins, and shows neither a key nor a stack", async () => {
  const good = { SIGNET_URL: app.url, SIGNET_API_KEY: app.keys.live };
  const wrong: [Record<string, string>, string[], string][] = [
    [{ ...good, SIGNET_API_KEY: "" }, [], "an API key is needed"],
    [{ ...good, SIGNET_API_KEY: "secret-that-is-no-key" }, [], "an API key is needed"],
    [good, ["--url", "ftp://sign.example.com"], "is not the address of a server"],
    [good, ["--url", "sign.example.com"], "is not the address of a server"],
    [good, ["--url", "https://sign.example.com/v1/"], "without /v1: https://sign.example.com\n"],
    [good, ["--url", "https://sign.example.com/mcp"], "without /mcp: https://sign.example.com\n"],
  ];
  for (const [env, args, said] of wrong) {
    const { code, err } = await signet(["mcp", ...args], env);
    expect(code).toBe(2);
    expect(err).toContain(said);
    expect(err).not.toContain("secret-that-is-no-key");
  }
  const missing = await signet(["mcp", "--key-file", path.join(folder, "nothing")], good);
  expect([missing.code, missing.err]).toEqual([1, expect.stringContaining("ENOENT")]);
  // An assistant's variables keep no other command from working.
  expect((await signet(["help"], good)).code).toBe(0);
  expect((await signet(["config", "check"], { ...good, SIGNET_DATA_DIR: folder })).err).not.toContain("not a setting");
});

test("tells the assistant when the key or the server is no good", async () => {
  const stranger = await overStdio({ SIGNET_URL: app.url, SIGNET_API_KEY: newSecret("svc_live") });
  expect(await stranger.refused("find_envelopes", {})).toMatchObject({ code: "unauthorized", status: 401 });
  await stranger.close();

  // Something else, which would like to be told the key at another address.
  const asked: (string | undefined)[] = [];
  const other = createServer((request, response) => {
    asked.push(request.url);
    if (request.url === "/v1/templates?limit=20")
      response.writeHead(307, { location: `http://127.0.0.1:${port}/elsewhere` }).end();
    else response.writeHead(200, { "content-type": "text/html" }).end("<p>hello</p>");
  });
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const { port } = other.address() as AddressInfo;
  onTestFinished(() => void other.close());
  const lost = await overStdio({ SIGNET_URL: `http://127.0.0.1:${port}`, SIGNET_API_KEY: app.keys.live });
  const redirected = await lost.refused("find_templates", {});
  expect(redirected).toMatchObject({ code: "no-answer", detail: expect.stringContaining("cannot be reached") });
  const misread = await lost.refused("find_envelopes", {});
  expect(misread).toMatchObject({ code: "no-answer", detail: expect.stringContaining("of one version") });
  expect(asked).toEqual(["/v1/templates?limit=20", "/v1/envelopes?limit=20"]);
  other.closeAllConnections();
  await new Promise((resolve) => other.close(resolve));
  expect(await lost.refused("find_templates", {})).toMatchObject({ code: "no-answer" });
  expect(lost.transcript()).not.toContain(app.keys.live);
  await lost.close();
});

test("explains how to trust a self-signed certificate", async () => {
  const server = await startReceiver();
  onTestFinished(() => server.stop());
  const env = { SIGNET_URL: new URL(server.url).origin, SIGNET_API_KEY: app.keys.live };
  const strict = await overStdio(env);
  const { detail } = await strict.refused("find_templates", {});
  expect(detail).toContain("self-signed certificate");
  expect(detail).toContain("NODE_EXTRA_CA_CERTS");
  await strict.close();
  expect(server.received).toEqual([]);
  const trusting = await overStdio({ ...env, NODE_EXTRA_CA_CERTS: server.ca });
  await trusting.refused("find_templates", {});
  await trusting.close();
  expect(server.received.map(({ path }) => path)).toEqual(["/v1/templates?limit=20"]);
});
