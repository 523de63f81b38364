import { z } from "zod";

/** What `parseJson` and the trimming of names refuse, as patterns that ECMAScript and Python read alike. */

/** No text may hold U+0000. */
export const storable = "^[^\\u0000]*$";
/** The white space that `String.prototype.trim` takes away (ECMA-262 §22.1.3.32). */
const white = "\\t-\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff";
const notBlank = `^[${white}]*[^${white}\\u0000][^\\u0000]*$`;

type JsonSchema = { type?: unknown; pattern?: unknown; enum?: unknown; const?: unknown; minLength?: unknown };

/** Says of a text that is sent, unless it has a pattern of its own, what is refused in every text; of a trimmed one, that it is not blank. */
export function describeText(jsonSchema: JsonSchema, zodSchema: z.core.$ZodType, io: "input" | "output"): void {
  const { pattern } = jsonSchema;
  // In Python `\d` takes the digits of every script.
  if (typeof pattern === "string") jsonSchema.pattern = pattern.replaceAll("\\d", "[0-9]");
  const isFree = jsonSchema.type === "string" && jsonSchema.enum === undefined && jsonSchema.const === undefined;
  if (io === "output" || !isFree || pattern !== undefined) return;
  jsonSchema.pattern = isTrimmed(zodSchema) && jsonSchema.minLength !== undefined ? notBlank : storable;
}

/** Trimming is the only thing that our schemas overwrite a text with. */
const isTrimmed = (schema: z.core.$ZodType): boolean =>
  schema instanceof z.ZodString && (schema.def.checks ?? []).some(({ _zod }) => _zod.def.check === "overwrite");
