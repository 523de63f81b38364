import { ownMember } from "../../kernel/record.ts";
import type { Variable, VariableValue } from "./variables.ts";

/** How figures and dates are written in a language. Isomorphic. */

const namedDates = { long: "long", medium: "medium", short: "short" } as const;
const dateTokens = /YYYY|YY|MMMM|MMM|MM|M|DD|D|[^YMD]+/g;

/** Whether `format` is `long`, `medium`, `short`, `iso` or a pattern of YYYY YY MMMM MMM MM M DD D and signs between. */
export function isDateFormat(format: string): boolean {
  if (format in namedDates || format === "iso") return true;
  if (!/[YMD]/.test(format) || /[a-zA-Z]/.test(format.replace(/[YMD]/g, ""))) return false;
  return (format.match(dateTokens) ?? []).join("") === format;
}

/** @param day YYYY-MM-DD */
export function formatDay(day: string, format: string | null | undefined, locale: string): string {
  const style = format ?? "medium";
  if (style === "iso") return day;
  const date = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(date.getTime())) return day;
  const written = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(locale, { ...options, timeZone: "UTC" }).format(date);
  if (isNamed(style)) return written({ dateStyle: namedDates[style] });
  const [year = "", month = "", dayOfMonth = ""] = day.split("-");
  const parts: Record<string, () => string> = {
    YYYY: () => year,
    YY: () => year.slice(-2),
    MMMM: () => written({ month: "long" }),
    MMM: () => written({ month: "short" }),
    MM: () => month,
    M: () => String(Number(month)),
    DD: () => dayOfMonth,
    D: () => String(Number(dayOfMonth)),
  };
  return style.replace(dateTokens, (token) => parts[token]?.() ?? token);
}

function isNamed(style: string): style is keyof typeof namedDates {
  return Object.hasOwn(namedDates, style);
}

/** The day of a moment where the person is; UTC when the time zone is not known. */
export function dayOf(at: string, timeZone: string | null): string {
  const options = { year: "numeric", month: "2-digit", day: "2-digit" } as const;
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat("en", { ...options, timeZone: timeZone ?? "UTC" });
  } catch {
    format = new Intl.DateTimeFormat("en", { ...options, timeZone: "UTC" });
  }
  const parts = Object.fromEntries(format.formatToParts(new Date(at)).map(({ type, value }) => [type, value]));
  return `${parts.year}-${parts.month}-${parts.day}`;
}

/** `decimal[:digits]`, `percent[:digits]`, `currency:EUR[:digits]` as options of Intl; null when it is none of them. */
export function numberFormat(format: string): Intl.NumberFormatOptions | null {
  const found = /^(?:(decimal|percent)|currency:([A-Z]{3}))(?::(\d|10))?$/.exec(format);
  if (found === null) return null;
  const [, style, currency, digits] = found;
  const fraction =
    digits === undefined ? {} : { minimumFractionDigits: Number(digits), maximumFractionDigits: Number(digits) };
  if (currency !== undefined) return { style: "currency", currency, ...fraction };
  return style === "percent" ? { style: "percent", ...fraction } : { style: "decimal", ...fraction };
}

/** @param decimals exactly this many when given */
export function formatNumber(value: number, decimals: number | undefined, locale: string): string {
  const digits =
    decimals === undefined
      ? { maximumFractionDigits: 10 }
      : { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  // Years and numbers of four digits stay as they were typed.
  return new Intl.NumberFormat(locale, { ...digits, useGrouping: "min2" }).format(value);
}

/** A variable's value as it stands in a text. */
export function formatVariable(
  variable: Pick<Variable, "type" | "format" | "columns">,
  value: VariableValue,
  locale: string,
): string {
  if (Array.isArray(value)) {
    // A text is no table: one row a line, the columns in their order.
    const columns = variable.columns ?? [];
    return value
      .map((row) => columns.map(({ name, type }) => formatCell(ownMember(row, name) ?? "", type, locale)).join("  "))
      .join("\n");
  }
  if (typeof value === "boolean") return value ? "Yes" : "No";
  if (typeof value === "number") {
    const options = variable.format === null ? null : numberFormat(variable.format);
    return options === null
      ? formatNumber(value, undefined, locale)
      : new Intl.NumberFormat(locale, options).format(value);
  }
  return variable.type === "date" ? formatDay(value, variable.format, locale) : value;
}

function formatCell(value: string | number, type: "text" | "number" | "date", locale: string): string {
  if (typeof value === "number") return formatNumber(value, undefined, locale);
  return type === "date" ? formatDay(value, null, locale) : value;
}

const marks = /\{\{\s*([A-Za-z_][A-Za-z0-9_.]{0,63})\s*\}\}/g;

/** Names of the variables in a text, each once, in their order. */
export function variablesIn(text: string): string[] {
  return [...new Set(Array.from(text.matchAll(marks), (found) => found[1] ?? ""))];
}

/**
 * A text with its variables replaced. What the values hold is never read as a mark again.
 * @param unfilled what stands for a variable without a value: its label in brackets, its mark as it is, or nothing
 */
export function fillText(
  text: string,
  variables: readonly Variable[],
  values: Readonly<Record<string, VariableValue>>,
  locale: string,
  unfilled: "label" | "mark" | "nothing" = "nothing",
): string {
  return text.replace(marks, (mark, name: string) => {
    const variable = variables.find((candidate) => candidate.name === name);
    if (variable === undefined) return mark;
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value !== undefined) return formatVariable(variable, value, locale);
    if (unfilled === "mark") return mark;
    return unfilled === "label" && variable.required ? `[${variable.label ?? name}]` : "";
  });
}
