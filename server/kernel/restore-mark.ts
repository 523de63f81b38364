import { access } from "node:fs/promises";
import path from "node:path";

/** Lies in a data folder from the first step of a restore into it to the last. */
export const restoreMark = "restore.json";

/** A restore into the data folder has not come to its end: whatever lies there is not all of it. */
class RestoreUnended extends Error {
  /** Marks a failure of the installation rather than of the program. */
  readonly code = "RESTORE_UNENDED";
  override name = "RestoreUnended";
}

/** Where the master key lies elsewhere it would open the folder, and new data would begin beside the half of the old. @throws RestoreUnended */
export async function refuseHalfRestored(dataDir: string): Promise<void> {
  const begun = await access(path.join(dataDir, restoreMark)).then(
    () => true,
    () => false,
  );
  if (begun)
    throw new RestoreUnended(
      `the restore into ${dataDir} was interrupted: end it with the same call of signet restore`,
    );
}
