import type { Feature } from "../../feature.ts";
import { hourMs } from "../../kernel/schedules.ts";
import { endpoints } from "./contract.ts";
import { createBackupHandlers } from "./handlers.ts";
import { planBackup } from "./jobs.ts";
import { createBackupBindings } from "./routes.ts";

export const feature: Feature = {
  endpoints,
  handlers: ({ backups }) => createBackupBindings(backups),
  jobs: ({ deps, backups }) => createBackupHandlers(deps, backups),
  schedules: [{ job: planBackup, everyMs: hourMs }],
};
