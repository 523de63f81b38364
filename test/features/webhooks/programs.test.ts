import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import path from "node:path";
import { createInterface } from "node:readline";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { WebhookEndpoint, WebhookSecret } from "../../../server/features/webhooks/contract.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { enter, ok, publishTemplate, send, submission } from "../../harness/scenario.ts";
import { allowing, type Receiver, startReceiver } from "../../harness/webhook-receiver.ts";

/** The programs of `docs/examples`, run as somebody would run them. */

let receiver: Receiver;
let app: TestAppliance;
let template: string;
beforeAll(async () => {
  receiver = await startReceiver();
  app = await startAppliance({ env: allowing(receiver) });
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

async function endpoint() {
  const { body } = await ok(app, 201, "/v1/webhook-endpoints", { json: { url: receiver.url } });
  const made = WebhookEndpoint.parse(body);
  onTestFinished(async () => {
    await ok(app, 204, `/v1/webhook-endpoints/${made.id}`, { method: "DELETE" });
  });
  return made;
}

/** Lines of a program, as they come. */
function linesOf(child: ChildProcess) {
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue;
    createInterface(stream).on("line", (line) => {
      lines.push(line);
      for (const look of waiting) look();
    });
  }
  const seen = (pattern: RegExp) =>
    new Promise<string>((resolve) => {
      const look = () => {
        const found = lines.find((line) => pattern.test(line));
        if (found === undefined) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
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
  onTestFinished(() => void child.kill("SIGKILL"));
  const { lines, seen } = linesOf(child);
  await seen(/listening on port|Development Server/);
  const post = async (headers: Record<string, string>, body: string) =>
    await fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers, body });
  receiver.received.length = 0;
  receiver.answer = async (request, response, body) => {
    const headers = Object.entries(request.headers).filter(([key]) => key.startsWith("webhook-"));
    const answer = await post(Object.fromEntries(headers.map(([key, value]) => [key, String(value)])), body);
    response.writeHead(answer.status).end(await answer.text());
  };
  return { lines, seen, post };
}

test.each(["receive.mjs", "receive.py", "receive.php"])("%s takes what is signed, and nothing else", async (name) => {
  const { id, secret = "" } = await endpoint();
  const { seen, post } = await run(name, { WEBHOOK_SECRET: secret });
  await ok(app, 202, `/v1/webhook-endpoints/${id}/test`, { method: "POST" });
  await app.jobs.idle();
  expect(await seen(/webhook\.test/)).toContain("webhook.test");
  const { body: health } = await ok(app, 200, `/v1/webhook-endpoints/${id}`);
  expect(WebhookEndpoint.parse(health).health).toMatchObject({ successRate: 1, attempts: 1 });
  const [one] = receiver.received;
  if (one === undefined) throw new Error("nothing came");
  const of = (key: string) => String(one.headers[key]);
  const headers = {
    "webhook-id": of("webhook-id"),
    "webhook-timestamp": of("webhook-timestamp"),
    "webhook-signature": of("webhook-signature"),
  };
  expect((await post(headers, one.body)).status).toBe(204);
  expect((await post(headers, `${one.body} `)).status).toBe(400);
  const old = String(Number(headers["webhook-timestamp"]) - 301);
  expect((await post({ ...headers, "webhook-timestamp": old }, one.body)).status).toBe(400);
  expect((await post({ ...headers, "webhook-signature": "v1,AAAA" }, one.body)).status).toBe(400);
  expect((await post({}, one.body)).status).toBe(400);
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
    const { lines } = linesOf(child);
    const [code] = await once(child, "close");
    return { code, lines: lines.toSorted() };
  };
  const first = await send();
  expect(first).toEqual({
    code: 0,
    lines: [expect.stringMatching(/^1 env_\w+ sent$/), expect.stringMatching(/^2 was refused: .+address/)],
  });
  expect((await send()).lines[0]).toBe(first.lines[0]?.replace("sent", "was sent before"));
});
