import { parseArgs } from "node:util";
import { apiKey } from "./commands/api-key.ts";
import { type Command, type CommandContext, type Streams, UsageError } from "./commands/command.ts";
import { demo } from "./commands/demo/demo.ts";
import { doctor } from "./commands/doctor.ts";
import { fsckCommand } from "./commands/fsck.ts";
import { init } from "./commands/init.ts";
import { jobs } from "./commands/jobs.ts";
import { outbox } from "./commands/outbox.ts";
import { serve } from "./commands/serve.ts";
import { verify } from "./commands/verify.ts";
import { ConfigError, loadConfig } from "./config.ts";
import { AppError } from "./kernel/errors.ts";

const commands: readonly Command[] = [init, serve, apiKey, outbox, jobs, fsckCommand, verify, demo, doctor];

/**
 * Runs one command.
 * @returns the exit code: 0 done, 1 it failed or found something wrong, 2 the call or the settings are wrong (for `verify`:
 * consistent but not pinned), 70 a defect
 */
export async function runCli(args: readonly string[], env: NodeJS.ProcessEnv, streams: Streams): Promise<number> {
  const [name = "serve", ...rest] = args;
  if (name === "help" || name === "--help" || name === "-h") {
    streams.stdout(overview());
    return 0;
  }
  const command = commands.find((candidate) => candidate.name === name);
  if (!command) {
    streams.stderr(`signet: there is no command ${JSON.stringify(name)}\n\n${overview()}`);
    return 2;
  }
  let json = rest.includes("--json");
  try {
    const { values, positionals } = parseArgs({
      args: rest,
      options: { ...command.options, json: { type: "boolean" }, help: { type: "boolean", short: "h" } },
      allowPositionals: true,
      strict: true,
    });
    json = values.json === true;
    if (values.help) {
      streams.stdout(usage(command));
      return 0;
    }
    const context: CommandContext = { config: loadConfig(env), options: values, positionals, json, ...streams };
    return await command.run(context);
  } catch (error) {
    return report(error, command, json, streams);
  }
}

function report(error: unknown, command: Command, json: boolean, { stdout, stderr }: Streams): number {
  const message = error instanceof Error ? error.message : String(error);
  const wrongCall =
    error instanceof UsageError ||
    (error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS"));
  if (json)
    stdout(
      `${JSON.stringify({ error: message, ...(error instanceof AppError ? { code: error.code, errors: error.options.errors } : {}) })}\n`,
    );
  else stderr(`signet: ${message}\n${wrongCall ? `\n${usage(command)}` : ""}`);
  if (wrongCall || error instanceof ConfigError) return 2;
  if (error instanceof AppError || isExpected(error)) return 1;
  if (!json && error instanceof Error) stderr(`${error.stack ?? ""}\n`);
  return 70;
}

/** Failures of the machine rather than of the program: a missing file, a taken port, a folder in use. */
function isExpected(error: unknown): boolean {
  return (
    error instanceof Error && (("code" in error && typeof error.code === "string") || error.name === "DataFolderTaken")
  );
}

function overview(): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  const lines = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
  return `signet: the self-hosted electronic-signature appliance\n\n${lines.join("\n")}\n\nEach takes --json and --help. Settings come from the environment (SIGNET_…) and signet.json in the data folder.\n`;
}

function usage(command: Command): string {
  return `signet ${command.name}: ${command.summary}\n\n  ${command.usage.join("\n  ")}\n\n  --json prints one JSON value instead of text\n`;
}
