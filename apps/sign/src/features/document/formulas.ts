import type { SigningView } from "../../../../../server/features/signing/contract.ts";
import { computeFormulas } from "../../../../../server/features/templates/values.ts";
import { pageLanguage } from "../../../../shared/i18n.ts";
import type { Answers } from "./fields.ts";

/** The texts of formula fields, computed from the numbers of everybody's fields. */
export function computedTexts(view: SigningView, answers: Answers): Record<string, string> {
  const others = Object.fromEntries(view.fields.map((field) => [field.id, field.value]));
  const results = computeFormulas(view.fields, { ...others, ...answers.values });
  return Object.fromEntries(
    Object.entries(results).flatMap(([id, value]) => (value === null ? [] : [[id, textOf(view, id, value)]])),
  );
}

function textOf(view: SigningView, id: string, value: number): string {
  const field = view.fields.find((candidate) => candidate.id === id);
  const decimals = field?.type === "formula" ? field.decimals : undefined;
  return new Intl.NumberFormat(
    pageLanguage(),
    decimals === undefined
      ? { maximumFractionDigits: 10 }
      : { minimumFractionDigits: decimals, maximumFractionDigits: decimals },
  ).format(value);
}
