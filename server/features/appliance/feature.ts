import type { Feature } from "../../feature.ts";
import { hourMs } from "../../kernel/schedules.ts";
import { operatorOf } from "./authenticate.ts";
import { endpoints } from "./contract.ts";
import { handlers } from "./handlers.ts";
import { noteSize } from "./jobs.ts";
import { createBindings } from "./routes.ts";

export const feature: Feature = {
  endpoints,
  handlers: createBindings,
  jobs: ({ deps }) => handlers(deps),
  schedules: [{ job: noteSize, everyMs: hourMs }],
  credentials: () => ({ local: async (request) => operatorOf(request) }),
};
