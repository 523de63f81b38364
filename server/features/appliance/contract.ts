import type { EndpointSpec } from "../../kernel/endpoint.ts";
import { accessEndpoints } from "./access-contract.ts";
import { anchorsEndpoints } from "./anchors-contract.ts";
import { checksEndpoints } from "./checks-contract.ts";
import { clockEndpoints } from "./clock-contract.ts";
import { keysEndpoints } from "./keys-contract.ts";
import { logsEndpoints } from "./logs-contract.ts";
import { mailEndpoints } from "./mail-contract.ts";
import { organizationsEndpoints } from "./organizations-contract.ts";
import { settingsEndpoints } from "./settings-contract.ts";
import { setupEndpoints } from "./setup-contract.ts";
import { statusEndpoints } from "./status-contract.ts";
import { supportEndpoints } from "./support-contract.ts";
import { workEndpoints } from "./work-contract.ts";

export const endpoints: readonly EndpointSpec[] = [
  ...statusEndpoints,
  ...checksEndpoints,
  ...clockEndpoints,
  ...workEndpoints,
  ...organizationsEndpoints,
  ...accessEndpoints,
  ...mailEndpoints,
  ...keysEndpoints,
  ...anchorsEndpoints,
  ...logsEndpoints,
  ...supportEndpoints,
  ...setupEndpoints,
  ...settingsEndpoints,
];
