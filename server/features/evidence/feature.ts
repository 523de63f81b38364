import type { Feature } from "../../feature.ts";
import { hourMs } from "../../kernel/schedules.ts";
import { anchorsEndpoints } from "./anchors/managed-contract.ts";
import { anchorsBindings } from "./anchors/managed-routes.ts";
import { endpoints } from "./contract.ts";
import { handlers } from "./handlers.ts";
import { forgetDownloads, resumeWork } from "./jobs.ts";
import { bindings } from "./routes.ts";

export const feature: Feature = {
  endpoints: [...endpoints, ...anchorsEndpoints],
  handlers: () => [...bindings, ...anchorsBindings],
  jobs: ({ deps }) => handlers(deps),
  schedules: [
    { job: resumeWork, everyMs: null },
    { job: forgetDownloads, everyMs: hourMs },
  ],
};
