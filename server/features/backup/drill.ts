import { mkdir, rm } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Config } from "../../config.ts";
import { holdFileLock } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { findMasterKeys } from "../../kernel/master-key.ts";
import { masterKeyFingerprint } from "../../kernel/secrets.ts";
import type { WalkAnswer } from "./contract.ts";
import { askHelper, endHelper, startHelper } from "./helper-process.ts";
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
 * of its own. The scratch is removed whatever comes out; one that a death left is removed by the next. One waits for the other: the
 * service and a command would remove each other's scratch.
 * @throws the reason of the signal; what restoring throws: a backup that cannot be restored failed its drill
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
  const release = await lockDrills(config.dataDir, drill.signal);
  try {
    await rm(to, { recursive: true, force: true });
    await restoreBackup({ ...drill, to, masterKeyFile, clock, actor: null });
    drill.reached?.("restored");
    drill.told("walk", null);
    return await walk({ ...config, dataDir: to, masterKeyFile }, drill);
  } finally {
    await rm(to, { recursive: true, force: true }).finally(release);
  }
}

const lookAgainMs = 500;

async function lockDrills(dataDir: string, signal: AbortSignal | undefined): Promise<() => Promise<void>> {
  const run = path.join(dataDir, "run");
  await mkdir(run, { recursive: true, mode: 0o700 });
  for (;;) {
    signal?.throwIfAborted();
    const release = await holdFileLock(path.join(run, "drill-lock.db"));
    if (release !== null) return release;
    await delay(lookAgainMs);
  }
}

/** In a process of its own: it reads and computes as long as the data is large, beside people who sign. */
async function walk(config: Config, { signal, stuck, told }: Work): Promise<Drilled> {
  const helper = startHelper(new URL("../../commands/drill-walk.ts", import.meta.url));
  const answer = await askHelper(helper, config, {
    signal,
    stuck,
    hear(message: WalkAnswer) {
      if (!("done" in message)) return message;
      told("walk", { files: 0, allFiles: 0, bytes: message.done, allBytes: 1000 });
    },
  });
  // The scratch is removed next.
  await endHelper(helper, stuck);
  if ("failure" in answer) throw new Error(answer.failure);
  return answer.report;
}
