import { formatMessage } from "../../../../locales/message.ts";
import type { SetupState } from "../../../../server/features/appliance/setup-contract.ts";
import type { Finding, Params } from "../../../../server/features/health/contract.ts";
import type { AcmeTrouble } from "../../../../server/features/tls/acme/contract.ts";
import { dateTime, messageOf, pageLanguage } from "../../../shared/i18n.ts";
import { bytes } from "./bytes.ts";
import { quote } from "./quote.ts";

/**
 * What the appliance says by codes, in the language of the page; in its own words where the catalogues have none for the code. All
 * of it is to be shown by `Words`, for what others said is quoted in it.
 */

/** What was found, and what to do about it. */
export function findingWords({ code, params, detail, action }: Finding): { detail: string; action: string | null } {
  const filled = { ...params, ...namedTrouble(params) };
  return {
    detail: wordsOf("findings", `finding.${code}.detail`, filled, detail),
    action: action === null ? null : wordsOf("findings", `finding.${code}.action`, filled, action),
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
    message: wordsOf("findings", `acmeTrouble.${code}.message`, params, message),
    action: wordsOf("findings", `acmeTrouble.${code}.action`, params, action),
  };
}

/** A finding about ACME holds a trouble, which has words of its own. */
function namedTrouble({ trouble, message, remedy, ...params }: Params): Params {
  if (typeof trouble !== "string" || typeof message !== "string" || typeof remedy !== "string") return {};
  const said = acmeTroubleWords({ code: trouble, params, message, action: remedy });
  return { message: said.message, remedy: said.action };
}

/** A step of the setup: how it is, and what to do. */
export function setupWords({ code, params, detail, action }: SetupState["steps"][number]): {
  detail: string;
  action: string | null;
} {
  const { steps } = params;
  const named =
    typeof steps === "string"
      ? {
          steps: steps
            .split(", ")
            .map((step) => wordsOf("console", `setup.step.${step}`, {}, step))
            .join(", "),
        }
      : {};
  return {
    detail: wordsOf("findings", `setupText.${code}.detail`, { ...params, ...named }, detail),
    action: action === null ? null : wordsOf("findings", `setupText.${code}.action`, params, action),
  };
}

/**
 * @param key known at run time only
 * @param otherwise what the appliance says itself, which may be of another version than this console
 */
export function wordsOf(name: "console" | "findings", key: string, params: Params, otherwise: string): string {
  const message = messageOf(name, key);
  if (message === null) return quote(otherwise);
  const values = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, show(name, value)]));
  return formatMessage(message, values, pageLanguage());
}

/** Placeholders that are filled with what others said. */
const foreign: ReadonlySet<string> = new Set(["cause", "causes", "details", "problems", "reason", "said"]);

const moment = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

function show(name: string, value: Params[string]): string {
  const language = pageLanguage();
  if (typeof value === "number") {
    if (name.endsWith("Bytes")) return bytes(value);
    if (name.endsWith("Hours")) return age(value, language);
    return new Intl.NumberFormat(language).format(value);
  }
  if (foreign.has(name)) return quote(value);
  if (!moment.test(value)) return value;
  if (name === "day") return new Intl.DateTimeFormat(language, { dateStyle: "long" }).format(new Date(value));
  return dateTime(value);
}

function age(hours: number, language: string): string {
  const [count, unit] = hours < 48 ? [hours, "hour"] : [Math.floor(hours / 24), "day"];
  return new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay: "long" }).format(count);
}
