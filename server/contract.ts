import { endpoints as envelopes } from "./features/envelopes/contract.ts";
import { endpoints as evidence } from "./features/evidence/contract.ts";
import { endpoints as identity } from "./features/identity/contract.ts";
import { endpoints as keys } from "./features/keys/contract.ts";
import { endpoints as mcp } from "./features/mcp/contract.ts";
import { endpoints as organization } from "./features/organization/contract.ts";
import { endpoints as retention } from "./features/retention/contract.ts";
import { endpoints as signIn } from "./features/sign-in/contract.ts";
import { endpoints as signing } from "./features/signing/contract.ts";
import { savedSignatureEndpoints } from "./features/signing/saved-signature-contract.ts";
import { endpoints as templates } from "./features/templates/contract.ts";
import { endpoints as viewers } from "./features/viewers/contract.ts";
import { endpoints as webhooks } from "./features/webhooks/contract.ts";
import type { EndpointSpec } from "./kernel/endpoint.ts";

/** Every operation of the service: the one list from which routes, OpenAPI, clients and tests are made. */
export const endpoints: readonly EndpointSpec[] = [
  ...templates,
  ...envelopes,
  ...signing,
  ...savedSignatureEndpoints,
  ...viewers,
  ...webhooks,
  ...organization,
  ...retention,
  ...evidence,
  ...keys,
  ...identity,
  ...signIn,
  ...mcp,
];
