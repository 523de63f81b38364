/** Backs up or restores and kills itself at a step: `node backup-child.ts backup blobs`, `node backup-child.ts restore placed KEY`. */

import { loadConfig } from "../../../server/config.ts";
import { performBackup } from "../../../server/features/backup/acts.ts";
import { openAsRecipient } from "../../../server/features/backup/opened.ts";
import { restoreBackup } from "../../../server/features/backup/restore.ts";
import { beginBackup } from "../../../server/features/backup/service.ts";
import { openTarget } from "../../../server/features/backup/target.ts";
import { systemClock } from "../../../server/kernel/clock.ts";
import { createLog } from "../../../server/kernel/log.ts";
import { systemActor } from "../../../server/kernel/wire.ts";
import { openDeps } from "../../../server/open-deps.ts";

const [, , what, point, secret = "", from = ""] = process.argv;
const config = loadConfig(process.env);
const work = {
  /** In the middle of a step: its process has told how far it is. */
  told(step: string, progress: unknown) {
    if (progress !== null && `while ${step}` === point) process.kill(process.pid, "SIGKILL");
  },
  reached(step: string) {
    if (step === point) process.kill(process.pid, "SIGKILL");
  },
};
if (what === "backup") {
  const { deps } = await openDeps({ config, log: createLog("silent") });
  const id = await deps.db.tx((tx) => beginBackup(tx, deps, { actor: systemActor, trigger: "operator" }));
  await performBackup(deps, id, work);
} else {
  const target = openTarget(from);
  const manifest = await target.read();
  const opened = await openAsRecipient(target, manifest, { kind: "x25519", secret });
  const { dataDir: to, masterKeyFile } = config;
  const about = { target, manifest, opened, to, masterKeyFile, clock: systemClock, actor: null };
  await restoreBackup({ ...work, ...about });
}
process.exit(3);
