import type { OverlayItem } from "../../../../../../server/features/templates/contract.ts";
import {
  evaluateFormula,
  FormulaError,
  fieldsOfFormula,
  parseFormula,
  roundHalfUp,
} from "../../../../../../server/features/templates/formula.ts";

/** What is to be said of a formula while it is written. Pure. */
export type FormulaCheck =
  /** `at`: characters before the mistake. */
  | { kind: "syntax"; message: string; at: number }
  | { kind: "unknown"; ids: string[] }
  | { kind: "result"; value: number | null; samples: { id: string; value: number }[] };

/** Ids are looked for among all fields, as publishing does. */
export function checkFormula(
  expression: string,
  decimals: number | undefined,
  items: readonly OverlayItem[],
): FormulaCheck {
  const known = new Set(items.map(({ id }) => id));
  const numbers = new Map(
    items.flatMap((item) => (item.type === "number" ? [[item.id, sampleOf(item)] as const] : [])),
  );
  try {
    const formula = parseFormula(expression, (id) => known.has(id));
    const ids = fieldsOfFormula(formula);
    const unknown = ids.filter((id) => !numbers.has(id));
    if (unknown.length > 0) return { kind: "unknown", ids: unknown };
    const value = evaluateFormula(formula, (id) => numbers.get(id) ?? null);
    return {
      kind: "result",
      value: value === null || decimals === undefined ? value : roundHalfUp(value, decimals),
      samples: ids.map((id) => ({ id, value: numbers.get(id) ?? 0 })),
    };
  } catch (error) {
    if (!(error instanceof FormulaError)) throw error;
    return { kind: "syntax", message: error.message, at: error.at };
  }
}

/** A number that may stand in the field: its default, else 10 or what is next to it between its bounds. */
function sampleOf({ default: usual, min, max }: Extract<OverlayItem, { type: "number" }>): number {
  return usual ?? Math.min(Math.max(10, min ?? 10), max ?? Number.POSITIVE_INFINITY);
}
