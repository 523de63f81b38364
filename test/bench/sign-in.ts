import { type ChildProcess, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { waitFor } from "../../server/commands/demo/main-job.ts";
import { loadConfig } from "../../server/config.ts";
import { hashPassword } from "../../server/features/identity/password.ts";
import { createPerson } from "../../server/features/identity/people.ts";
import { createLog } from "../../server/kernel/log.ts";
import { openDeps } from "../../server/open-deps.ts";
import { mannWhitney, median, quartiles } from "./median.ts";
import type { BenchResult } from "./seal.ts";

const rounds = 60;
const port = 18481;
const url = `http://127.0.0.1:${port}`;
const known = (round: number) => `person${round}@example.com`;
const unknown = (round: number) => `nobody${round}@example.com`;

type Question = { name: string; path: string; json: (email: string) => unknown; settleMs: number };
const questions: Question[] = [
  {
    name: "password sign-in",
    path: "/auth/sign-in/password",
    json: (email) => ({ email, password: "not the password" }),
    settleMs: 0,
  },
  { name: "code request", path: "/auth/codes", json: (email) => ({ email }), settleMs: 150 },
  { name: "entering a code", path: "/auth/sign-in/code", json: (email) => ({ email, code: "000000" }), settleMs: 0 },
  { name: "magic link request", path: "/auth/magic-links", json: (email) => ({ email }), settleMs: 150 },
  { name: "reset request", path: "/auth/password/forgot", json: (email) => ({ email }), settleMs: 150 },
  {
    name: "sign-up",
    path: "/auth/sign-up",
    json: (email) => ({ email, password: "seven owls in a boat", name: "Someone" }),
    settleMs: 150,
  },
];

/**
 * Whether the time of an answer tells that an address has an account: the difference of the medians over the noise, asked in
 * turns in random order, each address once and from a client address of its own, so that no limit interferes. The second
 * figure of what is mailed is the time of the requests right after it, while the mail is made.
 */
export async function benchSignIn(): Promise<BenchResult[]> {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-bench-sign-in-"));
  const env = {
    SIGNET_DATA_DIR: folder,
    SIGNET_PORT: String(port),
    SIGNET_LOG_LEVEL: "error",
    SIGNET_SIGN_UP: "invited",
    SIGNET_TRUSTED_PROXIES: "127.0.0.1",
  };
  await prepare(env);
  const server = await start(env);
  try {
    const results: BenchResult[] = [];
    for (const question of questions) results.push(...(await measure(question)));
    return results;
  } finally {
    server.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  }
}

async function prepare(env: Record<string, string>): Promise<void> {
  const { deps, close } = await openDeps({ config: loadConfig(env), log: createLog("silent"), createKey: true });
  const passwordHash = await hashPassword("the password of all of them");
  await deps.db.tx(async (tx) => {
    for (let round = -5; round < rounds; round++) {
      const email = known(round);
      await createPerson(tx, deps, { email, name: `Person ${round}`, passwordHash, locale: null });
    }
  });
  await close();
}

async function start(env: Record<string, string>): Promise<ChildProcess> {
  const main = path.resolve(import.meta.dirname, "../../server/main.ts");
  const child = spawn(process.execPath, [main, "serve"], {
    env: { PATH: process.env.PATH ?? "", ...env },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const ready = async () => (await fetch(`${url}/readyz`).catch(() => null))?.ok || null;
  await waitFor("the appliance", ready, 30_000, 20);
  return child;
}

let clients = 0;

async function timed(target: string, json?: unknown): Promise<{ ms: number; status: number }> {
  clients += 1;
  const from = `10.${clients >> 16}.${(clients >> 8) & 255}.${clients & 255}`;
  const headers = { "x-forwarded-for": from, origin: url, "content-type": "application/json" };
  const started = performance.now();
  const answer = await fetch(`${url}${target}`, {
    headers,
    ...(json === undefined ? {} : { method: "POST", body: JSON.stringify(json) }),
  });
  await answer.arrayBuffer();
  return { ms: performance.now() - started, status: answer.status };
}

type Times = { own: number[]; after: number[] };

async function measure({ name, path: target, json, settleMs }: Question): Promise<BenchResult[]> {
  const seen: Record<"known" | "unknown", Times> = { known: { own: [], after: [] }, unknown: { own: [], after: [] } };
  const statuses = new Set<number>();
  // The first rounds load what is loaded with first use.
  for (let round = -5; round < rounds; round++) {
    for (const kind of randomInt(2) === 0 ? (["known", "unknown"] as const) : (["unknown", "known"] as const)) {
      const { ms, status } = await timed(target, json(kind === "known" ? known(round) : unknown(round)));
      const after = settleMs === 0 ? 0 : await probe();
      await delay(settleMs);
      if (round < 0) continue;
      statuses.add(status);
      seen[kind].own.push(ms);
      seen[kind].after.push(after);
    }
  }
  if (statuses.size !== 1 || statuses.has(429)) throw new Error(`${name} answered ${[...statuses].join(", ")}`);
  const results = [compare(`${name}: known against unknown address`, seen.known.own, seen.unknown.own)];
  if (settleMs > 0) results.push(compare(`requests right after: ${name}`, seen.known.after, seen.unknown.after));
  return results;
}

/** What somebody else's requests take while the mail of the one before is made. */
async function probe(): Promise<number> {
  let sum = 0;
  for (let i = 0; i < 10; i++) sum += (await timed("/auth/options")).ms;
  return sum;
}

function compare(name: string, ours: number[], theirs: number[]): BenchResult {
  const difference = median(ours) - median(theirs);
  const [low, high] = quartiles([...ours, ...theirs]);
  const p = mannWhitney(ours, theirs);
  return {
    name,
    ratio: Math.abs(difference) / (high - low),
    target: "< 1 (of the quartile range), p > 0.01",
    detail: `${median(ours).toFixed(2)} against ${median(theirs).toFixed(2)} ms, quartile range ${(high - low).toFixed(2)} ms, p = ${p.toFixed(3)}`,
  };
}
