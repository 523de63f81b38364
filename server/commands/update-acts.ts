import { realpathSync } from "node:fs";
import { access, constants } from "node:fs/promises";
import path from "node:path";
import { type Config, describeSettings } from "../config.ts";
import { applyUpdate, resumeUpdate, rollBack } from "../features/update/apply.ts";
import { runRelease } from "../features/update/child.ts";
import { getUpdate, type UpdateFacts, type UpdateRun, type UpdateState } from "../features/update/contract.ts";
import {
  type Installation,
  installationOf,
  type Release,
  requireInstallation,
} from "../features/update/installation.ts";
import type { Journal } from "../features/update/journal.ts";
import { readMaintenance } from "../features/update/maintenance.ts";
import { UpdateUndone } from "../features/update/perform.ts";
import { readReleaseKeys } from "../features/update/release-keys.ts";
import { listUpdateRuns, presentRun, readUpdate, verifyUpdateFile, writeProgress } from "../features/update/service.ts";
import { serviceControl } from "../features/update/service-control.ts";
import type { Site } from "../features/update/site.ts";
import { systemClock } from "../kernel/clock.ts";
import { AppError } from "../kernel/errors.ts";
import { callLocal, NoAppliance } from "../local-client.ts";
import { version } from "../version.ts";
import { type CommandContext, optional, print, table, UsageError } from "./command.ts";
import { localAddress } from "./with-appliance.ts";

/** What `signet update` does; loaded once there is something to do. */

export type UpdateAct = (context: CommandContext, rest: readonly string[]) => Promise<number>;

export const updateActs: Readonly<Record<string, UpdateAct>> = {
  async status(context, rest) {
    nothingMore(rest);
    const state = await stateOf(context);
    print(context, state, stateText(state));
    return state.interrupted ? 1 : 0;
  },
  async history(context, rest) {
    nothingMore(rest);
    const data = await listUpdateRuns(installationOf(context.program));
    print(context, { data }, data.length === 0 ? "None yet." : table(data.map(runLine)));
    return 0;
  },
  async verify(context, rest) {
    const draw = progressLine(context);
    const facts = await verifyUpdateFile(installationOf(context.program), fileOf(rest), (share) =>
      draw("checking", share),
    );
    print(context, facts, factsText(facts));
    return 0;
  },
  async apply(context, rest) {
    const file = path.resolve(fileOf(rest));
    const installation = requireInstallation(installationOf(context.program));
    const pinned = await readReleaseKeys(installation.release);
    const site = await openSite(context, installation);
    return await report(context, () =>
      applyUpdate(site, { file, pinned, installed: ownRelease(context, installation) }),
    );
  },
  async rollback(context, rest) {
    // A version named here would not be the one that comes back.
    nothingMore(rest);
    const installation = requireInstallation(installationOf(context.program));
    const site = await openSite(context, installation);
    const accepted = optional(context, "accept-loss") === undefined ? null : numberOf(context, "accept-loss", 0);
    return await report(context, () => rollBack(site, ownRelease(context, installation), accepted));
  },
  async resume(context, rest) {
    nothingMore(rest);
    const site = await openSite(context, requireInstallation(installationOf(context.program)));
    const beforeStart = context.options["before-start"] === true;
    const journal = await resumeUpdate(site, beforeStart);
    if (journal) return report(context, async () => journal);
    // The unit asks at each start, and its journal is no place for what did not happen.
    if (!beforeStart) print(context, { run: null }, "There is nothing to resume.");
    return 0;
  },
  async inner(context, rest) {
    const { inner } = await import("./update-inner.ts");
    return await inner(context, rest);
  },
};

function nothingMore([word]: readonly string[]): void {
  if (word !== undefined) throw new UsageError(`${word} is one word too many`);
}

function fileOf([file, ...more]: readonly string[]): string {
  if (file === undefined || file === "") throw new UsageError("name the FILE of the update");
  nothingMore(more);
  return file;
}

/** The release that this program is. */
function ownRelease({ program }: CommandContext, { release }: Installation): Release {
  // Through `current` it may have been called by another path.
  const main = program === undefined ? "" : path.relative(release, realpathSync(program));
  return { version, program: { node: process.execPath, main } };
}

/** @throws AppError `forbidden` when this user may not change the program */
async function openSite(context: CommandContext, { root }: Installation): Promise<Site> {
  await access(root, constants.W_OK).catch(() => {
    throw new AppError("forbidden", { detail: `This user may not change ${root}: run the command as root.` });
  });
  const { config } = context;
  const address = localAddress(context);
  const environment = environmentOf(config);
  const draw = progressLine(context);
  let saved = Promise.resolve();
  return {
    root,
    dataDir: config.dataDir,
    address,
    service: await serviceControl(optional(context, "service"), address),
    run: (release, args) => runRelease({ root, dataDir: config.dataDir, environment }, release, args),
    now: systemClock.now,
    ts: systemClock.ts,
    drainSeconds: numberOf(context, "drain", 60),
    gateSeconds: numberOf(context, "gate", 120),
    reserveBytes: numberOf(context, "reserve", 512) * 1e6,
    tell({ phase, share }) {
      draw(phase, share);
      // Whoever watches is told in whole percents.
      saved = saved.then(() => writeProgress(root, share)).catch(() => undefined);
    },
  };
}

function numberOf(context: CommandContext, name: string, fallback: number): number {
  const text = optional(context, name);
  if (text === undefined) return fallback;
  if (!/^\d{1,12}$/.test(text)) throw new UsageError(`--${name} takes a whole number`);
  return Number(text);
}

/** The settings as this command has them, for those that it starts. */
function environmentOf({ given, dataDir, masterKeyFile }: Config): Record<string, string> {
  const variables = new Map(describeSettings().map(({ key, variable }) => [key, variable]));
  const settings = Object.entries(given.environment).map(([key, value]) => [variables.get(key) ?? "", value]);
  return { ...Object.fromEntries(settings), SIGNET_DATA_DIR: dataDir, SIGNET_MASTER_KEY_FILE: masterKeyFile };
}

async function report(context: CommandContext, work: () => Promise<Journal>): Promise<number> {
  try {
    const journal = await work();
    print(context, { run: presentRun(journal) }, outcomeText(journal));
    return journal.outcome === "applied" ? 0 : 1;
  } catch (error) {
    if (!(error instanceof UpdateUndone)) throw error;
    print(context, { run: presentRun(error.journal), error: error.message }, error.message);
    return 1;
  }
}

function outcomeText({ outcome, from, to, cause }: Journal): string {
  if (outcome === "applied") return `Version ${to.version} serves.`;
  return `${cause ?? "The update was taken back."} Version ${from.version} is in its place again, its data is as it was.`;
}

/** Asks the running appliance, or reads what lies there when it is stopped. */
async function stateOf(context: CommandContext): Promise<UpdateState> {
  try {
    return await callLocal(localAddress(context), getUpdate, {});
  } catch (error) {
    if (!(error instanceof NoAppliance)) throw error;
    const held = await readMaintenance(context.config.dataDir);
    return await readUpdate(installationOf(context.program), held && { id: held.id, to: held.to, quiet: true });
  }
}

function stateText({
  version: installed,
  installation,
  obstacle,
  maintenance,
  latest,
  interrupted,
}: UpdateState): string {
  const rows = [["version", installed]];
  if (installation?.previous) rows.push(["before", `${installation.previous} (signet update rollback)`]);
  if (obstacle !== null) rows.push(["updates", obstacle]);
  if (maintenance) rows.push(["maintenance", `nothing new is taken until the update to ${maintenance.to} ended`]);
  if (latest) rows.push([latest.phase === "done" ? "last" : "under way", runLine(latest).join("  ")]);
  if (interrupted) rows.push(["", "It was cut off: signet update resume takes it back or finishes it."]);
  return table(rows);
}

const runLine = ({ startedAt, from, to, phase, outcome, cause }: UpdateRun): string[] => [
  startedAt,
  `${from} → ${to}`,
  outcome ?? phase,
  cause ?? "",
];

function factsText({
  version: next,
  minimumVersion,
  platform,
  createdAt,
  files,
  bytes,
  signedBy,
}: UpdateFacts): string {
  return table([
    ["version", next],
    ["follows", `${minimumVersion} and newer`],
    ["platform", platform],
    ["made", createdAt],
    ["content", `${files} files, ${(bytes / 1e6).toFixed(1)} MB, all as signed`],
    ["signed by", signedBy.join(", ")],
  ]);
}

/** One line on a terminal that is drawn over; a line for each phase elsewhere. */
function progressLine({ interactive, json, stderr }: CommandContext): (phase: string, share: number | null) => void {
  let last = "";
  return (phase, share) => {
    const percent = share === null ? "" : ` ${Math.floor(share * 100)} %`;
    const line = interactive ? `${phase}${percent}` : phase;
    if (json || line === last) return;
    last = line;
    stderr(interactive ? `\r\u001b[K${line}${phase === "done" ? "\n" : ""}` : `${line}\n`);
  };
}
