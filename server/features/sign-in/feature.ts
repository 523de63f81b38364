import type { Feature } from "../../feature.ts";
import { hourMs } from "../../kernel/schedules.ts";
import { accessEndpoints } from "./access-contract.ts";
import { accessBindings } from "./access-routes.ts";
import { endpoints } from "./contract.ts";
import { handlers } from "./handlers.ts";
import { forgetSignIns } from "./jobs.ts";
import { bindings } from "./routes.ts";

export const feature: Feature = {
  endpoints: [...endpoints, ...accessEndpoints],
  handlers: () => [...bindings, ...accessBindings],
  jobs: ({ deps }) => handlers(deps),
  schedules: [{ job: forgetSignIns, everyMs: hourMs }],
};
