import type { Feature } from "../../feature.ts";
import { hourMs } from "../../kernel/schedules.ts";
import { handlers } from "./handlers.ts";
import { wipeMails } from "./jobs.ts";
import { mailEndpoints } from "./queue-contract.ts";
import { bindings } from "./routes.ts";

export const feature: Feature = {
  endpoints: mailEndpoints,
  handlers: () => bindings,
  jobs: ({ deps }) => handlers(deps),
  schedules: [{ job: wipeMails, everyMs: hourMs }],
};
