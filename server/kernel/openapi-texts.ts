import { emailPattern, momentPattern, textPatterns } from "./text-patterns.ts";

type JsonSchema = { type?: unknown; pattern?: unknown; enum?: unknown; const?: unknown };
const rules = new Set<unknown>([...Object.values(textPatterns), emailPattern, momentPattern]);

/**
 * Gives a text that is sent, unless it has a rule of its own, the one that all have. What was stored before a rule was made is
 * still answered, so that answers have none; their formats say enough.
 */
export function describeText(jsonSchema: JsonSchema, io: "input" | "output"): void {
  const { type, pattern } = jsonSchema;
  if (io === "output" && rules.has(pattern)) delete jsonSchema.pattern;
  // In Python `\d` takes the digits of every script.
  else if (typeof pattern === "string") jsonSchema.pattern = pattern.replaceAll("\\d", "[0-9]");
  const isFree =
    type === "string" && pattern === undefined && jsonSchema.enum === undefined && jsonSchema.const === undefined;
  if (io === "input" && isFree) jsonSchema.pattern = textPatterns.lines;
}
