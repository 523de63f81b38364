import type { EndpointSpec } from "../../kernel/endpoint.ts";
import { clockEndpoints } from "./clock-contract.ts";
import { logsEndpoints } from "./logs-contract.ts";
import { settingsEndpoints } from "./settings-contract.ts";
import { setupEndpoints } from "./setup-contract.ts";
import { statusEndpoints } from "./status-contract.ts";
import { supportEndpoints } from "./support-contract.ts";
import { workEndpoints } from "./work-contract.ts";

export const endpoints: readonly EndpointSpec[] = [
  ...statusEndpoints,
  ...clockEndpoints,
  ...workEndpoints,
  ...logsEndpoints,
  ...supportEndpoints,
  ...setupEndpoints,
  ...settingsEndpoints,
];
