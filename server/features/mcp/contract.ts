import { z } from "zod";
import { endpoint } from "../../kernel/endpoint.ts";

/** The door for AI assistants that speak MCP over HTTP (contract §0: outside /v1). Isomorphic. */

/** One message of JSON-RPC 2.0; what it says is the SDK's business. */
const Message = z.looseObject({ jsonrpc: z.literal("2.0") });
export const jsonType = "application/json";
/** As the SDK writes it: a document in it may have megabytes, which are not read and written once more. */
const answer = { kind: "bytes", types: [jsonType] } as const;

/** The largest message that is taken. A PDF to be verified may be in it, in base64. */
export const mostMessageBytes = 4 * 1024 * 1024;

export const mcp = endpoint({
  method: "POST",
  path: "/mcp",
  id: "mcp",
  tag: "MCP",
  summary: "Model Context Protocol, streamable HTTP without sessions: one message a call",
  credential: "key",
  ownOrigin: true,
  body: { kind: "json", schema: Message, maxBytes: mostMessageBytes },
  responses: {
    200: { ...answer, description: "The answer to the message" },
    202: { kind: "empty", description: "A notification was taken" },
    400: { ...answer, description: "The message is not of a version of the protocol that is spoken here" },
    404: { ...answer, description: "The method is not known" },
    406: { ...answer, description: "The client takes neither JSON nor an event stream" },
  },
  errors: ["rate-limited"],
  published: false,
});

export const endpoints = [mcp];
