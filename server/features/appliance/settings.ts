import {
  type Config,
  ConfigError,
  checkSettings,
  describeSettings,
  readSettingsFile,
  type SettingDescription,
  settingsFileOf,
} from "../../config.ts";
import type { Deps } from "../../kernel/deps.ts";
import { writeDurably } from "../../kernel/durable.ts";
import { AppError } from "../../kernel/errors.ts";
import type { Actor } from "../../kernel/wire.ts";
import { recordOperatorAct } from "../operators/service.ts";
import type { SettingList } from "./settings-contract.ts";

/** Reads and changes signet.json. What is in force is what the process began with; the rest comes with the next start. */

type SettingsDeps = Pick<Deps, "config" | "db" | "clock">;

/** The data folder is where the file lies: it cannot say where that is. */
const fixed = new Set(["dataDir"]);

/** @throws ConfigError when signet.json cannot be read */
export function readSettings({ given, dataDir }: Config): SettingList {
  const file = readSettingsFile(settingsFileOf(dataDir));
  const data = describeSettings()
    .filter(({ key }) => !fixed.has(key))
    .map(({ key, fallback, ...described }) => {
      const { environment } = given;
      const source = key in environment ? "environment" : key in file ? "file" : "default";
      const raw = source === "environment" ? environment[key] : source === "file" ? file[key] : undefined;
      const value = raw === undefined ? fallback || null : textOf(raw);
      const pending = source !== "environment" && textOf(file[key]) !== textOf(given.file[key]);
      return {
        key,
        ...described,
        value: described.secret ? null : value,
        isSet: raw !== undefined,
        source: source as "environment" | "file" | "default",
        fallback: fallback || null,
        pending,
      };
    });
  return { data, restartNeeded: data.some(({ pending }) => pending) };
}

/**
 * What the next start has. Where nothing has changed it is what is in force, with the port that was taken; what somebody wrote by
 * hand and no start could use is left aside.
 * @throws ConfigError when signet.json cannot be read
 */
export function settingsOfNextStart(config: Config): Config {
  if (!readSettings(config).restartNeeded) return config;
  try {
    const file = readSettingsFile(settingsFileOf(config.dataDir));
    return checkSettings(config.dataDir, { ...config.given, file }, config.checkResponses);
  } catch (error) {
    if (error instanceof ConfigError) return config;
    throw error;
  }
}

/** @throws AppError `validation-failed` with a pointer when there is no such setting, or it cannot stand in signet.json */
export function changeable(key: string): SettingDescription {
  const setting = describeSettings().find((one) => one.key === key);
  if (setting && !fixed.has(key)) return setting;
  throw refused(key, `There is no setting ${JSON.stringify(key)} that can be changed.`);
}

const textOf = (raw: unknown): string =>
  raw === undefined ? "" : Array.isArray(raw) ? raw.map(String).join(",") : String(raw);

/** Changes of one file follow one another: each begins with what the one before it wrote. */
const changing = new Map<string, Promise<unknown>>();

/**
 * Writes the changes into signet.json, all or none. Nothing that would keep the appliance from starting is written. What
 * somebody else changes meanwhile stays, setting by setting; of two changes of the same one the later holds.
 * @throws AppError `validation-failed` with a pointer; `conflict` for what the environment sets
 */
export async function changeSettings(
  deps: SettingsDeps,
  actor: Actor,
  changes: Readonly<Record<string, string | null>>,
): Promise<SettingList> {
  const file = settingsFileOf(deps.config.dataDir);
  const before = changing.get(file) ?? Promise.resolve();
  const change = before.then(() => changeNow(deps, actor, changes));
  changing.set(
    file,
    change.catch(() => undefined),
  );
  return await change;
}

async function changeNow(
  deps: SettingsDeps,
  actor: Actor,
  changes: Readonly<Record<string, string | null>>,
): Promise<SettingList> {
  const { config } = deps;
  const file = settingsFileOf(config.dataDir);
  for (const key of Object.keys(changes)) {
    const setting = changeable(key);
    if (key in config.given.environment) {
      const detail = `${setting.variable} is set in the environment, which overrules signet.json: change it there.`;
      throw new AppError("conflict", { detail });
    }
  }
  const next: Record<string, unknown> = { ...readSettingsFile(file) };
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) delete next[key];
    else next[key] = value;
  }
  try {
    checkSettings(config.dataDir, { ...config.given, file: next });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const named = Object.keys(changes).find((key) => error.message.includes(key)) ?? Object.keys(changes)[0] ?? "";
    throw refused(named, error.message);
  }
  await deps.db.tx((tx) =>
    recordOperatorAct(tx, deps, { actor, action: "settings.changed", data: { keys: Object.keys(changes).sort() } }),
  );
  await writeDurably(file, `${JSON.stringify(next, null, 2)}\n`);
  return readSettings(config);
}

/** Of the settings that are wanted, those that are not in force after the next start already; null takes one out. */
export function differingSettings(
  { given, dataDir }: Config,
  wanted: Readonly<Record<string, string | number | boolean | string[] | null>>,
): Record<string, string | null> {
  const file = readSettingsFile(settingsFileOf(dataDir));
  const changes: Record<string, string | null> = {};
  for (const [key, value] of Object.entries(wanted)) {
    const text = value === null ? null : textOf(value);
    const there = key in given.environment ? given.environment[key] : key in file ? textOf(file[key]) : null;
    if (text !== there) changes[key] = text;
  }
  return changes;
}

function refused(key: string, detail: string): AppError {
  const pointer = `#/changes/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  return new AppError("validation-failed", { detail, errors: [{ pointer, code: "format", detail }] });
}
