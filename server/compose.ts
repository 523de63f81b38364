import { adminApp, notHere, publicApp } from "./apps.ts";
import { withPort } from "./config.ts";
import type { Host, RunningHost } from "./feature.ts";
import { createActivity } from "./features/backup/activity.ts";
import { openTls } from "./features/tls/keeper.ts";
import { installationOf } from "./features/update/installation.ts";
import { openMaintenance } from "./features/update/maintenance.ts";
import { features } from "./features.ts";
import { type Front, openAdminSocket, openFront } from "./front.ts";
import { type Api, createApi } from "./kernel/api.ts";
import { releaseReserveIfFull } from "./kernel/capacity.ts";
import { clientIp } from "./kernel/client-ip.ts";
import { inDoubt } from "./kernel/clock.ts";
import { watchClock } from "./kernel/clock-watch.ts";
import { lockDataFolder } from "./kernel/data-lock.ts";
import type { Deps } from "./kernel/deps.ts";
import type { Authenticators } from "./kernel/gates.ts";
import { type JobRunner, startJobs } from "./kernel/job-runner.ts";
import { createLogTail, type LogTail } from "./kernel/log-tail.ts";
import { startSchedules } from "./kernel/schedules.ts";
import { explainStart, recordStart } from "./kernel/start-fault.ts";
import { storageFault } from "./kernel/storage-fault.ts";
import { createLoopback, type Loopback } from "./loopback.ts";
import { type OpenOptions, openDeps } from "./open-deps.ts";
import { createOperations, type Operations } from "./operations.ts";

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

/** What was opened, in that order: how each part stops taking work and finishes what it began, and how it is closed. */
type Opened = {
  /** @param graceMs milliseconds after which it is cut off */
  drain?: (graceMs: number) => Promise<void> | void;
  close?: () => Promise<void> | void;
}[];

/** Starts the whole appliance on its data folder. Only one process may serve a folder. */
export async function startAppliance(options: ComposeOptions): Promise<Appliance> {
  const opened: Opened = [];
  try {
    const started = await start(options, opened);
    await recordStart(options.config, null);
    return started;
  } catch (error) {
    // What is open already would keep the process alive, the port taken and the folder locked.
    await shutDown(opened, 0);
    const explained = await explainStart(error, options.config);
    await recordStart(options.config, explained);
    throw explained;
  }
}

/** Closes everything, whatever fails on the way. @returns the failures */
async function shutDown(opened: Opened, graceMs: number): Promise<unknown[]> {
  const drained = await Promise.allSettled(opened.map(async ({ drain }) => drain?.(graceMs)));
  const failures: unknown[] = drained.flatMap((end) => (end.status === "rejected" ? [end.reason] : []));
  for (const { close } of opened.toReversed())
    try {
      await close?.();
    } catch (error) {
      failures.push(error);
    }
  return failures;
}

async function start(options: ComposeOptions, opened: Opened): Promise<Appliance> {
  const loopback = createLoopback();
  const { host, front, operations } = await openHost(options, loopback, opened);
  const { deps } = host;
  const jobs = runJobs(host, options.onBoundary, opened);
  const running: RunningHost = { ...host, jobs };
  const bindings = features.flatMap(({ handlers }) => handlers?.(running) ?? []);
  const isLocal = ({ endpoint }: (typeof bindings)[number]) => endpoint.credential === "local";
  const authenticators = authenticatorsOf(host);
  const api = createApi({
    deps,
    bindings: bindings.filter((binding) => !isLocal(binding)),
    authenticators: { ...authenticators, local: notHere },
    clientIp: clientIp(deps.config.trustedProxies),
  });
  const localApi = createApi({
    deps,
    bindings: bindings.filter(isLocal),
    authenticators: { ...nobody, local: authenticators.local },
    clientIp: () => "local",
  });
  const listener = publicApp({ host, api, operations }).callback();
  loopback.serve(listener);
  front.serve(listener);
  const admin = await openAdministration(host, localApi, operations);
  opened.push({ drain: (graceMs) => admin?.close(graceMs) });
  // They come back by themselves: nobody need wait for them to stop.
  for (const { endStreams } of [api, localApi]) opened.push({ drain: endStreams });
  opened.push({ drain: host.maintenance.follow(deps) });
  const schedules = features.flatMap((feature) => feature.schedules ?? []);
  const scheduler = await startSchedules({ db: deps.db, log: deps.log, schedules, held: () => isHeld(host) });
  opened.push({ drain: scheduler.stop });
  return {
    deps,
    url: host.url,
    selfSigned: host.tls.current()?.source === "self-signed",
    jobs,
    async stop(graceMs = 10_000) {
      const [failure] = await shutDown(opened, graceMs);
      if (failure !== undefined) throw failure;
    },
  };
}

/** Opens the data folder, the port, and everything that use cases and the server itself stand on. */
async function openHost(options: ComposeOptions, loopback: Loopback, opened: Opened) {
  await releaseReserveIfFull(options.config);
  const lock = await lockDataFolder(options.config.dataDir);
  opened.push({ close: () => lock.release() });
  const { dataDir } = options.config;
  const installation = installationOf(options.program);
  const maintenance = await openMaintenance({ dataDir, root: installation?.root ?? null });
  const tls = await openTls(options.config, options.clock?.now ?? Date.now, (err) =>
    options.log.error({ err }, "the certificate files cannot be used: the certificate of before is still shown"),
  );
  opened.push({ close: () => tls.close() });
  const front = await openFront(options.config, tls, {
    onCrowd: (crowd) =>
      options.log.warn(crowd, "more connections than this process may hold: those that came were cut"),
  });
  opened.push({ drain: (graceMs) => front.close(graceMs) });
  const config = withPort(options.config, front.port, front.httpPort);
  const { deps, close, guarded } = await openDeps({ ...options, config, serving: true, createKey: true });
  const checked = checkDatabase(deps);
  opened.push({ close: () => close().then(() => checked) });
  const watch = guarded && watchClock({ ...guarded, db: deps.db, log: deps.log }, guarded.accepted);
  opened.push({ close: () => watch?.stop() });
  // Before anything runs: what this run believes is what the next one begins with.
  await watch?.look();
  const operations = createOperations(deps, () => maintenance.state !== null);
  opened.push({ drain: () => operations.stopping() });
  const host: Host = {
    deps,
    startedAt: deps.clock.ts(),
    url: config.baseUrl,
    tls,
    backups: createActivity(),
    maintenance,
    installation,
    log: { tail: options.logTail ?? createLogTail(), keptIn: options.logKeptIn ?? null },
    trouble: operations.trouble,
    loopback,
    end: options.end ?? null,
  };
  return { host, front, operations };
}

/** While it holds still no work is begun: the clock is in doubt, an update is under way, or the disk takes nothing. */
const isHeld = ({ deps, maintenance }: Host): boolean =>
  inDoubt(deps.clock) || maintenance.quiet || deps.capacity.halted();

function runJobs(host: Host, onBoundary: ComposeOptions["onBoundary"], opened: Opened): JobRunner {
  const { db, clock, secrets, log, metrics, capacity } = host.deps;
  const jobs = startJobs({
    db,
    clock,
    secrets,
    log,
    metrics,
    bindings: features.flatMap((feature) => feature.jobs?.(host) ?? []),
    onBoundary,
    held: () => isHeld(host),
    excused: async (error) =>
      (await capacity.problemOf(error)) !== null && (capacity.halted() || storageFault(error) !== null),
  });
  opened.push({ drain: (graceMs) => jobs.stop(graceMs) });
  opened.push({ close: capacity.watch({ log, onRecovered: () => jobs.recover() }) });
  metrics.measureQueue({ depths: () => jobs.counts(), ages: () => jobs.ages() });
  return jobs;
}

const nobody: Authenticators = {
  key: notHere,
  dashboard: notHere,
  person: notHere,
  signer: notHere,
  viewer: notHere,
  local: notHere,
};

function authenticatorsOf(host: Host): Authenticators {
  const known = { ...nobody };
  for (const { credentials } of features) Object.assign(known, credentials?.(host));
  return known;
}

/**
 * Serves the administrators of this machine on the admin socket. A folder that cannot hold it keeps nobody from signing: it is
 * said in the log, and `signet status` says that nothing answers.
 */
async function openAdministration(host: Host, api: Api, operations: Operations): Promise<Front | null> {
  const { config, log } = host.deps;
  const { adminSocket } = config;
  const front = await openAdminSocket(adminSocket).catch((err: unknown) => {
    log.error({ err, adminSocket }, "no admin socket: set SIGNET_ADMIN_SOCKET to a path that can be made");
    return null;
  });
  front?.serve(adminApp({ host, api, operations }).callback());
  return front;
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
