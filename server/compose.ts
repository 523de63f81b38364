import { setTimeout as delay } from "node:timers/promises";
import Koa, { type Context, type Next } from "koa";
import { withPort } from "./config.ts";
import { endpoints } from "./contract.ts";
import { type Control, operatorOf } from "./features/appliance/control.ts";
import { createApplianceBindings } from "./features/appliance/routes.ts";
import { sampleStorage } from "./features/appliance/storage.ts";
import { createActivity } from "./features/backup/activity.ts";
import { createBackupHandlers } from "./features/backup/handlers.ts";
import { createBackupBindings } from "./features/backup/routes.ts";
import { scheduleBackup } from "./features/backup/service.ts";
import { bindings as envelopeDashboardBindings } from "./features/envelopes/dashboard-routes.ts";
import { handlers as envelopeHandlers } from "./features/envelopes/handlers.ts";
import { bindings as envelopeBindings } from "./features/envelopes/routes.ts";
import { handlers as evidenceHandlers } from "./features/evidence/handlers.ts";
import { bindings as evidenceBindings } from "./features/evidence/routes.ts";
import { purgeDownloads } from "./features/evidence/service.ts";
import { resumeUpkeep } from "./features/evidence/upkeep.ts";
import { createAuthenticators } from "./features/identity/authenticate.ts";
import { bindings as identityBindings } from "./features/identity/routes.ts";
import { bindings as keyBindings } from "./features/keys/routes.ts";
import { ensureKeys } from "./features/keys/service.ts";
import { handlers as mailHandlers } from "./features/mail/handlers.ts";
import { purgeMails } from "./features/mail/service.ts";
import { bindings as organizationBindings } from "./features/organization/routes.ts";
import { handlers as retentionHandlers } from "./features/retention/handlers.ts";
import { bindings as retentionBindings } from "./features/retention/routes.ts";
import { scheduleRetention } from "./features/retention/service.ts";
import { handlers as signInHandlers } from "./features/sign-in/handlers.ts";
import { bindings as signInBindings } from "./features/sign-in/routes.ts";
import { purgeSignIn } from "./features/sign-in/sessions.ts";
import { authenticateSigner } from "./features/signing/authenticate.ts";
import { handlers as signingHandlers } from "./features/signing/handlers.ts";
import { signingMailOutlived } from "./features/signing/outlived.ts";
import { bindings as signingBindings } from "./features/signing/routes.ts";
import { bindings as templateBindings } from "./features/templates/routes.ts";
import { createAcmeHandlers } from "./features/tls/acme-handlers.ts";
import { createAcmeBindings } from "./features/tls/acme-routes.ts";
import { resumeAcme } from "./features/tls/acme-service.ts";
import { openTls } from "./features/tls/keeper.ts";
import { createTlsBindings } from "./features/tls/routes.ts";
import { installationOf } from "./features/update/installation.ts";
import { forgetKept } from "./features/update/kept.ts";
import { openMaintenance } from "./features/update/maintenance.ts";
import { createUpdateBindings, type UpdateControl } from "./features/update/routes.ts";
import { authenticateViewer, bearerOf } from "./features/viewers/authenticate.ts";
import { handlers as viewerHandlers } from "./features/viewers/handlers.ts";
import { viewerMailOutlived } from "./features/viewers/outlived.ts";
import { bindings as viewerBindings } from "./features/viewers/routes.ts";
import { openAdminSocket, openFront } from "./front.ts";
import { type Authenticators, createApi } from "./kernel/api.ts";
import { releaseReserveIfFull } from "./kernel/capacity.ts";
import { clientIp } from "./kernel/client-ip.ts";
import { watchClock } from "./kernel/clock-watch.ts";
import { lockDataFolder } from "./kernel/data-lock.ts";
import type { Deps } from "./kernel/deps.ts";
import { AppError } from "./kernel/errors.ts";
import { purgeIdempotency } from "./kernel/idempotency.ts";
import { type JobRunner, startJobs } from "./kernel/job-runner.ts";
import { createLogTail, type LogTail } from "./kernel/log-tail.ts";
import { explainStart, recordStart } from "./kernel/start-fault.ts";
import { storageFault } from "./kernel/storage-fault.ts";
import { type OpenOptions, openDeps } from "./open-deps.ts";
import { createOperations } from "./operations.ts";
import { servePage } from "./pages.ts";

export type ComposeOptions = Pick<
  OpenOptions,
  "config" | "log" | "clock" | "machine" | "availableMemory" | "onBoundary"
> & {
  /** What keeps the latest lines of the log for administrators. */
  logTail?: LogTail;
  /** A command or a file in which all lines of the log are found. */
  logKeptIn?: string | null;
  /** The file that Node was given: where releases lie beside each other, it says where that is. */
  program?: string | undefined;
  /** Ends the process in order, when somebody starts it again then. */
  end?: () => void;
};

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
const planningMs = 2000;
const purges: readonly [string, (deps: Deps) => Promise<unknown>][] = [
  ["old replies", purgeIdempotency],
  ["old mails", purgeMails],
  ["old codes and sessions", purgeSignIn],
  ["old download links", purgeDownloads],
  ["the database of before the last update", forgetKept],
];

/** Starts the whole appliance on its data folder. Only one process may serve a folder. */
export async function startAppliance(options: ComposeOptions): Promise<Appliance> {
  const undo: (() => Promise<void>)[] = [];
  try {
    const started = await start(options, undo);
    await recordStart(options.config, null);
    return started;
  } catch (error) {
    // What is open already would keep the process alive, the port taken and the folder locked.
    for (const step of undo.reverse()) await step().catch(() => undefined);
    const explained = await explainStart(error, options.config);
    await recordStart(options.config, explained);
    throw explained;
  }
}

/** @param undo takes what closes each thing that was opened */
async function start(options: ComposeOptions, undo: (() => Promise<void>)[]): Promise<Appliance> {
  await releaseReserveIfFull(options.config);
  const lock = await lockDataFolder(options.config.dataDir);
  undo.push(() => lock.release());
  const { dataDir } = options.config;
  const installation = installationOf(options.program);
  const maintenance = await openMaintenance({ dataDir, root: installation?.root ?? null });
  const tls = await openTls(options.config, options.clock?.now ?? Date.now, (err) =>
    options.log.error({ err }, "the certificate files cannot be used: the certificate of before is still shown"),
  );
  undo.push(async () => tls.close());
  const front = await openFront(options.config, tls, {
    onCrowd: (crowd) =>
      options.log.warn(crowd, "more connections than this process may hold: those that came were cut"),
  });
  undo.push(() => front.close(0));
  const config = withPort(options.config, front.port, front.httpPort);
  const { deps, close, guarded } = await openDeps({ ...options, config, serving: true, createKey: true });
  undo.push(close);
  const watch = guarded && watchClock({ ...guarded, db: deps.db, log: deps.log }, guarded.accepted);
  undo.push(async () => watch?.stop());
  // Before anything runs: what this run believes is what the next one begins with.
  await watch?.look();
  const api = createApi({
    deps,
    bindings: [
      ...templateBindings,
      ...envelopeBindings,
      ...envelopeDashboardBindings,
      ...signingBindings,
      ...viewerBindings,
      ...organizationBindings,
      ...retentionBindings,
      ...evidenceBindings,
      ...keyBindings,
      ...identityBindings,
      ...signInBindings,
    ],
    authenticators: {
      ...createAuthenticators(deps),
      signer: (request) => authenticateSigner(deps, request.header("authorization"), request),
      viewer: (request, query) =>
        authenticateViewer(deps, bearerOf(request.header("authorization")) ?? query.get("access_token")),
      local: notHere,
    },
    clientIp: clientIp(config.trustedProxies),
  });
  const backups = createActivity();
  const jobs = startJobs({
    db: deps.db,
    clock: deps.clock,
    secrets: deps.secrets,
    log: deps.log,
    metrics: deps.metrics,
    bindings: [
      ...envelopeHandlers(deps),
      ...signingHandlers(deps),
      ...viewerHandlers(deps),
      ...evidenceHandlers(deps),
      ...mailHandlers(deps, [signingMailOutlived(deps), viewerMailOutlived(deps)]),
      ...signInHandlers(deps),
      ...retentionHandlers(deps),
      ...createBackupHandlers(deps, backups),
      ...createAcmeHandlers(deps, tls),
    ],
    concurrency: { backup: 1, acme: 1 },
    onBoundary: options.onBoundary,
    held: () => inDoubt(deps) || maintenance.quiet || deps.capacity.halted(),
    excused: async (error) =>
      (await deps.capacity.problemOf(error)) !== null && (deps.capacity.halted() || storageFault(error) !== null),
  });
  const endWatch = deps.capacity.watch({ log: deps.log, onRecovered: () => jobs.recover() });
  undo.push(endWatch);
  deps.metrics.measureQueue(() => jobs.counts());
  const operations = createOperations(deps, endpoints, () => maintenance.state !== null);
  const app = new Koa();
  app.use(api.observe);
  app.use((ctx, next) => {
    if (needsTime(ctx.path) && inDoubt(deps)) throw new AppError("service-unavailable", clockDoubted);
    return needsTime(ctx.path) ? maintenance.admit(next) : next();
  });
  app.use(api.routes);
  app.use(async (ctx, next) =>
    (await operations.answer(ctx, ctx.get("authorization"), (reply) => apply(ctx, reply))) ? undefined : next(),
  );
  app.use((ctx, next) => page(deps, ctx, next, maintenance.state !== null));
  app.use(() => {
    throw new AppError("not-found", { detail: "There is nothing at this address." });
  });
  // Errors of a socket that the client closed; every other one was answered by the API's own catch.
  app.on("error", (err: unknown) => deps.log.debug({ err }, "connection ended early"));
  front.serve(app.callback());
  const admin = await openAdministration(deps, {
    startedAt: deps.clock.ts(),
    url: config.baseUrl,
    tls,
    backups,
    jobs,
    log: { tail: options.logTail ?? createLogTail(), keptIn: options.logKeptIn ?? null },
    operations,
    update: { installation, maintenance, jobs, trouble: operations.trouble, end: options.end ?? null },
  });
  undo.push(() => admin.close(0));
  const unfollow = maintenance.follow(deps);
  undo.push(async () => unfollow());
  const checked = checkDatabase(deps);
  await resumeUpkeep(deps);
  await resumeAcme(deps).catch((err: unknown) => deps.log.error({ err }, "ACME cannot go on"));
  await scheduleRetention(deps);
  const planBackup = () =>
    scheduleBackup(deps, backups).catch((err: unknown) => deps.log.warn({ err }, "a backup could not be planned"));
  // A share that does not answer keeps no start waiting.
  await Promise.race([planBackup(), delay(planningMs, undefined, { ref: false })]);
  const keys = ensureKeys(deps);
  keys.catch((err: unknown) => deps.log.error({ err }, "keys could not be made"));
  const purge = async () => {
    if (inDoubt(deps) || maintenance.quiet) return;
    for (const [what, step] of purges)
      await step(deps).catch((err: unknown) => deps.log.warn({ err }, `${what} were not purged`));
  };
  const sample = () =>
    void sampleStorage(deps).catch((err: unknown) => deps.log.debug({ err }, "the size was not noted"));
  sample();
  // At the start too: one that is restarted often would never come to it.
  let purging = purge();
  const purgeTimer = setInterval(() => {
    purging = purging.then(purge);
    sample();
    scheduleRetention(deps).catch((err: unknown) => deps.log.warn({ err }, "retention could not be planned"));
    void planBackup();
  }, purgeEveryMs);
  purgeTimer.unref();
  return {
    deps,
    url: config.baseUrl,
    selfSigned: tls.current()?.source === "self-signed",
    jobs,
    async stop(graceMs = 10_000) {
      operations.stopping();
      clearInterval(purgeTimer);
      unfollow();
      const closed = [front.close(graceMs), admin.close(graceMs)];
      api.endStreams();
      await Promise.all([...closed, jobs.stop(graceMs)]);
      await Promise.all([keys.catch(() => undefined), purging]);
      await endWatch();
      await watch?.stop();
      await close();
      await checked;
      tls.close();
      await lock.release();
    },
  };
}

/** A damaged page that nobody reads yet is found before much is written beside it. */
async function checkDatabase({ db, capacity, log }: Deps): Promise<void> {
  try {
    const [problem] = await db.check("quick");
    if (problem !== undefined) await capacity.noteDamage(problem);
  } catch (err) {
    const interrupted = err instanceof Error && "code" in err && err.code === "SQLITE_INTERRUPT";
    if (!interrupted && (await capacity.problemOf(err)) === null)
      log.warn({ err }, "the database could not be checked");
  }
}

/** An operation that is not mounted where it was asked for. */
const notHere = () => Promise.reject(new AppError("not-found"));

/**
 * Serves the administrators of this machine on the admin socket. A folder that cannot hold it keeps nobody from signing: it is
 * said in the log, and `signet status` says that nothing answers.
 */
async function openAdministration(
  deps: Deps,
  {
    operations,
    update,
    ...control
  }: Control & { operations: ReturnType<typeof createOperations>; update: UpdateControl },
): Promise<{ close: (graceMs: number) => Promise<void> }> {
  const { adminSocket } = deps.config;
  const front = await openAdminSocket(adminSocket).catch((err: unknown) => {
    deps.log.error({ err, adminSocket }, "no admin socket: set SIGNET_ADMIN_SOCKET to a path that can be made");
    return null;
  });
  if (!front) return { close: async () => undefined };
  const refused = { key: notHere, dashboard: notHere, person: notHere, signer: notHere, viewer: notHere };
  const authenticators: Authenticators = { ...refused, local: async (request) => operatorOf(request) };
  const api = createApi({
    deps,
    bindings: [
      ...createApplianceBindings(control),
      ...createTlsBindings(control.tls),
      ...createAcmeBindings(control.tls),
      ...createBackupBindings(control.backups),
      ...createUpdateBindings(update),
    ],
    authenticators,
    clientIp: () => "local",
  });
  const app = new Koa();
  app.use(api.observe);
  app.use((ctx, next) => (changesData(ctx) ? update.maintenance.admit(next) : next()));
  app.use(api.routes);
  app.use(async (ctx, next) =>
    (await operations.answerLocally(ctx, (reply) => apply(ctx, reply))) ? undefined : next(),
  );
  app.use(notHere);
  app.on("error", (err: unknown) => deps.log.debug({ err }, "connection ended early"));
  front.serve(app.callback());
  return {
    async close(graceMs) {
      const closed = front.close(graceMs);
      api.endStreams();
      await closed;
    },
  };
}

/** What administrators change while an update is under way would be lost when it is put back; the update itself goes on. */
const changesData = ({ method, path }: Pick<Context, "method" | "path">): boolean =>
  method !== "GET" && method !== "HEAD" && !path.startsWith("/local/update/");

const inDoubt = ({ clock }: Deps): boolean => (clock.doubt?.() ?? null) !== null;
const clockDoubted = {
  detail: "The clock of this machine cannot be right. Its administrator has to set it, or to accept it: signet clock.",
  retryAfter: 60,
};

/** What is proven stays provable, whatever time it is; everything else waits for a clock that is believed. */
const needsTime = (path: string): boolean => /^\/(v1|auth|scim)\//.test(path) && !path.startsWith("/v1/public/");

type PageReply = { status: number; headers: Record<string, string>; body: string | Uint8Array | null };

function apply(ctx: Context, reply: PageReply): void {
  ctx.body = reply.body instanceof Uint8Array ? Buffer.from(reply.body) : reply.body;
  ctx.status = reply.status;
  ctx.set(reply.headers);
}

async function page(deps: Deps, ctx: Context, next: Next, inMaintenance: boolean): Promise<void> {
  const found =
    ctx.method === "GET" || ctx.method === "HEAD"
      ? await servePage(deps, { method: ctx.method, path: ctx.path, headers: ctx.req.headers, inMaintenance })
      : null;
  if (!found) return next();
  ctx.state.template = "pages";
  apply(ctx, found);
}
