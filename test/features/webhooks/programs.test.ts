import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { checkSignature } from "../../../apps/dashboard/src/features/webhooks/check.ts";
import { WebhookEndpoint, WebhookSecret } from "../../../server/features/webhooks/contract.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { enter, ok, publishTemplate, send, submission } from "../../harness/scenario.ts";
import { allowing, type Receiver, startReceiver } from "../../harness/webhook-receiver.ts";

/** The programs of `docs/examples`, run as somebody would run them. */

let receiver: Receiver;
let app: TestAppliance;
let template: string;
/** Where examples serve HTTPS themselves. */
let tlsPort: number;
beforeAll(async () => {
  receiver = await startReceiver();
  // Below those that other tests are given.
  tlsPort = 20_000 + (process.pid % 10_000);
  const { SIGNET_OUTBOUND_ALLOW, ...env } = allowing(receiver);
  const allow = `${SIGNET_OUTBOUND_ALLOW},webhook=127.0.0.1:${tlsPort}`;
  app = await startAppliance({ env: { ...env, SIGNET_OUTBOUND_ALLOW: allow } });
  template = await publishTemplate(app);
});
afterAll(async () => {
  await app.stop();
  await receiver.stop();
});

const examples = path.resolve(import.meta.dirname, "../../../docs/examples");
/** Starts an example with its interpreter. */
function begin(name: string, port: number, env: Record<string, string>): ChildProcess {
  const file = path.join(examples, name);
  const options: SpawnOptions = {
    env: { PATH: "/usr/bin", PORT: String(port), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  };
  if (name.endsWith(".php")) return spawn("/usr/bin/php", ["-S", `127.0.0.1:${port}`, file], options);
  if (name.endsWith(".py")) return spawn("/usr/bin/python3", [file], options);
  return spawn(process.execPath, [file], options);
}

async function endpoint(url = receiver.url) {
  const { body } = await ok(app, 201, "/v1/webhook-endpoints", { json: { url } });
  const made = WebhookEndpoint.parse(body);
  onTestFinished(async () => {
    await ok(app, 204, `/v1/webhook-endpoints/${made.id}`, { method: "DELETE" });
  });
  return made;
}

/** Lines of a program, as they come. */
function linesOf(...streams: (Readable | null)[]) {
  const lines: string[] = [];
  for (const stream of streams) if (stream !== null) createInterface(stream).on("line", (line) => lines.push(line));
  async function seen(pattern: RegExp): Promise<string> {
    const find = () => lines.find((line) => pattern.test(line));
    await expect.poll(find, { timeout: 20_000, interval: 10, message: `prints ${pattern}` }).toBeDefined();
    return find() ?? "";
  }
  return { lines, seen };
}

let nextPort = 20_000 + (process.pid % 10_000);
async function freePort(): Promise<number> {
  const server = createServer();
  for (;;) {
    nextPort += 1;
    const listening = once(server, "listening").then(
      () => true,
      () => false,
    );
    server.listen(nextPort, "127.0.0.1");
    if (!(await listening)) continue;
    server.close();
    return nextPort;
  }
}

/** Starts an example behind the receiver, which ends TLS for it as a reverse proxy does. */
async function run(name: string, env: Record<string, string>) {
  const port = await freePort();
  const child = begin(name, port, env);
  endAfterTest(child);
  const { lines, seen } = linesOf(child.stdout, child.stderr);
  const errors = linesOf(child.stderr);
  await seen(/listening on port|Development Server/);
  const post = async (headers: Record<string, string>, body: string) =>
    await fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers, body });
  receiver.received.length = 0;
  receiver.answer = async (request, response, body) => {
    const headers = Object.entries(request.headers).filter(([key]) => key.startsWith("webhook-"));
    const answer = await post(Object.fromEntries(headers.map(([key, value]) => [key, String(value)])), body);
    response.writeHead(answer.status).end(await answer.text());
  };
  return { lines, errors, seen, post };
}

function endAfterTest(child: ChildProcess): void {
  const ended = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
}

/** The delivery of a test event succeeds at the first attempt. */
async function delivers(id: string): Promise<void> {
  await ok(app, 202, `/v1/webhook-endpoints/${id}/test`, { method: "POST" });
  await app.jobs.idle();
  const { body } = await ok(app, 200, `/v1/webhook-endpoints/${id}`);
  expect(WebhookEndpoint.parse(body).health).toMatchObject({ successRate: 1, attempts: 1 });
}

test.each(["receive.mjs", "receive.py", "receive.php"])("%s takes what is signed, and nothing else", async (name) => {
  const { id, secret = "" } = await endpoint();
  const { lines, errors, seen, post } = await run(name, { WEBHOOK_SECRET: secret });
  await delivers(id);
  expect(await seen(/webhook\.test/)).toContain("webhook.test");
  const [one] = receiver.received;
  if (one === undefined) throw new Error("nothing came");
  const of = (key: string) => String(one.headers[key]);
  const headers = {
    "webhook-id": of("webhook-id"),
    "webhook-timestamp": of("webhook-timestamp"),
    "webhook-signature": of("webhook-signature"),
  };
  expect((await post(headers, one.body)).status).toBe(204);
  expect(lines.filter((line) => /does not verify/.test(line))).toEqual([]);
  expect((await post(headers, `${one.body} `)).status).toBe(400);
  // What it prints about a bad one is what the dashboard's page wants to know.
  const pasted = {
    id: await errors.seen(/^webhook-id: /),
    timestamp: await errors.seen(/^webhook-timestamp: /),
    signature: await errors.seen(/^webhook-signature: /),
    body: await errors.seen(/^\{/),
  };
  expect(checkSignature({ secret, ...pasted }, Date.now())).toEqual({ kind: "changed", how: "space" });
  const old = String(Number(headers["webhook-timestamp"]) - 301);
  expect((await post({ ...headers, "webhook-timestamp": old }, one.body)).status).toBe(400);
  expect((await post({ ...headers, "webhook-signature": "v1,AAAA" }, one.body)).status).toBe(400);
  expect((await post({}, one.body)).status).toBe(400);
  expect((await post(headers, "\u001b[2J\u009b2J")).status).toBe(400);
  await errors.seen(/^\ufffd\[2J\ufffd2J$/);
  expect(lines.join()).not.toContain(secret.replace("whsec_", ""));
});

test.each([
  ["receive.mjs", /^webhook\.test/],
  ["receive.py", /^webhook\.test/],
  ["post-to-chat.mjs", /^listening/],
])("%s serves HTTPS itself when it is given a certificate and its key", async (name, said) => {
  const { id, secret = "" } = await endpoint(`https://localhost:${tlsPort}/`);
  const child = begin(name, tlsPort, { WEBHOOK_SECRET: secret, TLS_CERT: receiver.ca, TLS_KEY: receiver.key });
  endAfterTest(child);
  const { seen } = linesOf(child.stdout, child.stderr);
  await seen(/listening on port/);
  await delivers(id);
  await seen(said);

  const half = begin(name, tlsPort, { WEBHOOK_SECRET: secret, TLS_CERT: receiver.ca });
  const refusal = linesOf(half.stderr);
  const [code] = await once(half, "close");
  expect([code, refusal.lines.join("\n")]).toEqual([1, expect.stringContaining("both TLS_CERT and TLS_KEY")]);
});

test("the library of Standard Webhooks verifies deliveries, with either secret during a rotation", async () => {
  const { id, secret = "" } = await endpoint();
  receiver.received.length = 0;
  receiver.answer = (_request, response) => void response.writeHead(204).end();
  const { body } = await ok(app, 200, `/v1/webhook-endpoints/${id}/secret/rotate`, { method: "POST" });
  const rotated = WebhookSecret.parse(body).secret;
  await ok(app, 202, `/v1/webhook-endpoints/${id}/test`, { method: "POST" });
  await app.jobs.idle();
  const [one] = receiver.received;
  if (one === undefined) throw new Error("nothing came");
  const headers = Object.fromEntries(Object.entries(one.headers).map(([name, value]) => [name, String(value)]));
  for (const each of [secret, rotated])
    expect(new Webhook(each).verify(one.body, headers)).toMatchObject({ type: "webhook.test" });
  expect(() => new Webhook(secret).verify(`${one.body} `, headers)).toThrow();
});

test("post-to-chat.mjs tells the channel who has signed", async () => {
  const told: string[] = [];
  const chat = createServer(async (request, response) => {
    let text = "";
    for await (const part of request) text += String(part);
    told.push(text);
    response.end("ok");
  });
  chat.listen(0, "127.0.0.1");
  await once(chat, "listening");
  onTestFinished(() => void chat.close());
  const address = chat.address();
  const port = typeof address === "object" ? address?.port : 0;
  const { secret = "" } = await endpoint();
  await run("post-to-chat.mjs", { WEBHOOK_SECRET: secret, CHAT_URL: `http://127.0.0.1:${port}/` });
  await send(app, template);
  const bearer = await enter(app, "ada@example.com");
  await ok(app, 200, "/v1/signing/submit", { key: { bearer }, json: await submission(app, bearer) });
  await app.jobs.idle();
  expect(told).toEqual([JSON.stringify({ text: "Ada Muster has signed “Flat 12”." })]);
});

test("send-from-spreadsheet.py sends one contract a row, and none twice", async () => {
  const roles = [{ name: "Tenant", order: 1, verification: "none" }];
  const items = [{ id: "sign", role: "Tenant", type: "signature", page: 1, x: 60, y: 120, width: 200, height: 40 }];
  const single = await publishTemplate(app, { roles, items });
  const file = path.join(app.folder, "contracts.csv");
  await writeFile(file, "\ufeffnumber,role,name,email\n1,Tenant,Zoë,zoe@example.com\n2,Tenant,Ben,not an address\n");
  const send = async () => {
    const child = spawn("/usr/bin/python3", [path.join(examples, "send-from-spreadsheet.py"), single, file], {
      env: { PATH: "/usr/bin", SIGNET_URL: app.url, SIGNET_API_KEY: app.keys.live, PYTHONIOENCODING: "utf-8" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const { lines } = linesOf(child.stdout);
    const errors = linesOf(child.stderr);
    const [code] = await once(child, "close");
    return { code, lines, errors: errors.lines };
  };
  const first = await send();
  expect(first).toEqual({
    code: 0,
    lines: [expect.stringMatching(/^1 env_\w+ sent$/)],
    errors: [expect.stringMatching(/^2 was refused: /), expect.stringMatching(/^ +#\/recipients\/0\/email .*address/)],
  });
  expect((await send()).lines[0]).toBe(first.lines[0]?.replace("sent", "was sent before"));
});
