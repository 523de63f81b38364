import i18next from "i18next";
import de from "../../../shared/catalogue/de/console.json" with { type: "json" };
import en from "../../../shared/catalogue/en/console.json" with { type: "json" };
import type { Preferences } from "../shared/native.ts";

/** What the main process says itself, in the tray and in notifications: the page's own words. */
const instance = i18next.createInstance();
void instance.init({ fallbackLng: "en", resources: { en: { console: en }, de: { console: de } }, initAsync: false });

/** @param system language tag of the operating system, when none was chosen */
export function wordsFor({ language }: Preferences, system: string) {
  return instance.getFixedT(language ?? (/^de\b/i.test(system) ? "de" : "en"), "console");
}
export type Words = ReturnType<typeof wordsFor>;
