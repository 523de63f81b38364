import { type Progress, type Resealed, resealAll } from "../features/keys/master-rotation.ts";
import { enterBeside } from "../features/update/maintenance.ts";
import { createLog } from "../kernel/log.ts";
import { beginMasterKey, commitMasterKey, findMasterKeys, holdMasterKey } from "../kernel/master-key.ts";
import { masterKeyFingerprint, openSecrets } from "../kernel/secrets.ts";
import { openDeps } from "../open-deps.ts";
import type { CommandContext } from "./command.ts";

export type RotatedMaster = Resealed & {
  /** Fingerprints. */
  before: string;
  after: string;
  /** Where the key of before lies now. */
  kept: string;
};

/**
 * Replaces the master key. The process may end at any instruction: the next call goes on, and until then everything works
 * with both keys. @throws MasterKeyBusy while a server or another command runs; MasterKeyUnfit
 */
export async function rotateMaster(
  { config }: Pick<CommandContext, "config">,
  name: string | undefined,
  progress: Progress,
): Promise<RotatedMaster> {
  // Before anything is made: a folder that holds nothing has no key to replace.
  await findMasterKeys(config, false);
  // Before the next key is made: while an update may come back with the data of before, none is replaced.
  const leave = await enterBeside(config.dataDir);
  let release: (() => Promise<void>) | undefined;
  try {
    release = await holdMasterKey(config.dataDir, "exclusive");
    await beginMasterKey(config);
    progress("next key");
    const { current, before } = await findMasterKeys(config, false);
    if (!before) throw new Error("the next master key is not there");
    const fingerprints = { before: masterKeyFingerprint(before), after: masterKeyFingerprint(current) };
    const { deps, close } = await openDeps({ config, log: createLog("silent"), replacingKey: true });
    let done: Resealed;
    try {
      done = await resealAll(deps, { before: openSecrets(before), fingerprints, name }, progress);
    } finally {
      await close();
    }
    const kept = await commitMasterKey(config.masterKeyFile, fingerprints.before);
    return { ...done, ...fingerprints, kept };
  } finally {
    await release?.();
    await leave();
  }
}
