import { realpathSync } from "node:fs";
import { access, constants } from "node:fs/promises";
import path from "node:path";
import { type Config, describeSettings } from "../config.ts";
import { applyUpdate, resumeUpdate, rollBack } from "../features/update/apply.ts";
import { runRelease } from "../features/update/child.ts";
import { getUpdate, type UpdateFacts, type UpdateRun, type UpdateState } from "../features/update/contract.ts";
import { type Installation, installationOf, type Release } from "../features/update/installation.ts";
import type { Journal } from "../features/update/journal.ts";
import { readMaintenance } from "../features/update/maintenance.ts";
import { UpdateUndone } from "../features/update/perform.ts";
import { readReleaseKeys } from "../features/update/release-keys.ts";
import {
  listUpdateRuns,
  presentRun,
  readUpdate,
  requireInstallation,
  verifyUpdateFile,
  writeProgress,
} from "../features/update/service.ts";
import { serviceControl } from "../features/update/service-control.ts";
import type { Site } from "../features/update/site.ts";
import { systemClock } from "../kernel/clock.ts";
import { AppError } from "../kernel/errors.ts";
import { callLocal, NoAppliance } from "../local-client.ts";
import { version } from "../version.ts";
import { type Command, type CommandContext, optional, print, table, UsageError } from "./command.ts";
import { inner } from "./update-inner.ts";
import { localAddress } from "./with-appliance.ts";

export const update: Command = {
  name: "update",
  summary: "bring the appliance to another release and back, from a signed file, without the internet",
  usage: [
    "signet update status             the version, and the update that is under way or was the last",
    "signet update history            every update that ended",
    "signet update verify FILE        check signatures and content; changes nothing",
    "signet update apply FILE         as root: back up, try, switch, and come back by itself if it does not serve",
    "signet update rollback           as root: back to the release before, with today's data where it knows them",
    "  --accept-loss NUMBER           otherwise with the database of before the update, if at most that much may be lost",
    "signet update resume             as root: take back, or finish, what was cut off",
    "--service UNIT|supervised        who starts the appliance again (default: signet.service, where systemd has it)",
    "--drain SECONDS                  how long work that is due may go on before it waits (default 60)",
    "--gate SECONDS                   how long the release may take until it serves (default 120)",
    "--reserve MEGABYTES              what has to stay free on the disk (default 512)",
  ],
  options: {
    service: { type: "string" },
    drain: { type: "string" },
    gate: { type: "string" },
    reserve: { type: "string" },
    "before-start": { type: "boolean" },
    id: { type: "string" },
    to: { type: "string" },
    operator: { type: "string" },
    outcome: { type: "string" },
    sha256: { type: "string" },
    snapshot: { type: "string" },
    "accept-loss": { type: "string" },
  },
  async run(context) {
    const [verb = "status", ...rest] = context.positionals;
    const action = actions[verb];
    if (!action) throw new UsageError("say status, history, verify, apply, rollback or resume");
    return await action(context, rest);
  },
};

type Action = (context: CommandContext, rest: readonly string[]) => Promise<number>;

const actions: Readonly<Record<string, Action>> = {
  inner,
  async status(context) {
    const state = await stateOf(context);
    print(context, state, stateText(state));
    return state.interrupted ? 1 : 0;
  },
  async history(context) {
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
  async rollback(context) {
    const installation = requireInstallation(installationOf(context.program));
    const site = await openSite(context, installation);
    const accepted = optional(context, "accept-loss") === undefined ? null : numberOf(context, "accept-loss", 0);
    return await report(context, () => rollBack(site, ownRelease(context, installation), accepted));
  },
  async resume(context) {
    const installation = requireInstallation(installationOf(context.program));
    const site = await openSite(context, installation);
    const beforeStart = context.options["before-start"] === true;
    const journal = await resumeUpdate(site, beforeStart);
    if (journal) return report(context, async () => journal);
    // The unit asks at each start, and its journal is no place for what did not happen.
    if (!beforeStart) print(context, { run: null }, "There is nothing to resume.");
    return 0;
  },
};

function fileOf([file]: readonly string[]): string {
  if (file === undefined) throw new UsageError("name the FILE of the update");
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
