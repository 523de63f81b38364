import { parseArgs } from "node:util";
import {
  type Command,
  type CommandContext,
  chosen,
  exitCodesOf,
  inert,
  type Streams,
  UsageError,
} from "./commands/command.ts";
import { type CommandName, commandEntries, commandNames, isCommandName } from "./commands/list.ts";
import { ConfigError, loadConfig } from "./config.ts";
import { AppError } from "./kernel/errors.ts";
import { nearest } from "./kernel/nearest.ts";
import { LocalProblem } from "./local-client.ts";

/** Each is loaded when it is called: a status need not wait for a server. */
const loaders: Readonly<Record<CommandName, () => Promise<Command>>> = {
  init: async () => (await import("./commands/init.ts")).init,
  serve: async () => (await import("./commands/serve.ts")).serve,
  status: async () => (await import("./commands/status.ts")).status,
  config: async () => (await import("./commands/config.ts")).config,
  setup: async () => (await import("./commands/setup.ts")).setup,
  "first-link": async () => (await import("./commands/first-link.ts")).firstLink,
  "recover-owner": async () => (await import("./commands/recover-owner.ts")).recoverOwner,
  org: async () => (await import("./commands/org.ts")).org,
  access: async () => (await import("./commands/access.ts")).access,
  "api-key": async () => (await import("./commands/api-key.ts")).apiKey,
  outbox: async () => (await import("./commands/outbox.ts")).outbox,
  smtp: async () => (await import("./commands/smtp.ts")).smtp,
  tls: async () => (await import("./commands/tls.ts")).tls,
  jobs: async () => (await import("./commands/jobs.ts")).jobs,
  fsck: async () => (await import("./commands/fsck.ts")).fsckCommand,
  backup: async () => (await import("./commands/backup.ts")).backup,
  restore: async () => (await import("./commands/restore.ts")).restore,
  drill: async () => (await import("./commands/drill.ts")).drill,
  anchors: async () => (await import("./commands/anchors.ts")).anchors,
  consent: async () => (await import("./commands/consent.ts")).consent,
  keys: async () => (await import("./commands/keys.ts")).keys,
  verify: async () => (await import("./commands/verify.ts")).verify,
  demo: async () => (await import("./commands/demo/demo.ts")).demo,
  update: async () => (await import("./commands/update.ts")).update,
  clock: async () => (await import("./commands/clock.ts")).clock,
  doctor: async () => (await import("./commands/doctor.ts")).doctor,
  logs: async () => (await import("./commands/logs.ts")).logs,
  "support-bundle": async () => (await import("./commands/support-bundle.ts")).supportBundle,
  mcp: async () => (await import("./commands/mcp.ts")).mcp,
  language: async () => (await import("./commands/language.ts")).language,
  completion: async () => (await import("./commands/completion.ts")).completion,
  man: async () => (await import("./commands/man.ts")).manCommand(allCommands),
};

/** For whoever needs more of them than the list says. */
export const allCommands = (): Promise<readonly Command[]> => Promise.all(commandNames.map((name) => loaders[name]()));

/**
 * Runs one command.
 * @returns the exit code, see `exitCodesOf`
 */
export async function runCli(args: readonly string[], env: NodeJS.ProcessEnv, streams: Streams): Promise<number> {
  const [name = "serve", ...rest] = args;
  if (name === "help" || name === "--help" || name === "-h") {
    // `signet help api-key` is `signet api-key --help`.
    const [about] = rest.filter((one) => !one.startsWith("-"));
    if (about !== undefined)
      return await runCli([about, "--help", ...rest.filter((one) => one === "--json")], env, streams);
    streams.stdout(rest.includes("--json") ? `${JSON.stringify({ commands: commandEntries })}\n` : overview());
    return 0;
  }
  let json = rest.includes("--json");
  if (!isCommandName(name)) {
    const meant = nearest(name, commandNames);
    const hint =
      meant === null ? "signet help lists them all" : `did you mean signet ${meant}? signet help lists them all`;
    const message = `there is no command ${JSON.stringify(name)}: ${hint}`;
    if (json) streams.stdout(`${JSON.stringify({ error: message })}\n`);
    else streams.stderr(`signet: ${message}\n`);
    return 2;
  }
  const command = await loaders[name]();
  try {
    const options = { ...command.options, json: { type: "boolean" }, help: { type: "boolean", short: "h" } } as const;
    const { values, positionals } = parseArgs({
      args: withDashedValues(rest, options),
      options,
      allowPositionals: true,
      strict: true,
    });
    json = values.json === true;
    if (values.help) {
      const { summary, usage: lines } = command;
      const about = { name, summary, usage: lines, exitCodes: exitCodesOf(command) };
      streams.stdout(json ? `${JSON.stringify(about)}\n` : usage(command));
      return 0;
    }
    const context: CommandContext = { config: loadConfig(env), env, options: values, positionals, json, ...streams };
    return await command.run(context);
  } catch (error) {
    return report(error, command, json, streams);
  }
}

function report(error: unknown, command: Command, json: boolean, { stdout, stderr }: Streams): number {
  const misread =
    error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS") ? error : null;
  const wrongCall = misread !== null || error instanceof UsageError;
  const message = misread ? misreadArguments(misread, command) : error instanceof Error ? error.message : String(error);
  if (json) stdout(`${JSON.stringify({ error: message, ...codeOf(error) })}\n`);
  else stderr(`signet: ${inert(message)}\n${wrongCall ? `\n${usage(command)}` : ""}`);
  if (wrongCall || error instanceof ConfigError) return 2;
  if (error instanceof AppError || isExpected(error)) return 1;
  if (!json && error instanceof Error) stderr(`${error.stack ?? ""}\n`);
  return 70;
}

/**
 * Ties a value that begins with a dash to its option: one anchor key in 64 has such an id. What looks like an option stays one, so
 * that a mistyped one is not taken for the value of the one before.
 */
function withDashedValues(args: readonly string[], options: Command["options"]): string[] {
  const tied: string[] = [];
  const end = args.indexOf("--");
  for (const [index, arg] of args.entries()) {
    const option = args[index - 1] ?? "";
    const isValue =
      (end < 0 || index < end) && option.startsWith("--") && chosen(options, option.slice(2))?.type === "string";
    if (isValue && /^-./.test(arg) && !/^(-[a-z]|--[a-z][a-z-]*(=.*)?)$/s.test(arg)) tied.push(`${tied.pop()}=${arg}`);
    else tied.push(arg);
  }
  return tied;
}

/** Node's words about the arguments, without its advice on arguments that begin with a dash. */
function misreadArguments({ message }: TypeError, command: Command): string {
  const [, unknown] = /^Unknown option '(-[^']*)'/.exec(message) ?? [];
  if (unknown === undefined) return message.split("\n")[0] ?? message;
  const meant = nearest(
    unknown,
    [...Object.keys(command.options), "json", "help"].map((option) => `--${option}`),
  );
  return `signet ${command.name} has no option ${unknown}${meant === null ? "" : `: did you mean ${meant}?`}`;
}

function codeOf(error: unknown): { code?: string; errors?: unknown } {
  if (error instanceof ConfigError && error.cause !== undefined) return codeOf(error.cause);
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
  const width = Math.max(...commandNames.map((name) => name.length));
  const lines = commandEntries.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
  return `signet: the self-hosted electronic-signature appliance\n\n${lines.join("\n")}\n\nEach takes --json and --help. Settings come from the environment (SIGNET_…) and signet.json in the data folder.\n`;
}

function usage(command: Command): string {
  const codes = Object.entries(exitCodesOf(command)).map(([code, meaning]) => `    ${code.padStart(2)}  ${meaning}`);
  return `signet ${command.name}: ${command.summary}\n\n  ${command.usage.join("\n  ")}\n\n  --json prints one JSON value instead of text\n\n  exit codes:\n${codes.join("\n")}\n`;
}
