import type { Ts } from "../../kernel/clock.ts";
import { AppError } from "../../kernel/errors.ts";
import { callLocal, followLocal, type LocalAddress, LocalProblem, NoAppliance } from "../../local-client.ts";
import { getBackupState } from "../backup/contract.ts";
import {
  endMaintenance,
  getUpdateHealth,
  holdMaintenance,
  type SelfTestFailure,
  type UpdateHealth,
} from "./contract.ts";
import type { Release } from "./installation.ts";
import type { Journal } from "./journal.ts";
import type { ServiceControl } from "./service-control.ts";
import type { Outcome, Phase } from "./state.ts";

/** The machine on which an update is applied, as the process that applies it sees it. */
export type Site = {
  root: string;
  dataDir: string;
  /** Of the running appliance. */
  address: LocalAddress;
  service: ServiceControl;
  /** Runs a command of a release on the data, as its owner. */
  run: (release: Release, args: readonly string[]) => Promise<unknown>;
  now: () => number;
  ts: () => Ts;
  /** How long what is due may go on, in seconds. */
  drainSeconds: number;
  /** How long a started release may take until it could serve, in seconds. */
  gateSeconds: number;
  /** What has to stay free on the disk. */
  reserveBytes: number;
  tell: (progress: { phase: Phase; share: number | null }) => void;
  /** Called when a phase was written and when it was done; the tests end the process there. */
  onBoundary?: ((point: string) => void) | undefined;
};

const askEveryMs = 100;

/** @returns null while nothing runs, or something that cannot say so */
export async function healthOf({ address }: Pick<Site, "address">, trying = false): Promise<UpdateHealth | null> {
  try {
    const query = { try: trying ? ("true" as const) : undefined };
    return await callLocal(address, getUpdateHealth, { query }, { signal: AbortSignal.timeout(5000) });
  } catch {
    return null;
  }
}

/** What the release that is served cannot do already, so that it is not held against another one. */
export async function knownFailures(site: Site): Promise<SelfTestFailure[]> {
  const until = performance.now() + site.gateSeconds * 1000;
  while (performance.now() < until) {
    const health = await healthOf(site, true);
    if (health === null) return [];
    if (health.failed !== null) return health.failed;
    await pause();
  }
  return [];
}

const pause = () => new Promise((resolve) => setTimeout(resolve, askEveryMs));
/** What fails is tried again for so long: a token may come a moment after the service. */
const settleMs = 5000;

export type Gate = {
  version: string;
  /** Process that must not be taken for it. */
  before: number | null;
  /** What the one before could not do either; null for the one before itself: it need not try, and its troubles are not the update's. */
  known: readonly SelfTestFailure[] | null;
  /** What it needs before it can answer, as its trial has shown: a supervised start cannot be ended while it migrates. */
  migratedMs: number;
};

/**
 * Waits until the release serves, but for the maintenance that it found.
 * @throws AppError `conflict` when it does not within `gateSeconds`, or cannot do what the one before could
 */
export async function passGate(
  site: Site,
  { id }: Journal,
  { version, before, known, migratedMs }: Gate,
): Promise<void> {
  const refuse = (detail: string): never => {
    throw new AppError("conflict", { detail });
  };
  const until = performance.now() + site.gateSeconds * 1000 + migratedMs;
  let seen = "it did not answer";
  let failingSince: number | null = null;
  while (performance.now() < until) {
    const health = await healthOf(site, known !== null);
    if (health && health.pid !== before) {
      const failed = health.failed?.find(({ part }) => known?.every((one) => one.part !== part));
      if (health.version !== version) seen = `version ${health.version} answered`;
      else if (health.maintenance !== id) seen = "it did not stay in maintenance";
      else if (health.trouble !== null && known !== null) seen = health.trouble;
      else if (failed !== undefined) {
        failingSince ??= performance.now();
        if (performance.now() - failingSince > settleMs)
          refuse(`Version ${version} answers, and could not do what it has to: ${failed.part}: ${failed.problem}.`);
        seen = failed.problem;
      } else if (known === null || health.failed !== null) return;
      else seen = "it was still trying itself out";
    }
    await pause();
  }
  const beside = migratedMs < 1000 ? "" : ` and the ${Math.floor(migratedMs / 1000)} of its migration`;
  refuse(`Version ${version} was not ready within ${site.gateSeconds} seconds${beside}: ${seen}.`);
}

/**
 * @throws AppError `conflict` while the appliance copies or checks its data, which nothing may cut off, and while nothing runs
 * that anybody would start: no release could be tried
 */
export async function refuseBusy({ address, service }: Site): Promise<void> {
  try {
    const { running } = await callLocal(address, getBackupState, {});
    if (running === null) return;
    throw new AppError("conflict", { detail: `A ${running.kind} runs: wait for its end, or cancel it.` });
  } catch (error) {
    if (!(error instanceof NoAppliance) || error.reason !== "stopped") throw error;
    if (service.starts) return;
    throw new AppError("conflict", {
      detail: `Signet is not running, and ${service.name} would not start another release: start it first, or name its unit with --service.`,
    });
  }
}

/** Nothing new is taken while it is held. */
export type Hold = {
  /** @throws AppError `conflict` when the appliance takes work again, or ended */
  stillHeld: () => void;
  release: () => void;
};

const notStill = (cause?: unknown) =>
  new AppError("conflict", {
    detail:
      "The appliance did not hold still: a command of Signet (fsck, backup, drill or another) has the data open, or what was begun did not end. Its log says which (signet logs).",
    cause,
  });

/** Asks the running appliance to hold still; where none runs, no other begins. */
export async function holdStill(site: Site, { id, from, to }: Journal): Promise<Hold> {
  const gone = new AbortController();
  const body = { id, to: to.version, drainSeconds: site.drainSeconds };
  const steps = followLocal(site.address, holdMaintenance, { body }, { signal: gone.signal });
  const next = async () => {
    const step = await steps.next().catch((error: unknown) => {
      // Where it cannot hold still the stream is cut, and the connection knows no cause.
      throw error instanceof NoAppliance || error instanceof LocalProblem ? error : notStill(error);
    });
    if (step.done) throw notStill();
    return step.value.step;
  };
  try {
    while ((await next()) !== "quiet");
  } catch (error) {
    if (!(error instanceof NoAppliance) || error.reason !== "stopped") throw error;
    const about = ["--id", id, "--to", to.version, "--operator", site.address.operator];
    await site.run(from, ["update", "inner", "hold", ...about]);
    return { stillHeld: () => undefined, release: () => undefined };
  }
  let ended = false;
  void (async () => {
    try {
      for await (const _ of steps);
    } catch {
      // The connection was cut: the same as its end.
    }
    ended = true;
  })();
  return {
    stillHeld() {
      if (ended) throw new AppError("conflict", { detail: "The appliance does not hold still any more." });
    },
    release: () => gone.abort(),
  };
}

/** Lets work in again; where nothing runs, for the next start. */
export async function letIn(site: Site, { id, from }: Journal, outcome: Outcome): Promise<void> {
  try {
    await callLocal(site.address, endMaintenance, { body: { id, outcome } });
  } catch (error) {
    if (!(error instanceof NoAppliance) || error.reason !== "stopped") throw error;
    // A new release looks into the journal by itself.
    if (outcome === "applied") return;
    await site.run(from, ["update", "inner", "release", "--id", id, "--outcome", outcome]);
  }
}
