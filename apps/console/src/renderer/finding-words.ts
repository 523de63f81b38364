import i18next from "i18next";
import { type Finding, fillBlanks, type Params } from "../../../../server/features/appliance/checks-contract.ts";
import type { AcmeTrouble } from "../../../../server/features/tls/acme-contract.ts";
import { dateTime, pageLanguage } from "../../../shared/i18n.ts";
import { bytes } from "./bytes.ts";

/** What the appliance found, in the language of the page; in its own words where the catalogue has none for the code. */

/** What was found, and what to do about it. */
export function findingWords({ code, params, detail, action }: Finding): { detail: string; action: string | null } {
  const filled = { ...params, ...namedTrouble(params) };
  return {
    detail: say(`finding.${code}.detail`, filled) ?? detail,
    action: action === null ? null : (say(`finding.${code}.action`, filled) ?? action),
  };
}

/** What went wrong with a certificate authority, and what to do about it. */
export function acmeTroubleWords({
  code,
  params,
  message,
  action,
}: Pick<AcmeTrouble, "code" | "params" | "message" | "action">): { message: string; action: string } {
  return {
    message: say(`acmeTrouble.${code}.message`, params) ?? message,
    action: say(`acmeTrouble.${code}.action`, params) ?? action,
  };
}

/** A finding about ACME holds a trouble, which has words of its own. */
function namedTrouble({ trouble, message, remedy, ...params }: Params): Params {
  if (typeof trouble !== "string" || typeof message !== "string" || typeof remedy !== "string") return {};
  const said = acmeTroubleWords({ code: trouble, params, message, action: remedy });
  return { message: said.message, remedy: said.action };
}

function say(key: string, params: Params): string | null {
  // The keys are the appliance's, which may be of another version than this console.
  const words: unknown = i18next.getResource(pageLanguage(), "console", key);
  return typeof words === "string" ? fillBlanks(words, params, show) : null;
}

const moment = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

function show(name: string, value: Params[string]): string {
  const language = pageLanguage();
  if (typeof value === "number") {
    if (name.endsWith("Bytes")) return bytes(value);
    if (name.endsWith("Hours")) return age(value, language);
    return new Intl.NumberFormat(language).format(value);
  }
  if (!moment.test(value)) return value;
  if (name === "day") return new Intl.DateTimeFormat(language, { dateStyle: "long" }).format(new Date(value));
  return dateTime(value);
}

function age(hours: number, language: string): string {
  const [count, unit] = hours < 48 ? [hours, "hour"] : [Math.floor(hours / 24), "day"];
  return new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay: "long" }).format(count);
}
