import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createClient } from "../../server/commands/demo/client.ts";
import { publishTemplate, sendEnvelope, waitFor } from "../../server/commands/demo/main-job.ts";
import { loadConfig } from "../../server/config.ts";
import { createApiKey, createOrganization } from "../../server/features/identity/service.ts";
import { revokeAnyKey } from "../../server/features/sign-in/access-contract.ts";
import { createLog } from "../../server/kernel/log.ts";
import { permissions } from "../../server/kernel/wire.ts";
import { callLocal } from "../../server/local-client.ts";
import { openDeps } from "../../server/open-deps.ts";
import { freePort } from "../crash/scenario.ts";
import { median } from "./median.ts";
import type { BenchResult } from "./seal.ts";

const many = 1000;
const rounds = 20;

/** What a thousand open event streams of one envelope cost: memory of the server, and how late the last of them hears. */
export async function benchStreams(): Promise<BenchResult[]> {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-bench-events-"));
  const port = await freePort();
  const env = {
    SIGNET_DATA_DIR: folder,
    SIGNET_PORT: String(port),
    SIGNET_LOG_LEVEL: "error",
    SIGNET_STREAMS_PER_CALLER: String(many + 1),
  };
  const { key, second } = await prepare(env);
  const main = path.resolve(import.meta.dirname, "../../server/main.ts");
  const server = spawn(process.execPath, [main, "serve"], {
    env: { PATH: process.env.PATH ?? "", ...env },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const url = `http://127.0.0.1:${port}`;
  try {
    const answered = async () => (await fetch(`${url}/healthz`).catch(() => null))?.ok || null;
    await waitFor("the first answer", answered, 30_000, 5);
    const client = createClient(url, key);
    const pdf = await readFile(path.resolve(import.meta.dirname, "../fixtures/pdf/lecture.pdf"));
    const { template } = await publishTemplate(client, pdf, "none");
    const { id } = await sendEnvelope(client, template.id);
    const rssOf = async () => {
      await delay(3000);
      const status = await readFile(`/proc/${server.pid}/status`, "utf8");
      return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0);
    };
    const target = `/v1/envelopes/${id}/events/stream`;
    const first = await open(port, target, second.key);
    const alone = await notified(url, key, id, [first]);
    const before = await rssOf();
    const streams = [first];
    while (streams.length < many) streams.push(await open(port, target, second.key));
    const each = ((await rssOf()) - before) / (many - 1);
    const last = await notified(url, key, id, streams);
    const closed = Promise.all(streams.map(({ closed }) => closed));
    const begun = performance.now();
    const admin = { socket: path.join(folder, "run", "admin.sock"), operator: "bench" };
    await callLocal(admin, revokeAnyKey, { params: { id: second.id } });
    await closed;
    const ended = performance.now() - begun;
    return [
      {
        name: `the last of ${many} streams hears of an entry ÷ the only one does`,
        ratio: median(last) / median(alone),
        target: "< 1 s",
        detail: `${median(last).toFixed(0)} against ${median(alone).toFixed(1)} ms from the call; all end ${ended.toFixed(0)} ms after their key is revoked`,
      },
      {
        name: "memory of an open stream, with its connection ÷ 150 kB",
        ratio: each / 150,
        target: "< 1",
        detail: `${each.toFixed(0)} kB resident each, of ${many}`,
      },
    ];
  } finally {
    server.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  }
}

async function prepare(env: Record<string, string>) {
  const { deps, close } = await openDeps({ config: loadConfig(env), log: createLog("silent"), createKey: true });
  const owner = { email: "owner@example.com", name: "Olive Owner", password: null };
  const made = await createOrganization(deps, { name: "Example Ltd", owner });
  const actor = { type: "user" as const, id: made.user, name: owner.name, email: owner.email };
  const make = (name: string) => {
    const input = { name, mode: "live" as const, scopes: [...permissions] };
    return createApiKey(deps, made.organization, actor, new Set(permissions), input);
  };
  const { key } = await make("bench");
  const second = await make("streams");
  await close();
  return { key, second };
}

type Open = { socket: Socket; closed: Promise<unknown>; heard: () => number };

/** A stream on a connection of its own that has had what there is so far. */
async function open(port: number, target: string, key: string): Promise<Open> {
  const socket = connect({ host: "127.0.0.1", port });
  let heard = 0;
  const closed = once(socket, "close");
  socket.on("data", (chunk: Buffer) => {
    heard +=
      chunk.toString("latin1").split("\nid: ").length - 1 + (chunk.toString("latin1").startsWith("id: ") ? 1 : 0);
  });
  await once(socket, "connect");
  socket.on("error", () => undefined);
  const begun = once(socket, "data");
  // From a place behind the end: what is measured is what comes.
  socket.write(
    `GET ${target} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${key}\r\nlast-event-id: 3\r\nconnection: close\r\n\r\n`,
  );
  await begun;
  return { socket, closed, heard: () => heard };
}

/** Milliseconds from a call that writes an entry until the last of the streams has it, in each round. */
async function notified(url: string, key: string, envelope: string, streams: readonly Open[]): Promise<number[]> {
  const times: number[] = [];
  await delay(500);
  for (let round = 0; round < rounds; round += 1) {
    const counts = streams.map(({ heard }) => heard());
    const begun = performance.now();
    const body = JSON.stringify({ viewers: [{ email: `v${streams.length}-${round}@example.org` }] });
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const response = await fetch(`${url}/v1/envelopes/${envelope}/viewers`, { method: "POST", headers, body });
    if (!response.ok) throw new Error(`a viewer was refused: ${await response.text()}`);
    while (streams.some(({ heard }, index) => heard() === counts[index])) await delay(1);
    times.push(performance.now() - begun);
    await delay(200);
  }
  return times;
}
