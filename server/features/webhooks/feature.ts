import type { Feature } from "../../feature.ts";
import { hourMs } from "../../kernel/schedules.ts";
import { endpoints } from "./contract.ts";
import { handlers } from "./handlers.ts";
import { tidyWebhooks } from "./jobs.ts";
import { storeEvents } from "./observers.ts";
import { bindings } from "./routes.ts";

export const feature: Feature = {
  endpoints,
  handlers: () => bindings,
  jobs: ({ deps }) => handlers(deps),
  schedules: [{ job: tidyWebhooks, everyMs: hourMs }],
  observers: { audit: [storeEvents] },
};
