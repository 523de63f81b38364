import { fork } from "node:child_process";
import { rm } from "node:fs/promises";
import path from "node:path";
import type { Config } from "../../config.ts";
import type { Deps } from "../../kernel/deps.ts";
import { findMasterKeys } from "../../kernel/master-key.ts";
import { masterKeyFingerprint } from "../../kernel/secrets.ts";
import type { WalkAnswer } from "./contract.ts";
import type { Machine } from "./machine.ts";
import type { Manifest } from "./manifest.ts";
import type { Opened } from "./opened.ts";
import { restoreBackup } from "./restore.ts";
import type { Target } from "./target.ts";
import type { Work } from "./write.ts";

export type Drilled = { ok: boolean; checked: Record<string, number>; problems: string[] };

type Drill = Work & {
  target: Target;
  manifest: Manifest;
  opened: Opened & { machine: Machine };
  /** Where `signet-drill` is made and removed; `run/drill` of the data folder when not given. */
  scratch?: string | undefined;
};

/**
 * Restores a backup into a scratch folder as on a machine that holds nothing, and walks every chain and hash there in a process
 * of its own. The scratch is removed whatever comes out; one that a death left is removed by the next.
 * @throws what restoring throws: a backup that cannot be restored failed its drill
 */
export async function drillBackup(
  { config, clock }: Pick<Deps, "config" | "clock">,
  { scratch, ...drill }: Drill,
): Promise<Drilled> {
  // Whatever bears the name is removed: in a folder of somebody else it must be ours alone.
  const to = scratch === undefined ? path.join(config.dataDir, "run", "drill") : path.join(scratch, "signet-drill");
  const { current } = await findMasterKeys(config, false);
  // The master key that the appliance works with is not laid down a second time.
  const same = masterKeyFingerprint(current) === drill.manifest.masterKey;
  const masterKeyFile = same ? config.masterKeyFile : path.join(to, "master.key");
  await rm(to, { recursive: true, force: true });
  try {
    await restoreBackup({ ...drill, to, masterKeyFile, clock, actor: null });
    drill.reached?.("restored");
    drill.told("walk", null);
    return await walk({ ...config, dataDir: to, masterKeyFile }, drill);
  } finally {
    await rm(to, { recursive: true, force: true });
  }
}

/** In a process of its own: it reads and computes as long as the data is large, beside people who sign. */
function walk(config: Config, { signal, told }: Work): Promise<Drilled> {
  const child = fork(new URL("../../commands/drill-walk.ts", import.meta.url), {
    execArgv: [],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const stop = () => void child.kill("SIGKILL");
  signal?.addEventListener("abort", stop);
  return new Promise<Drilled>((resolve, reject) => {
    child.on("message", (answer: WalkAnswer) => {
      if ("failure" in answer) reject(new Error(answer.failure));
      else if ("report" in answer) resolve(answer.report);
      else told("walk", { files: 0, allFiles: 0, bytes: answer.done, allBytes: 1000 });
    });
    child.on("error", reject);
    child.on("exit", () => reject(signal?.aborted ? signal.reason : new Error("the walk through the scratch ended")));
    child.send(config);
  }).finally(() => {
    signal?.removeEventListener("abort", stop);
    child.kill("SIGKILL");
  });
}
