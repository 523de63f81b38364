import { z } from "zod";
import { recordOf } from "../../kernel/record.ts";

/** Variables of a template (contract §2). Isomorphic. */

export const variableName = /^[A-Za-z_][A-Za-z0-9_.]{0,63}$/;
const VariableName = z.string().regex(variableName, "Use 1 to 64 of A-Z a-z 0-9 _ . and start with a letter or _");

export const VariableRow = recordOf(z.string().max(64), z.union([z.string().max(20_000), z.number()]));
export const VariableValue = z
  .union([z.string().max(20_000), z.number(), z.boolean(), z.array(VariableRow).max(1000)])
  .meta({ id: "VariableValue" });
export type VariableValue = z.infer<typeof VariableValue>;

const Column = z.strictObject({ name: VariableName, type: z.enum(["text", "number", "date"]) });

export const Variable = z
  .strictObject({
    name: VariableName.meta({ description: "Used as {{name}}" }),
    type: z.enum(["text", "number", "date", "boolean", "list"]).default("text"),
    columns: z.array(Column).min(1).max(50).optional().meta({ description: "Of a list only" }),
    label: z.string().max(200).nullable().default(null),
    required: z.boolean().default(true),
    default: VariableValue.nullable().default(null),
    format: z.string().min(1).max(64).nullable().default(null).meta({
      description: "Number: `decimal:2`, `currency:EUR:2` or `percent:1`. Date: `long`, `medium`, `short` or `iso`",
    }),
  })
  .meta({ id: "Variable" });
export type Variable = z.infer<typeof Variable>;
