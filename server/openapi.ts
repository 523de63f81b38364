import { endpoints } from "./contract.ts";
import examples from "./examples.json" with { type: "json" };
import { webhooks } from "./features/webhooks/descriptions.ts";
import { describeApi, type OpenApiDocument } from "./kernel/openapi.ts";

/**
 * The description of the whole service, as `/openapi.json` has it.
 * @param serverUrl base URL of the service
 */
export const describeService = (serverUrl: string): OpenApiDocument =>
  describeApi(endpoints, { serverUrl, examples, webhooks });
