import type { Deps } from "../../kernel/deps.ts";
import type { Finding } from "../health/contract.ts";
import { finding, messageOf } from "../health/service.ts";
import type { BackupState } from "./contract.ts";
import { backupSettings } from "./settings.ts";

/** Beyond one and a half intervals a backup is late, not merely running. */
const lateAfter = 1.5;
const drillEveryDays = 90;

/** Whether a loss of this machine would be survived: how old the last backup is that was found whole, and the last drill. */
export async function backupFindings(
  { config, clock }: Pick<Deps, "config" | "clock">,
  state: BackupState,
): Promise<Finding[]> {
  const unset = await backupSettings(config).then(() => null, messageOf);
  const drill = drillFinding(state, clock.now());
  return [unset === null ? backupFinding(state) : missing(config, unset), ...(drill === null ? [] : [drill])];
}

/** Nobody chose anything yet, or what was chosen cannot be used. */
function missing({ backupDir }: Deps["config"], cause: string): Finding {
  const one = finding("backup", "backup");
  return backupDir === undefined ? one.warning("backup.unset", { cause }) : one.wrong("backup.unusable", { cause });
}

function backupFinding({ settings, last, lastVerified }: BackupState): Finding {
  const one = finding("backup", "backup");
  const folder = settings?.folder ?? unknown;
  const interval = settings?.intervalHours ?? 0;
  const late = lastVerified === null || lastVerified.ageHours > interval * lateAfter;
  if (last?.status === "failed" || last?.status === "damaged") {
    const about = { folder, startedAt: last.startedAt, cause: last.cause ?? unknown };
    if (lastVerified === null) return one.wrong(`backup.${last.status}-always`, about);
    const { ageHours } = lastVerified;
    return one[late ? "wrong" : "warning"](`backup.${last.status}`, { ...about, ageHours });
  }
  if (lastVerified === null)
    return last?.status === "running" ? one.ok("backup.first", {}) : one.warning("backup.never", { interval, folder });
  const { ageHours } = lastVerified;
  return late ? one.wrong("backup.late", { ageHours, interval, folder }) : one.ok("backup.ok", { ageHours });
}

/** Null where there is nothing that could be tried. */
function drillFinding({ settings, lastVerified, lastDrill }: BackupState, now: number): Finding | null {
  if (settings === null || lastVerified === null) return null;
  const one = finding("backup-drill", "backup");
  if (lastDrill === null) return one.warning("backup-drill.never", {});
  const { status, startedAt, cause } = lastDrill;
  if (status === "failed") return one.wrong("backup-drill.failed", { startedAt, cause: cause ?? unknown });
  if (status === "cancelled") return one.warning("backup-drill.cancelled", { startedAt });
  const days = Math.floor((now - Date.parse(startedAt)) / 86_400_000);
  if (days > drillEveryDays) return one.warning("backup-drill.old", { startedAt });
  return one.ok(status === "passed" ? "backup-drill.ok" : "backup-drill.running", { startedAt });
}

const unknown = "–";
