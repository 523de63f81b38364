import type { Feature } from "../../feature.ts";
import { authenticateSigner } from "./authenticate.ts";
import { endpoints } from "./contract.ts";
import { handlers } from "./handlers.ts";
import { signingMailOutlived } from "./outlived.ts";
import { bindings } from "./routes.ts";
import { savedSignatureEndpoints } from "./saved-signature-contract.ts";

export const feature: Feature = {
  endpoints: [...endpoints, ...savedSignatureEndpoints],
  handlers: () => bindings,
  jobs: ({ deps }) => handlers(deps),
  credentials: ({ deps }) => ({
    signer: (request) => authenticateSigner(deps, request.header("authorization"), request),
  }),
  observers: { outlived: [signingMailOutlived] },
};
