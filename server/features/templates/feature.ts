import type { Feature } from "../../feature.ts";
import { hourMs } from "../../kernel/schedules.ts";
import { endpoints } from "./contract.ts";
import { handlers } from "./handlers.ts";
import { sweepUnlisted } from "./jobs.ts";
import { bindings } from "./routes.ts";

export const feature: Feature = {
  endpoints,
  handlers: () => bindings,
  jobs: ({ deps }) => handlers(deps),
  schedules: [{ job: sweepUnlisted, everyMs: hourMs }],
};
