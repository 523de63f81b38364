import { expect, test } from "vitest";
import { z } from "zod";
import { eventSchemas } from "../../../server/features/webhooks/contract.ts";
import { eventExamples } from "../../../server/features/webhooks/examples.ts";

test.each(Object.entries(eventExamples))("the example of %s is one", (type, example) => {
  const schema: z.ZodType = z.record(z.string(), z.instanceof(z.ZodObject)).parse(eventSchemas)[type] ?? z.never();
  // Nothing is left out, and nothing is added that the schema does not have.
  expect(schema.parse(example)).toEqual(example);
});
