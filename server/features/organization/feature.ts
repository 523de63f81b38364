import type { Feature } from "../../feature.ts";
import { endpoints } from "./contract.ts";
import { organizationsEndpoints } from "./managed-contract.ts";
import { managedBindings } from "./managed-routes.ts";
import { bindings } from "./routes.ts";

export const feature: Feature = {
  endpoints: [...endpoints, ...organizationsEndpoints],
  handlers: () => [...bindings, ...managedBindings],
};
