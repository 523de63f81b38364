import type { Variable } from "../../../../../server/features/templates/contract.ts";
import { formatVariable } from "../../../../../server/features/templates/format.ts";
import { variableFormatErrors } from "../../../../../server/features/templates/publish-checks.ts";

/** How numbers and dates are written in texts. Pure. */

export const numberFormats = [
  "decimal:0",
  "decimal:2",
  "currency:EUR:2",
  "currency:USD:2",
  "currency:GBP:2",
  "currency:CHF:2",
  "percent:1",
];
export const variableDateFormats = ["long", "short", "iso", "DD.MM.YYYY", "MM/DD/YYYY", "DD/MM/YYYY"];

/** An example as it would stand in a text. */
export function sampleIn(type: Variable["type"], format: string | null, locale: string): string {
  const value = type === "number" ? (format?.startsWith("percent") ? 0.195 : 1234.5) : "2026-03-09";
  return formatVariable({ type, format }, value, locale);
}

/** What is wrong with a format for this variable, in sentences. */
export const formatErrors = (variable: Variable, format: string): string[] =>
  format === "" ? [] : variableFormatErrors({ ...variable, format });
