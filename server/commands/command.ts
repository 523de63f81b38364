import type { ParseArgsOptionsConfig } from "node:util";
import type { Config } from "../config.ts";

/** Where a command reads and writes; given by main.ts, so that tests can run a command in their own process. */
export type Streams = {
  stdout: (text: string) => void;
  stderr: (text: string) => void;
  stdin: AsyncIterable<Uint8Array | string>;
  /** A person is watching standard error: progress may be drawn there. */
  interactive: boolean;
  onSignal: (listener: (signal: string) => void) => void;
};

export type OptionValue = string | boolean | (string | boolean)[] | undefined;

export type CommandContext = Streams & {
  config: Config;
  options: Readonly<Record<string, OptionValue>>;
  positionals: readonly string[];
  json: boolean;
};

export type Command = {
  name: string;
  summary: string;
  usage: readonly string[];
  options: ParseArgsOptionsConfig;
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

/** Prints the value as one JSON line, or the text made for people. */
export function print({ json, stdout }: CommandContext, value: unknown, text: string): void {
  stdout(json ? `${JSON.stringify(value)}\n` : `${text}\n`);
}

/** Columns as wide as their longest cell. */
export function table(rows: readonly (readonly string[])[]): string {
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
