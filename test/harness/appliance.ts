import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Appliance, startAppliance as compose } from "../../server/compose.ts";
import { type Config, loadConfig } from "../../server/config.ts";
import { createApiKey, createOrganization } from "../../server/features/identity/service.ts";
import { sessionCookieName, startSession } from "../../server/features/identity/sessions.ts";
import { listMail } from "../../server/features/mail/service.ts";
import type { Clock } from "../../server/kernel/clock.ts";
import type { Deps } from "../../server/kernel/deps.ts";
import type { Machine } from "../../server/kernel/guarded-clock.ts";
import type { JobRunner } from "../../server/kernel/job-runner.ts";
import { createLog, type Log } from "../../server/kernel/log.ts";
import type { LogTail } from "../../server/kernel/log-tail.ts";
import { type Permission, permissions } from "../../server/kernel/wire.ts";
import { expectDescribed, watchAnswers } from "./described.ts";

export type CallOptions = {
  /** `live` (default), `test`, null for none, or a token of any kind. */
  key?: "live" | "test" | null | { bearer: string };
  method?: string;
  /** Sent as JSON. */
  json?: unknown;
  body?: BodyInit;
  headers?: Record<string, string>;
  signal?: AbortSignal;
};

export type TestAppliance = {
  url: string;
  folder: string;
  config: Config;
  deps: Deps;
  jobs: JobRunner;
  organization: string;
  owner: { id: string; email: string };
  keys: { live: string; test: string };
  /** One HTTP call; GET without a body, POST with one, unless `method` says otherwise. */
  call(path: string, options?: CallOptions): Promise<Response>;
  /** The same, answered with status and parsed JSON. */
  json(path: string, options?: CallOptions): Promise<{ status: number; headers: Headers; body: unknown }>;
  /** Signs a person in, the owner unless said otherwise: the `cookie` header of a new dashboard session. */
  signIn(user?: string): Promise<string>;
  /** A further API key. */
  createKey(mode: "live" | "test", scopes?: Permission[]): Promise<string>;
  /** Everything in the outbox, newest first, after all due jobs ran. */
  mail(): ReturnType<typeof listMail>;
  /** Stops the process's appliance and starts it again on the same folder. */
  restart(): Promise<void>;
  /** @throws Error when it gave an answer that its interface description does not have */
  stop(): Promise<void>;
};

export type StartOptions = {
  env?: Record<string, string>;
  clock?: Clock;
  /** Its clock stands under guard, as in a real start. */
  machine?: Machine;
  /** Bytes that are left, as the appliance believes. */
  availableMemory?: () => number;
  /** Instead of standard output at the configured level. */
  log?: Log;
  /** Reads the log along, for administrators. */
  logTail?: LogTail;
  /** Keeps an existing folder (and its organization) instead of a new temporary one. */
  folder?: string;
  onBoundary?: (point: string) => void;
  /** The file that the program was started from: below a folder of releases it is an installation. */
  program?: string;
  /** Address of the new organization's owner: another one where the folder knows `owner@example.com` already. */
  owner?: string;
};

/**
 * A real appliance in this process: own temporary data folder, free port, one organization with an owner and two API keys
 * with every permission. Answers are checked against their schemas and against the interface description.
 */
export async function startAppliance(options: StartOptions = {}): Promise<TestAppliance> {
  const folder = options.folder ?? (await mkdtemp(path.join(tmpdir(), "signet-test-")));
  const config = loadConfig({
    SIGNET_DATA_DIR: folder,
    SIGNET_PORT: "0",
    SIGNET_LOG_LEVEL: "silent",
    SIGNET_ANCHOR_INTERVAL_SECONDS: "1",
    SIGNET_TEST_CHECK_RESPONSES: "1",
    // The disk of the machine that tests is nobody's business here, whatever is left of it.
    SIGNET_DISK_RESERVE_MB: "0",
    SIGNET_DISK_WARN_PERCENT: "99",
    SIGNET_DISK_FULL_PERCENT: "100",
    ...options.env,
  });
  const ports = new Set<number>();
  const start = async () => {
    const started = await compose({
      config,
      log: options.log ?? createLog(config.logLevel),
      ...(options.logTail ? { logTail: options.logTail } : {}),
      ...(options.clock ? { clock: options.clock } : {}),
      ...(options.machine ? { machine: options.machine } : {}),
      ...(options.availableMemory ? { availableMemory: options.availableMemory } : {}),
      ...(options.program ? { program: options.program } : {}),
      ...(options.onBoundary ? { onBoundary: options.onBoundary } : {}),
    });
    const { port } = started.deps.config;
    if (config.checkResponses) watchAnswers(port);
    ports.add(port);
    return started;
  };
  let running: Appliance = await start();
  const email = options.owner ?? "owner@example.com";
  const made = await createOrganization(running.deps, {
    name: "Example Ltd",
    owner: { email, name: "Olive Owner", password: null },
  });
  const actor = { type: "user" as const, id: made.user, name: "Olive Owner", email };
  const createKey = async (mode: "live" | "test", scopes: Permission[] = [...permissions]) =>
    (
      await createApiKey(running.deps, made.organization, actor, new Set(permissions), {
        name: `${mode} key`,
        mode,
        scopes,
      })
    ).key;
  const keys = { live: await createKey("live"), test: await createKey("test") };

  const call = async (target: string, { key = "live", json, headers = {}, method, body, signal }: CallOptions = {}) => {
    const token = key === null ? null : typeof key === "string" ? keys[key] : key.bearer;
    const payload = json === undefined ? body : JSON.stringify(json);
    return await fetch(new URL(target, running.url), {
      method: method ?? (payload === undefined ? "GET" : "POST"),
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(json === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(payload === undefined ? {} : { body: payload }),
      ...(signal ? { signal } : {}),
      redirect: "manual",
    });
  };

  return {
    get url() {
      return running.url;
    },
    folder,
    config,
    get deps() {
      return running.deps;
    },
    get jobs() {
      return running.jobs;
    },
    organization: made.organization,
    owner: { id: made.user, email },
    keys,
    call,
    async json(target, callOptions) {
      const response = await call(target, callOptions);
      const text = await response.text();
      const body: unknown = text === "" ? null : JSON.parse(text);
      return { status: response.status, headers: response.headers, body };
    },
    createKey,
    async signIn(user = made.user) {
      const request = { ip: "127.0.0.1", userAgent: "test", header: () => null };
      const { secret } = await running.deps.db.tx((tx) => startSession(tx, running.deps, user, "password", request));
      return `${sessionCookieName}=${secret}`;
    },
    async mail() {
      await running.jobs.idle();
      return await listMail(running.deps.db.read, running.deps, {});
    },
    async restart() {
      await running.stop();
      running = await start();
    },
    async stop() {
      await running.stop(1000);
      if (options.folder === undefined) await rm(folder, { recursive: true, force: true });
      for (const port of ports) expectDescribed(port);
    },
  };
}
