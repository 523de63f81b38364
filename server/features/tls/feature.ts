import type { Feature } from "../../feature.ts";
import { createAcmeHandlers } from "./acme/handlers.ts";
import { resumeAcmeWork } from "./acme/jobs.ts";
import { createAcmeBindings } from "./acme/routes.ts";
import { endpoints } from "./contract.ts";
import { createTlsBindings } from "./routes.ts";

export const feature: Feature = {
  endpoints,
  handlers: ({ tls }) => [...createTlsBindings(tls), ...createAcmeBindings(tls)],
  jobs: ({ deps, tls }) => createAcmeHandlers(deps, tls),
  schedules: [{ job: resumeAcmeWork, everyMs: null }],
};
