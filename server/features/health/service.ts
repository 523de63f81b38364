import { formatMessage } from "../../../locales/message.ts";
import { messageAt } from "../../../locales/translate.ts";
import { englishWords } from "../../kernel/english.ts";
import type { Finding, Params } from "./contract.ts";
import type { FindingCode, ParamsOf, TroubleCode } from "./finding-params.ts";

export type { CodesIn } from "./finding-params.ts";

/** Makes the findings of one check: `finding("memory", "machine").warning("memory.low", { availableBytes, totalBytes })`. */
export function finding(id: string, area: Finding["area"]) {
  const make = (state: Finding["state"], code: FindingCode, params: Params): Finding => {
    const said = codeInWords("finding", code, params);
    return { id, area, state, code, params, ...said };
  };
  return {
    ok: <C extends Exclude<FindingCode, TroubleCode>>(code: C, params: ParamsOf<C>) => make("ok", code, params),
    warning: <C extends TroubleCode>(code: C, params: ParamsOf<C>) => make("warning", code, params),
    wrong: <C extends TroubleCode>(code: C, params: ParamsOf<C>) => make("wrong", code, params),
  };
}

/** What to do about a code, in words that nothing is inserted in. */
export const actionFor = (code: TroubleCode): string => codeInWords("finding", code, {}).action ?? "";

/** What a code of the catalogue `findings` says in English; `action` is null for one that asks for nothing. */
export function codeInWords(group: "finding" | "setupText", code: string, params: Params) {
  const words = englishWords("findings");
  const values = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, showParam(name, value)]));
  const say = (part: "detail" | "action"): string | null => {
    const message = messageAt(words, `${group}.${code}.${part}`);
    return message === null ? null : formatMessage(message, values, "en");
  };
  return { detail: say("detail") ?? code, action: say("action") };
}

/** How a value stands in the words of the appliance and its CLI. */
function showParam(name: string, value: Params[string]): string {
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
