import { followLog, type LogLine, logLevels, readLog } from "../features/appliance/logs-contract.ts";
import { callLocal, followLocal } from "../local-client.ts";
import { type Command, type CommandContext, optional, print, UsageError } from "./command.ts";
import { entryOf } from "./list.ts";
import { localAddress } from "./with-appliance.ts";

export const logs: Command = {
  ...entryOf("logs"),
  usage: [
    "signet logs [--level LEVEL] [--search TEXT] [--last N] [--follow]",
    `levels: ${logLevels.join(", ")}; what was written before is where the service manager keeps it: journalctl -u signet`,
  ],
  async run(context) {
    const given = optional(context, "level");
    const level = logLevels.find((name) => name === given);
    if (given !== undefined && level === undefined) throw new UsageError(`--level takes ${logLevels.join(", ")}`);
    const search = optional(context, "search");
    const last = optional(context, "last") ?? "50";
    if (!/^\d{1,4}$/.test(last) || Number(last) > 2000 || Number(last) < 1)
      throw new UsageError("--last takes a number from 1 to 2000");
    const filter = { ...(level === undefined ? {} : { level }), ...(search === undefined ? {} : { search }) };
    const address = localAddress(context);
    const page = await callLocal(address, readLog, { query: { ...filter, limit: last } });
    if (context.options.follow !== true) {
      print(context, page, page.data.length === 0 ? "There is no such line." : page.data.map(textOf).join("\n"));
      return 0;
    }
    for (const line of page.data) print(context, line, textOf(line));
    const ended = new AbortController();
    context.onSignal(() => ended.abort());
    context.onReaderGone?.(() => ended.abort());
    await follow(context, filter, ended.signal);
    return 0;
  },
};

async function follow(
  context: CommandContext,
  query: { level?: LogLine["level"]; search?: string },
  signal: AbortSignal,
): Promise<void> {
  try {
    for await (const line of followLocal(localAddress(context), followLog, { query }, { signal }))
      print(context, line, textOf(line));
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

const textOf = ({ at, level, message, data }: LogLine): string =>
  `${at} ${level.toUpperCase().padEnd(5)} ${message}${data === null ? "" : ` ${data}`}`;
