import { endpoints as appliance } from "./features/appliance/contract.ts";
import { endpoints as backup } from "./features/backup/contract.ts";
import { anchorsEndpoints } from "./features/evidence/anchors/managed-contract.ts";
import { endpoints as health } from "./features/health/contract.ts";
import { keysEndpoints } from "./features/keys/managed-contract.ts";
import { mailEndpoints } from "./features/mail/queue-contract.ts";
import { endpoints as operators } from "./features/operators/contract.ts";
import { organizationsEndpoints } from "./features/organization/managed-contract.ts";
import { accessEndpoints } from "./features/sign-in/access-contract.ts";
import { endpoints as tls } from "./features/tls/contract.ts";
import { endpoints as update } from "./features/update/contract.ts";
import type { EndpointSpec } from "./kernel/endpoint.ts";

/**
 * What administrators of the machine may do, on the admin socket only: never on TCP, never in the published document. The one
 * list from which its routes, the console's methods and the tests are made.
 */
export const localEndpoints: readonly EndpointSpec[] = [
  ...appliance,
  ...health,
  ...organizationsEndpoints,
  ...accessEndpoints,
  ...mailEndpoints,
  ...keysEndpoints,
  ...anchorsEndpoints,
  ...operators,
  ...tls,
  ...backup,
  ...update,
];
