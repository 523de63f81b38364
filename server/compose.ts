import { mkdir } from "node:fs/promises";
import {
  createServer as createHttp,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import { createServer as createHttps } from "node:https";
import path from "node:path";
import Koa, { type Context, type Next } from "koa";
import { type Config, ConfigError, withPort } from "./config.ts";
import { endpoints } from "./contract.ts";
import { handlers as envelopeHandlers } from "./features/envelopes/handlers.ts";
import { bindings as envelopeBindings } from "./features/envelopes/routes.ts";
import { handlers as evidenceHandlers } from "./features/evidence/handlers.ts";
import { bindings as evidenceBindings } from "./features/evidence/routes.ts";
import { createKeyAuthenticator } from "./features/identity/authenticate.ts";
import { bindings as keyBindings } from "./features/keys/routes.ts";
import { ensureKeys } from "./features/keys/service.ts";
import { handlers as mailHandlers } from "./features/mail/handlers.ts";
import { bindings as organizationBindings } from "./features/organization/routes.ts";
import { authenticateSigner } from "./features/signing/authenticate.ts";
import { handlers as signingHandlers } from "./features/signing/handlers.ts";
import { bindings as signingBindings } from "./features/signing/routes.ts";
import { bindings as templateBindings } from "./features/templates/routes.ts";
import { createApi } from "./kernel/api.ts";
import { openBlobs } from "./kernel/blobs.ts";
import { clientIp } from "./kernel/client-ip.ts";
import { type Clock, systemClock } from "./kernel/clock.ts";
import { lockDataFolder } from "./kernel/data-lock.ts";
import { openDatabase } from "./kernel/db.ts";
import type { Deps } from "./kernel/deps.ts";
import { syncFolder } from "./kernel/durable.ts";
import { AppError } from "./kernel/errors.ts";
import { createEvents } from "./kernel/events.ts";
import { purgeIdempotency } from "./kernel/idempotency.ts";
import { type JobRunner, startJobs } from "./kernel/job-runner.ts";
import type { Log } from "./kernel/log.ts";
import { findMasterKey, proveMasterKey } from "./kernel/master-key.ts";
import { createMetrics } from "./kernel/metrics.ts";
import { openOutbound } from "./kernel/outbound.ts";
import { openPool } from "./kernel/pool.ts";
import { openRateLimits } from "./kernel/rate-limits.ts";
import { openSecrets } from "./kernel/secrets.ts";
import { createOperations } from "./operations.ts";
import { servePage } from "./pages.ts";
import { loadTls } from "./tls.ts";

export type ComposeOptions = {
  config: Config;
  log: Log;
  clock?: Clock;
  /** Called at each job and transaction boundary; the crash tests end the process there. */
  onBoundary?: (point: string) => void;
};

export type OpenOptions = ComposeOptions & {
  /** Who holds the lock of the data folder. */
  serving?: boolean;
  /** Makes the master key of a data folder that holds nothing yet; without it such a folder is refused. */
  createKey?: boolean;
};

/**
 * Builds everything that use cases share. Opens the data folder.
 * @throws MasterKeyUnfit when the key is missing although there is data, or is not the one that the data was written under
 */
export async function openDeps(options: OpenOptions): Promise<{ deps: Deps; close: () => Promise<void> }> {
  const { config, log } = options;
  const clock = options.clock ?? systemClock;
  const made = await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
  if (made !== undefined) await syncFolder(path.dirname(made));
  const masterKey = await findMasterKey(config, options.createKey === true);
  const secrets = openSecrets(masterKey);
  const outbound = openOutbound({
    allow: config.outboundAllow,
    proxy: config.outboundProxy,
    caFile: config.caFile,
    airGap: config.airGap,
  });
  const db = await openDatabase({
    file: path.join(config.dataDir, "signet.db"),
    clock,
    secrets,
    onBoundary: options.onBoundary,
  });
  await proveMasterKey({ db, secrets }, config.masterKeyFile).catch(async (error: unknown) => {
    await db.close();
    throw error;
  });
  const blobs = await openBlobs({ folder: path.join(config.dataDir, "blobs"), secrets, clear: options.serving });
  const limits = openRateLimits({ clock });
  const pool = openPool({ threads: config.workers });
  const deps: Deps = {
    config,
    clock,
    log,
    metrics: createMetrics(),
    db,
    blobs,
    secrets,
    pool,
    outbound,
    events: createEvents(),
    limits,
  };
  const close = async () => {
    await pool.close();
    await db.close();
    await blobs.close();
  };
  return { deps, close };
}

export type Appliance = {
  deps: Deps;
  /** Where it answers, without a trailing slash. */
  url: string;
  /** Whether it made its own certificate, which nobody trusts yet. */
  selfSigned: boolean;
  jobs: JobRunner;
  /** Takes no more work, finishes or hands back what runs, closes everything. */
  stop: (graceMs?: number) => Promise<void>;
};

const purgeEveryMs = 3_600_000;

/** Starts the whole appliance on its data folder. Only one process may serve a folder. */
export async function startAppliance(options: ComposeOptions): Promise<Appliance> {
  const undo: (() => Promise<void>)[] = [];
  try {
    return await start(options, undo);
  } catch (error) {
    // What is open already would keep the process alive, the port taken and the folder locked.
    for (const step of undo.reverse()) await step().catch(() => undefined);
    throw error;
  }
}

/** @param undo takes what closes each thing that was opened */
async function start(options: ComposeOptions, undo: (() => Promise<void>)[]): Promise<Appliance> {
  const lock = await lockDataFolder(options.config.dataDir);
  undo.push(() => lock.release());
  const front = await listen(options.config);
  undo.push(() => front.close(0));
  const config = withPort(options.config, front.port);
  const { deps, close } = await openDeps({ ...options, config, serving: true, createKey: true });
  undo.push(close);
  const api = createApi({
    deps,
    bindings: [
      ...templateBindings,
      ...envelopeBindings,
      ...signingBindings,
      ...organizationBindings,
      ...evidenceBindings,
      ...keyBindings,
    ],
    authenticators: {
      key: createKeyAuthenticator(deps),
      dashboard: async () => {
        throw new AppError("unauthorized", { detail: "This operation needs a dashboard session." });
      },
      signer: (request) => authenticateSigner(deps, request.header("authorization"), request),
      viewer: async () => {
        throw new AppError("token-invalid");
      },
    },
    clientIp: clientIp(config.trustedProxies),
  });
  const jobs = startJobs({
    db: deps.db,
    clock: deps.clock,
    secrets: deps.secrets,
    log: deps.log,
    metrics: deps.metrics,
    bindings: [...envelopeHandlers(deps), ...signingHandlers(deps), ...evidenceHandlers(deps), ...mailHandlers(deps)],
    onBoundary: options.onBoundary,
  });
  deps.metrics.measureQueue(() => jobs.counts());
  const operations = createOperations(deps, endpoints);
  const app = new Koa();
  app.use(api.observe);
  app.use(api.routes);
  app.use(async (ctx, next) =>
    (await operations.answer(ctx.method, ctx.path, ctx.get("authorization"), (reply) => apply(ctx, reply)))
      ? undefined
      : next(),
  );
  app.use((ctx, next) => page(deps, ctx, next));
  app.use(() => {
    throw new AppError("not-found", { detail: "There is nothing at this address." });
  });
  // Errors of a socket that the client closed; every other one was answered by the API's own catch.
  app.on("error", (err: unknown) => deps.log.debug({ err }, "connection ended early"));
  front.serve(app.callback());
  const keys = ensureKeys(deps);
  keys.catch((err: unknown) => deps.log.error({ err }, "keys could not be made"));
  const purge = setInterval(() => {
    purgeIdempotency(deps).catch((err: unknown) => deps.log.warn({ err }, "old replies were not purged"));
  }, purgeEveryMs);
  purge.unref();
  return {
    deps,
    url: config.baseUrl,
    selfSigned: front.selfSigned,
    jobs,
    async stop(graceMs = 10_000) {
      operations.stopping();
      clearInterval(purge);
      await Promise.all([front.close(graceMs), jobs.stop(graceMs)]);
      await keys.catch(() => undefined);
      await close();
      await lock.release();
    },
  };
}

type PageReply = { status: number; headers: Record<string, string>; body: string | Uint8Array | null };

function apply(ctx: Context, reply: PageReply): void {
  ctx.body = reply.body instanceof Uint8Array ? Buffer.from(reply.body) : reply.body;
  ctx.status = reply.status;
  ctx.set(reply.headers);
}

async function page(deps: Deps, ctx: Context, next: Next): Promise<void> {
  const found =
    ctx.method === "GET" || ctx.method === "HEAD"
      ? await servePage(deps, { method: ctx.method, path: ctx.path, headers: ctx.req.headers })
      : null;
  if (!found) return next();
  ctx.state.template = "pages";
  apply(ctx, found);
}

type Front = {
  port: number;
  selfSigned: boolean;
  serve: (listener: RequestListener) => void;
  close: (graceMs: number) => Promise<void>;
};

/** The same failure with what to do about it. */
function listenError(error: Error, { host, port }: Config): Error {
  if (!("code" in error)) return error;
  if (error.code === "EADDRINUSE") {
    return new ConfigError(
      `port ${port} on ${host} is taken by another program: end it, or set SIGNET_PORT to a free one`,
    );
  }
  if (error.code === "EACCES")
    return new ConfigError(`port ${port} may not be used by this user: set SIGNET_PORT above 1023`);
  if (error.code === "ENOTFOUND" || error.code === "EADDRNOTAVAIL") {
    return new ConfigError(`SIGNET_HOST cannot be used: ${host} is no address of this machine`);
  }
  return error;
}

/** Binds the port first, so that a taken one is told at once and a free one (port 0) is known; early requests wait. */
async function listen(config: Config): Promise<Front> {
  const waiting: [IncomingMessage, ServerResponse][] = [];
  let serve: RequestListener = (request, response) => void waiting.push([request, response]);
  const tls = await loadTls(config);
  const listener: RequestListener = (request, response) => serve(request, response);
  const server: Server = tls
    ? createHttps({ cert: tls.cert, key: tls.key, minVersion: "TLSv1.2" }, listener)
    : createHttp(listener);
  server.requestTimeout = 120_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(listenError(error, config)));
    server.listen(config.port, config.host, resolve);
  });
  const address = server.address();
  return {
    port: address !== null && typeof address === "object" ? address.port : config.port,
    selfSigned: tls?.selfSigned === true,
    serve(next) {
      serve = next;
      for (const [request, response] of waiting.splice(0)) next(request, response);
    },
    async close(graceMs) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), graceMs);
      await closed;
      clearTimeout(timer);
    },
  };
}
