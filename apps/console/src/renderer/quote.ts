import { pageLanguage } from "../../../shared/i18n.ts";

/**
 * What others said stays as it was said: an authority, a mail server, the system, the appliance where it has no code for it. In
 * a page of another language it stands between these, which Unicode has for text of another kind (UAX #9), and is shown as a quotation.
 */
const [opens, closes] = ["\u2068", "\u2069"];

/** Marks what is English in a page of another language. */
export const quote = (text: string): string =>
  pageLanguage() === "en" || text.trim() === ""
    ? text
    : text.replace(/[\u2068\u2069]/g, "").replace(/^(\s*)([\s\S]*\S)/, `$1${opens}$2${closes}`);

/** The parts of some words. */
export function quoted(words: string): { text: string; said: boolean; at: number }[] {
  const parts = words.split(/(\u2068[^\u2068\u2069]*\u2069)/);
  return parts
    .map((part, at) => ({ text: part.replace(/[\u2068\u2069]/g, ""), said: part.startsWith(opens), at }))
    .filter(({ text }) => text !== "");
}
