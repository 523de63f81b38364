import type { Feature } from "../../feature.ts";
import { hourMs } from "../../kernel/schedules.ts";
import { endpoints } from "./contract.ts";
import { handlers } from "./handlers.ts";
import { dropKept } from "./jobs.ts";
import { createUpdateBindings } from "./routes.ts";

export const feature: Feature = {
  endpoints,
  handlers: createUpdateBindings,
  jobs: ({ deps }) => handlers(deps),
  schedules: [{ job: dropKept, everyMs: hourMs }],
};
