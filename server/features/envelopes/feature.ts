import type { Feature } from "../../feature.ts";
import { endpoints } from "./contract.ts";
import { bindings as dashboardBindings } from "./dashboard-routes.ts";
import { mailAboutEnd } from "./end-mails.ts";
import { handlers } from "./handlers.ts";
import { bindings } from "./routes.ts";

export const feature: Feature = {
  endpoints,
  handlers: () => [...bindings, ...dashboardBindings],
  jobs: ({ deps }) => handlers(deps),
  observers: { audit: [mailAboutEnd] },
};
