import { runCli } from "../../../server/cli.ts";

/** Runs a command in this process. @param stdin what it reads, a byte at a time */
export async function signet(
  args: string[],
  env: Record<string, string> = {},
  stdin = "",
): Promise<{ code: number; out: string; err: string }> {
  let out = "";
  let err = "";
  const code = await runCli(args, env, {
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
    onSignal: () => undefined,
  });
  return { code, out, err };
}
