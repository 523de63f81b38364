import { describeSettings } from "../config.ts";
import { changeable, changeSettings, readSettings } from "../features/appliance/settings.ts";
import { changeSettings as changeEndpoint } from "../features/appliance/settings-contract.ts";
import { refuseInside } from "../features/backup/settings.ts";
import { operatorName } from "../kernel/operator-name.ts";
import { callLocal, NoAppliance } from "../local-client.ts";
import { type Command, type CommandContext, print, table, UsageError } from "./command.ts";
import { entryOf } from "./list.ts";
import { isTerminal, readSecret } from "./secret.ts";
import { localAddress } from "./with-appliance.ts";
import { withDeps } from "./with-deps.ts";
import { orWrongSetting } from "./wrong-setting.ts";

export const config: Command = {
  ...entryOf("config"),
  usage: [
    "signet config get [KEY …]            values and where they come from; secrets are never shown",
    "signet config set KEY=VALUE …        all of them or none; KEY= takes one out; VALUE - reads standard input",
    "signet config check                  whether the appliance would start with them",
  ],
  async run(context) {
    const [verb, ...rest] = context.positionals;
    if (verb === "get") return get(context, rest);
    if (verb === "set") return await set(context, rest);
    // Whoever got here read settings that can be used.
    if (verb === "check" && rest.length === 0) return await check(context);
    throw new UsageError("say get, set or check");
  },
};

function get(context: CommandContext, keys: readonly string[]): number {
  const { data } = readSettings(context.config);
  const unknown = keys.filter((key) => !data.some((setting) => setting.key === key));
  if (unknown.length > 0) throw new UsageError(`there is no setting ${unknown.join(", ")}`);
  const chosen = keys.length === 0 ? data : data.filter(({ key }) => keys.includes(key));
  const shown = (setting: (typeof data)[number]) =>
    setting.secret ? (setting.isSet ? "(secret)" : "") : (setting.value ?? "");
  print(context, { data: chosen }, table(chosen.map((setting) => [setting.key, setting.source, shown(setting)])));
  return 0;
}

async function set(context: CommandContext, pairs: readonly string[]): Promise<number> {
  if (pairs.length === 0) throw new UsageError("name at least one KEY=VALUE");
  const changes: Record<string, string | null> = {};
  for (const pair of pairs) {
    const at = pair.indexOf("=");
    if (at < 1) throw new UsageError(`${JSON.stringify(pair)} is not KEY=VALUE`);
    const value = pair.slice(at + 1);
    // Before it becomes a member: `__proto__` would be none, and so be taken for nothing to change.
    const { key } = await orWrongSetting(async () => changeable(keyOf(pair.slice(0, at))));
    changes[key] = value === "" ? null : value === "-" ? await readStdin(context) : value;
  }
  const { restartNeeded, running } = await orWrongSetting(() => change(context, changes));
  const words = !running
    ? "Written: it is in force from the next start on."
    : restartNeeded
      ? "Written: restart the appliance to bring it into force."
      : "Written: it is in force already.";
  print(context, { changed: Object.keys(changes), restartNeeded: running && restartNeeded }, words);
  return 0;
}

/** By the running appliance, which writes its audit; without one, on the data folder. */
async function change(context: CommandContext, changes: Record<string, string | null>) {
  try {
    return { running: true, ...(await callLocal(localAddress(context), changeEndpoint, { body: { changes } })) };
  } catch (error) {
    if (!(error instanceof NoAppliance) || error.reason !== "stopped") throw error;
  }
  const actor = { type: "operator" as const, id: null, name: operatorName(), email: null };
  const create = { createKey: true };
  return await withDeps(
    context,
    async (deps) => ({ running: false, ...(await changeSettings(deps, actor, changes)) }),
    create,
  );
}

async function check(context: CommandContext): Promise<number> {
  await refuseInside(context.config);
  const { baseUrl, host, port } = context.config;
  print(context, { ok: true }, `The settings can be used: ${host}:${port}, opened as ${baseUrl}.`);
  return 0;
}

/** The name in signet.json, also given as its variable. */
function keyOf(name: string): string {
  return describeSettings().find(({ key, variable }) => key === name || variable === name)?.key ?? name;
}

/** At a terminal one line that is not shown: it may be a secret. */
async function readStdin(context: CommandContext): Promise<string> {
  const { stdin } = context;
  if (isTerminal(stdin)) return (await readSecret(context, "Value")).trim();
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString("utf8").trim();
}
