import type { z } from "zod";
import type { createDocument, ZodOpenApiPathItemObject } from "zod-openapi";

/** The requests that the service makes (OpenAPI 3.1 §4.8.1, `webhooks`). */

export type WebhookSpec = {
  /** The value of the member `type`. */
  name: string;
  /** When it is sent. */
  summary: string;
  /** Has an id: the schema is a component of this name. */
  schema: z.ZodType;
  example: unknown;
};

const text = { type: "string" } as const;

/** The headers of every request, as parameters that stand in the components once. */
export const webhookHeaders = {
  "webhook-id": {
    description: "The event's id, the same on every attempt; use it to recognize what you have already received.",
    required: true,
    schema: text,
    example: "evt_0123456789ABCDEFGHIJKLMN",
  },
  "webhook-timestamp": {
    description: "Unix seconds at which this attempt was signed; refuse what is more than five minutes off your clock.",
    required: true,
    schema: { ...text, pattern: "^[0-9]+$" },
    example: "1795252800",
  },
  "webhook-signature": {
    description:
      "`v1,` and the base64 HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}`, under the bytes that stand " +
      "base64-encoded behind `whsec_` in the endpoint's secret. After a change of secret, two entries with a space between.",
    required: true,
    schema: text,
    example: "v1,xw4cUngyZW7yVS3vs7iNZZUjmnpi5ZrDJH86IdBFZWw=",
  },
  "user-agent": { required: true, schema: { ...text, const: "SvcWebhooks/1" } },
} as const;

const parameters = Object.keys(webhookHeaders).map((name) => ({ $ref: `#/components/parameters/${name}` }));

/**
 * Describes the bodies as answers, since zod-openapi takes what a request carries for what we read, with the rules of what we
 * accept. `sendBodies` turns them into requests.
 */
export function describeWebhooks(webhooks: readonly WebhookSpec[]): Record<string, ZodOpenApiPathItemObject> {
  const pathItem = ({ name, summary, schema, example }: WebhookSpec): ZodOpenApiPathItemObject => ({
    post: {
      operationId: `receive${name.replaceAll(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())}`,
      tags: ["Webhooks"],
      summary,
      security: [],
      parameters,
      responses: { "2XX": { description: "Received", content: { "application/json": { schema, example } } } },
    },
  });
  return Object.fromEntries(webhooks.map((webhook) => [webhook.name, pathItem(webhook)]));
}

/** Makes the body of each answer that `describeWebhooks` wrote the body of the request. */
export function sendBodies({ webhooks }: ReturnType<typeof createDocument>): void {
  for (const { post } of Object.values(webhooks ?? {})) {
    const received = post?.responses?.["2XX"];
    if (post === undefined || received === undefined || !("content" in received)) continue;
    const { content = {}, ...response } = received;
    post.requestBody = { required: true, content };
    post.responses = {
      "2XX": { ...response, description: "Received, within ten seconds. Anything else is sent again, for three days." },
    };
  }
}
