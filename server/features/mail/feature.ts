import type { Feature } from "../../feature.ts";
import { hourlyMs } from "../../kernel/schedules.ts";
import { handlers } from "./handlers.ts";
import { wipeMails } from "./jobs.ts";

export const feature: Feature = {
  jobs: ({ deps }) => handlers(deps),
  schedules: [{ job: wipeMails, everyMs: hourlyMs }],
};
