import type { Config } from "../config.ts";
import type { ServiceManager } from "../service-manager.ts";
import type { CommandEntry } from "./list.ts";

/** Where a command reads and writes; given by main.ts, so that tests can run a command in their own process. */
export type Streams = {
  stdout: (text: string) => void;
  stderr: (text: string) => void;
  stdin: AsyncIterable<Uint8Array | string>;
  /** A person is watching standard error: progress may be drawn there. */
  interactive: boolean;
  /** Somebody started it by hand and sees what it prints; a service manager would keep it in a log. */
  attended?: boolean;
  /** The file that Node was given. */
  program?: string | undefined;
  onSignal: (listener: (signal: string) => void) => void;
  /** What is printed from now on nobody reads. */
  onReaderGone?: (listener: () => void) => void;
  /** Whoever started the process and wants to know when it answers. */
  serviceManager?: ServiceManager | null;
};

export type OptionValue = string | boolean | (string | boolean)[] | undefined;

export type CommandContext = Streams & {
  config: Config;
  /** For what is no setting of the appliance. */
  env: Readonly<Record<string, string | undefined>>;
  options: Readonly<Record<string, OptionValue>>;
  positionals: readonly string[];
  json: boolean;
};

/** What stands in the list, and what is loaded when it is called. */
export type Command = CommandEntry & {
  usage: readonly string[];
  /** Besides those that every command has. */
  exitCodes?: Readonly<Record<number, string>>;
  /** @returns the exit code */
  run: (context: CommandContext) => Promise<number>;
};

/** The call is wrong: the usage is printed after the message, exit code 2. */
export class UsageError extends Error {
  override name = "UsageError";
}

/** @throws UsageError when the option is missing or empty */
export function required({ options }: CommandContext, name: string): string {
  const value = options[name];
  if (typeof value !== "string" || value === "") throw new UsageError(`--${name} is required`);
  return value;
}

export function optional({ options }: CommandContext, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** What stands under the name that somebody gave; nothing that every object has. */
export const chosen = <T>(among: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(among, name) ? among[name] : undefined;

/** Prints the value as one JSON line, or the text made for people. */
export function print({ json, stdout }: CommandContext, value: unknown, text: string): void {
  stdout(json ? `${JSON.stringify(value)}\n` : `${inert(text)}\n`);
}

/**
 * What a terminal would take for an order, or would turn the letters around, as a code instead: names, titles and answers of
 * servers come from strangers. Ends of lines and tabs stay.
 */
export const inert = (text: string): string =>
  text.replaceAll(
    /\r(?!\n)|[^\P{Cc}\r\n\t]|[\u2028-\u202e\u2066-\u2069]/gu,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** Columns as wide as their longest cell; each row is one line, whatever a cell says. */
export function table(given: readonly (readonly string[])[]): string {
  const rows = given.map((row) => row.map((cell) => inert(cell.replaceAll(/\s*[\r\n]+\s*/g, " "))));
  const widths = rows.reduce<number[]>((most, row) => row.map((cell, i) => Math.max(most[i] ?? 0, cell.length)), []);
  return rows
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** What fsck counts and is more than an s away from one of it. */
const ones = new Map([
  ["leaves", "leaf"],
  ["audit entries", "audit entry"],
  ["operators' acts", "operator's act"],
]);

/** @param checked how many of what, in the plural ("blobs", "leaves") */
export const countsOf = (checked: Readonly<Record<string, number>>): string =>
  Object.entries(checked)
    .map(([what, count]) => `${count} ${count === 1 ? (ones.get(what) ?? what.replace(/s$/, "")) : what}`)
    .join(", ");

/** The first line of standard input, without its end; what comes after it is not waited for. */
export async function readLine(stdin: AsyncIterable<Uint8Array | string>): Promise<string> {
  let text = "";
  for await (const chunk of stdin) {
    text += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8");
    if (text.includes("\n")) break;
  }
  return text.split(/\r?\n/)[0] ?? "";
}

const commonExitCodes = {
  0: "done",
  1: "it failed, or found something wrong",
  2: "the call or the settings are wrong",
  70: "a defect of Signet",
};

/** What the exit codes of a command mean; without one, of every command. */
export function exitCodesOf(command: Pick<Command, "exitCodes"> | undefined): Readonly<Record<number, string>> {
  const own = Object.entries(command?.exitCodes ?? {}).map(([code, meaning]) => {
    const common = Object.entries(commonExitCodes).find(([known]) => known === code)?.[1];
    return [code, common === undefined ? meaning : `${common}; here: ${meaning}`] as const;
  });
  return { ...commonExitCodes, ...Object.fromEntries(own) };
}
