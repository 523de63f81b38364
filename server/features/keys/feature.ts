import type { Feature } from "../../feature.ts";
import { endpoints } from "./contract.ts";
import { handlers } from "./handlers.ts";
import { makeKeys } from "./jobs.ts";
import { keysEndpoints } from "./managed-contract.ts";
import { managedBindings } from "./managed-routes.ts";
import { bindings } from "./routes.ts";

export const feature: Feature = {
  endpoints: [...endpoints, ...keysEndpoints],
  handlers: () => [...bindings, ...managedBindings],
  jobs: ({ deps }) => handlers(deps),
  schedules: [{ job: makeKeys, everyMs: null }],
};
