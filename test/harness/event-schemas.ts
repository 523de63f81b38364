import { Ajv2020 } from "ajv/dist/2020.js";
import { z } from "zod";

/** Events judged by the schemas of the OpenAPI document, with a validator that shares no code with the product. */

const Media = z.looseObject({ schema: z.object({ $ref: z.string() }), example: z.unknown() });
const Document = z.looseObject({
  webhooks: z.record(
    z.string(),
    z.object({
      post: z.looseObject({
        operationId: z.string(),
        parameters: z.array(z.object({ $ref: z.string() })),
        requestBody: z.object({ required: z.literal(true), content: z.object({ "application/json": Media }) }),
        responses: z.record(z.string(), z.looseObject({ description: z.string() })),
      }),
    }),
  ),
});

/** @param served the document, as `/openapi.json` has it */
export function readWebhooks(served: unknown) {
  const document = Document.parse(served);
  // The document is no schema: its other members are unknown to JSON Schema, and formats are left to the product's own tests.
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(document, "https://document.example/");
  return {
    webhooks: document.webhooks,
    /** @returns what the schema of this type does not allow of a body */
    complaints(type: string, body: unknown): string[] {
      const { post } = document.webhooks[type] ?? {};
      if (post === undefined) return [`there is no webhook ${type}`];
      const { $ref } = post.requestBody.content["application/json"].schema;
      const validate = ajv.compile({ $ref: `https://document.example/${$ref}` });
      if (validate(body)) return [];
      return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
    },
  };
}
