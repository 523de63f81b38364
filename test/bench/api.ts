import { type ChildProcess, fork, spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Pool } from "undici";
import { createClient } from "../../server/commands/demo/client.ts";
import { publishTemplate, sendEnvelope, waitFor } from "../../server/commands/demo/main-job.ts";
import { loadConfig } from "../../server/config.ts";
import { createApiKey, createOrganization } from "../../server/features/identity/service.ts";
import { createLog } from "../../server/kernel/log.ts";
import { permissions } from "../../server/kernel/wire.ts";
import { openDeps } from "../../server/open-deps.ts";
import { median } from "./median.ts";
import type { BenchResult } from "./seal.ts";

const clients = 50;
const roundMs = 2500;
const rounds = 5;

/** Requests a second of the API against a bare Koa route on the same machine in the same run; time and memory of the start. */
export async function benchApi(): Promise<BenchResult[]> {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-bench-api-"));
  const env = { SIGNET_DATA_DIR: folder, SIGNET_PORT: "18480", SIGNET_LOG_LEVEL: "error" };
  const key = await prepare(env);
  const bare = fork(path.join(import.meta.dirname, "bare-child.ts"), { execArgv: [] });
  const bareUrl = await new Promise<string>((resolve) =>
    bare.once("message", (message: { ready: string }) => resolve(message.ready)),
  );
  const start = await benchStart(env);
  const url = "http://127.0.0.1:18480";
  try {
    const client = createClient(url, key);
    const pdf = await readFile(path.resolve(import.meta.dirname, "../fixtures/pdf/lecture.pdf"));
    const { template } = await publishTemplate(client, pdf, "none");
    const envelope = await sendEnvelope(client, template.id);
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const body = JSON.stringify({
      template: template.id,
      recipients: [
        { role: "Client", name: "Clara", email: "clara@example.org" },
        { role: "Contractor", name: "Carl", email: "carl@example.net" },
      ],
      variables: { reference: "B" },
    });
    const reads = await compare(
      { url, method: "GET", path: `/v1/envelopes/${envelope.id}`, headers },
      { url: bareUrl, method: "GET", path: "/one/a", headers: {} },
    );
    const creates = await compare(
      { url, method: "POST", path: "/v1/envelopes", headers, body },
      { url: bareUrl, method: "POST", path: "/one", headers: { "content-type": "application/json" }, body },
    );
    return [
      { name: "GET /v1/envelopes/{id} ÷ bare Koa route with one SQLite read", target: "≥ 0.5", ...reads },
      { name: "POST /v1/envelopes ÷ bare Koa route with one durable write", target: "≥ 0.4", ...creates },
      start.result,
    ];
  } finally {
    bare.kill();
    start.child.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  }
}

async function prepare(env: Record<string, string>): Promise<string> {
  const { deps, close } = await openDeps({ config: loadConfig(env), log: createLog("silent"), createKey: true });
  const owner = { email: "owner@example.com", name: "Olive Owner", password: null };
  const made = await createOrganization(deps, { name: "Example Ltd", owner });
  const actor = { type: "user" as const, id: made.user, name: owner.name, email: owner.email };
  const { key } = await createApiKey(deps, made.organization, actor, new Set(permissions), {
    name: "bench",
    mode: "live",
    scopes: [...permissions],
  });
  await close();
  return key;
}

/** From the start of the process to the first answer, in milliseconds, and its memory then; against Node's own start. */
async function benchStart(env: Record<string, string>): Promise<{ child: ChildProcess; result: BenchResult }> {
  const main = path.resolve(import.meta.dirname, "../../server/main.ts");
  const times: number[] = [];
  const sizes: number[] = [];
  let child: ChildProcess | undefined;
  for (let i = 0; i < 3; i++) {
    if (child) {
      const gone = new Promise((resolve) => child?.once("exit", resolve));
      child.kill("SIGKILL");
      await gone;
    }
    const started = performance.now();
    child = spawn(process.execPath, [main, "serve"], {
      env: { PATH: process.env.PATH ?? "", ...env },
      stdio: ["ignore", "ignore", "inherit"],
    });
    await waitFor(
      "the first answer",
      async () => (await fetch(`http://127.0.0.1:${env.SIGNET_PORT}/healthz`).catch(() => null))?.ok || null,
      30_000,
      5,
    );
    times.push(performance.now() - started);
    const status = await readFile(`/proc/${child.pid}/status`, "utf8");
    sizes.push(Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024);
  }
  if (!child) throw new Error("nothing was started");
  const nodeMs = await nodeStart();
  const ms = median(times);
  return {
    child,
    result: {
      name: "start to first answer ÷ start of an empty Node process",
      ratio: ms / nodeMs,
      target: "< 1.5 s, < 150 MB",
      detail: `${Math.round(ms)} ms, ${Math.round(median(sizes))} MB resident`,
    },
  };
}

async function nodeStart(): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 5; i++) {
    const started = performance.now();
    const child = spawn(process.execPath, ["-e", "0"]);
    await new Promise((resolve) => child.once("exit", resolve));
    times.push(performance.now() - started);
  }
  return median(times);
}

type Target = { url: string; method: "GET" | "POST"; path: string; headers: Record<string, string>; body?: string };

async function compare(ours: Target, bare: Target): Promise<{ ratio: number; detail: string }> {
  const our: number[] = [];
  const floor: number[] = [];
  await Promise.all([load(ours, 500), load(bare, 500)]);
  for (let i = 0; i < rounds; i++) {
    floor.push(await load(bare, roundMs));
    our.push(await load(ours, roundMs));
    // What the creates left to render would otherwise be measured with the next round's floor.
    await delay(500);
  }
  const detail = `${Math.round(median(our))} against ${Math.round(median(floor))} requests a second, ${clients} clients`;
  return { ratio: median(our.map((value, i) => value / (floor[i] ?? value))), detail };
}

/** Requests a second that this target answers with 2xx. */
async function load({ url, method, path: target, headers, body }: Target, ms: number): Promise<number> {
  const pool = new Pool(url, { connections: clients });
  let done = 0;
  const end = performance.now() + ms;
  const one = async () => {
    while (performance.now() < end) {
      const response = await pool.request({ path: target, method, headers, ...(body === undefined ? {} : { body }) });
      await response.body.dump();
      if (response.statusCode >= 300) throw new Error(`${method} ${target} answered ${response.statusCode}`);
      done++;
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: clients }, one));
  await pool.close();
  return (done * 1000) / (performance.now() - started);
}
