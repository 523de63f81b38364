import { runCli } from "../../server/cli.ts";
import type { Streams } from "../../server/commands/command.ts";

export type CommandOutcome = { code: number; out: string; err: string; json: () => Record<string, unknown> };

/** Runs a command in this process. @param stdin what it reads, a byte at a time */
export async function signet(
  args: readonly string[],
  env: Record<string, string> = {},
  stdin = "",
  onSignal: Streams["onSignal"] = () => undefined,
): Promise<CommandOutcome> {
  let out = "";
  let err = "";
  const code = await runCli([...args], env, {
    stdout: (text) => {
      out += text;
    },
    stderr: (text) => {
      err += text;
    },
    stdin: (async function* () {
      for (const byte of Buffer.from(stdin)) yield Uint8Array.of(byte);
    })(),
    interactive: false,
    onSignal,
  });
  return { code, out, err, json: () => JSON.parse(out) };
}

/** Commands as a person would call them on this data folder. */
export function commandOn(
  folder: string,
  env: Record<string, string> = {},
  input = "",
  onSignal: Streams["onSignal"] = () => undefined,
) {
  const all = { SIGNET_DATA_DIR: folder, SIGNET_PORT: "0", SIGNET_LOG_LEVEL: "silent", ...env };
  return (...args: string[]): Promise<CommandOutcome> => signet(args, all, input, onSignal);
}
