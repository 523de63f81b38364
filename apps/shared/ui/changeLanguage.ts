import { nameOf } from "../../../locales/translate.ts";
import { translator } from "../i18n.ts";
import { showLanguage } from "../languages.ts";
import { notify } from "./kit/notify.tsx";

/**
 * Shows the page in a language, and tells the person when its words cannot be loaded: the page stays as it is then.
 * @returns whether it could be
 */
export async function changeLanguage(language: string): Promise<boolean> {
  try {
    await showLanguage(language);
    return true;
  } catch {
    notify({ message: translator("common")("languageFailed", { language: nameOf(language) }), tone: "bad" });
    return false;
  }
}
