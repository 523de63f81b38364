import { type Finding, fillBlanks, type Params } from "./contract.ts";
import { type FindingCode, findingTexts, type ParamsOf, type TroubleCode } from "./finding-texts.ts";

export { findingTexts } from "./finding-texts.ts";

/** Makes the findings of one check: `finding("memory", "machine").warning("memory.low", { availableBytes, totalBytes })`. */
export function finding(id: string, area: Finding["area"]) {
  const make = (state: Finding["state"], code: FindingCode, params: Params): Finding => {
    const text: { detail: string; action?: string } = findingTexts[code];
    const action = text.action === undefined ? null : fillBlanks(text.action, params, showParam);
    return { id, area, state, code, params, detail: fillBlanks(text.detail, params, showParam), action };
  };
  return {
    ok: <C extends Exclude<FindingCode, TroubleCode>>(code: C, params: ParamsOf<C>) => make("ok", code, params),
    warning: <C extends TroubleCode>(code: C, params: ParamsOf<C>) => make("warning", code, params),
    wrong: <C extends TroubleCode>(code: C, params: ParamsOf<C>) => make("wrong", code, params),
  };
}

/** How a value stands in the words of the appliance and its CLI. */
export function showParam(name: string, value: Params[string]): string {
  if (typeof value === "number" && name.endsWith("Bytes")) return gigabytes(value);
  if (typeof value === "number" && name.endsWith("Hours"))
    return value < 48 ? `${value} h` : `${Math.floor(value / 24)} days`;
  return name === "day" ? String(value).slice(0, 10) : String(value);
}

export function countStates(findings: readonly Finding[]): { ok: number; warning: number; wrong: number } {
  const counts = { ok: 0, warning: 0, wrong: 0 };
  for (const { state } of findings) counts[state] += 1;
  return counts;
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const gigabytes = (bytes: number): string => `${(bytes / 1024 ** 3).toFixed(1)} GiB`;
