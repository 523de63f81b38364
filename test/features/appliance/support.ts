import { runCli } from "../../../server/cli.ts";
import type { Streams } from "../../../server/commands/command.ts";

export type CommandOutcome = { code: number; out: string; err: string; json: () => Record<string, unknown> };

/** Commands as a person would call them on this data folder. */
export function commandOn(
  folder: string,
  env: Record<string, string> = {},
  input = "",
  onSignal: Streams["onSignal"] = () => undefined,
) {
  return async (...args: string[]): Promise<CommandOutcome> => {
    let out = "";
    let err = "";
    const code = await runCli(
      args,
      { SIGNET_DATA_DIR: folder, SIGNET_PORT: "0", SIGNET_LOG_LEVEL: "silent", ...env },
      {
        stdout: (text) => {
          out += text;
        },
        stderr: (text) => {
          err += text;
        },
        stdin: (async function* () {
          yield input;
        })(),
        interactive: false,
        onSignal,
      },
    );
    return { code, out, err, json: () => JSON.parse(out) };
  };
}
