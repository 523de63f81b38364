import { spawn } from "node:child_process";
import { once } from "node:events";
import { stat } from "node:fs/promises";
import path from "node:path";
import { AppError } from "../../kernel/errors.ts";
import { type Release, releaseFolder } from "./installation.ts";

/** Longest answer that is read. */
const mostOutput = 1024 * 1024;

/**
 * Runs a command of a release on the data, as the user to whom the data belongs: what is written there must be that user's,
 * and nothing that lies there is read with the rights of root.
 * @returns the JSON that it prints
 * @throws AppError `conflict` with what it said when it fails
 */
export async function runRelease(
  site: { root: string; dataDir: string; environment: Readonly<Record<string, string>> },
  { version, program }: Release,
  args: readonly string[],
): Promise<unknown> {
  const folder = releaseFolder(site.root, version);
  const { uid, gid } = await stat(site.dataDir);
  const owner = process.getuid?.() === 0 && uid !== 0 ? { uid, gid } : {};
  const child = spawn(program.node, [path.join(folder, program.main), ...args, "--json"], {
    ...owner,
    env: { ...site.environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (text: string) => {
      if (output[name].length < mostOutput) output[name] += text;
    });
  const [code, signal]: unknown[] = await once(child, "close");
  const answer = lastJson(output.stdout);
  if (code === 0 && answer !== undefined) return answer;
  const said =
    answer !== null && typeof answer === "object" && "error" in answer ? String(answer.error) : output.stderr.trim();
  const short = said.split("\n").slice(0, 3).join(" ").slice(0, 500);
  throw new AppError("conflict", {
    detail: `Release ${version} could not do \`${args.join(" ")}\`: ${short || `it ended with ${String(code ?? signal)}`}`,
  });
}

function lastJson(text: string): unknown {
  try {
    return JSON.parse(text.trim().split("\n").at(-1) ?? "");
  } catch {
    return undefined;
  }
}
