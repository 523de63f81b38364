import { pageLanguage, zoneName } from "../../../../shared/i18n.ts";

/** A moment as the organization's people read it: in its time zone, with the zone's name. */
export function inZone(ts: string, timeZone: string | undefined): string {
  const at = new Date(ts);
  const format = new Intl.DateTimeFormat(pageLanguage(), { dateStyle: "medium", timeStyle: "short", timeZone });
  return `${format.format(at)} ${zoneName(at, timeZone)}`;
}

/** A day without a time, `2026-11-21`; anything else as it is. */
export function day(text: string): string {
  const at = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) return text;
  return new Intl.DateTimeFormat(pageLanguage(), { dateStyle: "long", timeZone: "UTC" }).format(at);
}

/** The name of a language in the page's own. */
export function languageName(tag: string): string {
  try {
    return new Intl.DisplayNames(pageLanguage(), { type: "language" }).of(tag) ?? tag;
  } catch {
    return tag;
  }
}

export const number = (value: number): string => new Intl.NumberFormat(pageLanguage()).format(value);

export const kilobytes = (bytes: number): string =>
  new Intl.NumberFormat(pageLanguage(), { style: "unit", unit: "kilobyte", maximumFractionDigits: 0 }).format(
    Math.max(1, bytes / 1000),
  );
