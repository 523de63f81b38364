/** Somebody writes to the folder of backups, or reads it while it is to be written. */
export class TargetBusy extends Error {
  readonly code = "BACKUP_TARGET_BUSY";
  override name = "TargetBusy";
}

/** The process of a step could not be started, or ended before it was done: that says nothing about any backup. */
export class StepLost extends Error {
  readonly code: string = "BACKUP_STEP_LOST";
  override name = "StepLost";
}

/** The folder of backups is on a share that is gone: whoever calls it waits without end. */
export class TargetSilent extends StepLost {
  override readonly code = "BACKUP_TARGET_SILENT";
  override name = "TargetSilent";
  constructor(folder: string, patienceMs: number) {
    super(
      `${folder} has not answered for ${patienceMs / 1000} s: see that its disk or share is there, and mount it again`,
    );
  }
}
