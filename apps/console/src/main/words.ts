import type console from "../../../../locales/en/console.json";
import { answeringLanguage, type Translate, translatorOf, type Words } from "../../../../locales/translate.ts";
import type { Preferences } from "../shared/native.ts";

/** What the main process says itself, in the tray and in notifications: the page's own words. */

const files = import.meta.glob<Words>("../../../../locales/*/console.json", { import: "default" });
const byLanguage = new Map(Object.entries(files).map(([file, load]) => [file.split("/").at(-2) ?? "", load]));

export type Say = Translate<typeof console>;

/** @param system language tag of the operating system, when none was chosen */
export async function wordsFor({ language }: Preferences, system: string): Promise<Say> {
  const answering = answeringLanguage([language ?? system], [...byLanguage.keys()]);
  return translatorOf<typeof console>((await byLanguage.get(answering)?.()) ?? {}, answering);
}
