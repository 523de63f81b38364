import { readersLanguage } from "../kernel/readers-language.ts";
import { page, type Setting } from "./plain.ts";

/** What people see while an update is under way; the address, with what stands behind its #, stays. */

/** Seconds until the page asks again by itself. */
export const askAgainSeconds = 15;

const words = {
  en: {
    title: "Back in a moment",
    text: "This service is being updated, which takes a minute or two. Nothing is lost: links stay valid, and what was signed is safe.",
    wait: "This page goes on by itself. You need not do anything.",
    again: "Try now",
  },
  de: {
    title: "Gleich geht es weiter",
    text: "Dieser Dienst wird gerade aktualisiert. Das dauert ein bis zwei Minuten. Nichts geht verloren: Links bleiben gültig, und was unterschrieben wurde, ist sicher.",
    wait: "Diese Seite lädt von selbst neu. Sie müssen nichts tun.",
    again: "Jetzt versuchen",
  },
} as const;
export function maintenancePage(setting: Setting, acceptLanguage: string): string {
  const language = readersLanguage(acceptLanguage);
  const { title, text, wait, again } = words[language];
  // An empty address is this page's own, with all that stands in it.
  return page(
    `${title} · Signet`,
    { ...setting, language, refreshSeconds: askAgainSeconds },
    `<h1>${title}</h1><p>${text}</p><p class="soft">${wait} <a href="">${again}</a></p>`,
  );
}
