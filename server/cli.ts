import { parseArgs } from "node:util";
import { access } from "./commands/access.ts";
import { anchors } from "./commands/anchors.ts";
import { apiKey } from "./commands/api-key.ts";
import { backup } from "./commands/backup.ts";
import { clock } from "./commands/clock.ts";
import { type Command, type CommandContext, exitCodesOf, inert, type Streams, UsageError } from "./commands/command.ts";
import { completionCommand } from "./commands/completion.ts";
import { config } from "./commands/config.ts";
import { demo } from "./commands/demo/demo.ts";
import { doctor } from "./commands/doctor.ts";
import { drill } from "./commands/drill.ts";
import { firstLink } from "./commands/first-link.ts";
import { fsckCommand } from "./commands/fsck.ts";
import { init } from "./commands/init.ts";
import { jobs } from "./commands/jobs.ts";
import { keys } from "./commands/keys.ts";
import { logs } from "./commands/logs.ts";
import { manCommand } from "./commands/man.ts";
import { org } from "./commands/org.ts";
import { outbox } from "./commands/outbox.ts";
import { recoverOwner } from "./commands/recover-owner.ts";
import { restore } from "./commands/restore.ts";
import { serve } from "./commands/serve.ts";
import { setup } from "./commands/setup.ts";
import { smtp } from "./commands/smtp.ts";
import { status } from "./commands/status.ts";
import { supportBundle } from "./commands/support-bundle.ts";
import { tls } from "./commands/tls.ts";
import { update } from "./commands/update.ts";
import { verify } from "./commands/verify.ts";
import { ConfigError, loadConfig } from "./config.ts";
import { AppError } from "./kernel/errors.ts";
import { LocalProblem } from "./local-client.ts";

/** Every command, in the order of the overview. */
export const commands: readonly Command[] = [
  init,
  serve,
  status,
  config,
  setup,
  firstLink,
  recoverOwner,
  org,
  access,
  apiKey,
  outbox,
  smtp,
  tls,
  jobs,
  fsckCommand,
  backup,
  restore,
  drill,
  anchors,
  keys,
  verify,
  demo,
  update,
  clock,
  doctor,
  logs,
  supportBundle,
  completionCommand(() => commands),
  manCommand(() => commands),
];

/**
 * Runs one command.
 * @returns the exit code, see `exitCodesOf`
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
  if (json) stdout(`${JSON.stringify({ error: message, ...codeOf(error) })}\n`);
  else stderr(`signet: ${inert(message)}\n${wrongCall ? `\n${usage(command)}` : ""}`);
  if (wrongCall || error instanceof ConfigError) return 2;
  if (error instanceof AppError || isExpected(error)) return 1;
  if (!json && error instanceof Error) stderr(`${error.stack ?? ""}\n`);
  return 70;
}

function codeOf(error: unknown): { code?: string; errors?: unknown } {
  if (error instanceof AppError) return { code: error.code, errors: error.options.errors };
  if (error instanceof LocalProblem) return { code: error.problem.code, errors: error.problem.errors };
  return error instanceof Error && "code" in error && typeof error.code === "string" ? { code: error.code } : {};
}

/** Failures of the machine rather than of the program: a missing file, a taken port, a folder in use. */
function isExpected(error: unknown): boolean {
  return (
    error instanceof Error &&
    (("code" in error && typeof error.code === "string") ||
      ["DataFolderTaken", "LocalProblem", "NoAppliance"].includes(error.name))
  );
}

function overview(): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  const lines = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
  return `signet: the self-hosted electronic-signature appliance\n\n${lines.join("\n")}\n\nEach takes --json and --help. Settings come from the environment (SIGNET_…) and signet.json in the data folder.\n`;
}

function usage(command: Command): string {
  const codes = Object.entries(exitCodesOf(command)).map(([code, meaning]) => `    ${code.padStart(2)}  ${meaning}`);
  return `signet ${command.name}: ${command.summary}\n\n  ${command.usage.join("\n  ")}\n\n  --json prints one JSON value instead of text\n\n  exit codes:\n${codes.join("\n")}\n`;
}
