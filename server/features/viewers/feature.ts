import type { Feature } from "../../feature.ts";
import { authenticateViewer, bearerOf } from "./authenticate.ts";
import { endpoints } from "./contract.ts";
import { handlers } from "./handlers.ts";
import { informViewers } from "./observers.ts";
import { viewerMailOutlived } from "./outlived.ts";
import { bindings } from "./routes.ts";

export const feature: Feature = {
  endpoints,
  handlers: () => bindings,
  jobs: ({ deps }) => handlers(deps),
  credentials: ({ deps }) => ({
    viewer: (request, query) =>
      authenticateViewer(deps, bearerOf(request.header("authorization")) ?? query.get("access_token")),
  }),
  observers: { audit: [informViewers], outlived: [viewerMailOutlived] },
};
