import { pageLanguage, translator } from "../../../../shared/i18n.ts";
import { numberOf } from "./texts.ts";

/** What a typed number was understood as, where its signs leave a doubt; null where they do not. */
export function understood(text: string, decimal: "." | ","): string | null {
  if (!/[.,'’\s]/.test(text.trim())) return null;
  const number = numberOf(text, decimal);
  if (typeof number !== "number") return null;
  const shown = new Intl.NumberFormat(pageLanguage(), { maximumFractionDigits: 20 }).format(number);
  return translator("send")("content.understood", { number: shown });
}
