import type { Feature } from "../../feature.ts";
import { hourlyMs } from "../../kernel/schedules.ts";
import { endpoints } from "./contract.ts";
import { handlers } from "./handlers.ts";
import { forgetSignIns } from "./jobs.ts";
import { bindings } from "./routes.ts";

export const feature: Feature = {
  endpoints,
  handlers: () => bindings,
  jobs: ({ deps }) => handlers(deps),
  schedules: [{ job: forgetSignIns, everyMs: hourlyMs }],
};
