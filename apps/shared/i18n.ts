import i18next from "i18next";
import type access from "./catalogue/en/access.json";
import common from "./catalogue/en/common.json" with { type: "json" };
import type console from "./catalogue/en/console.json";
import type docs from "./catalogue/en/docs.json";
import type envelopes from "./catalogue/en/envelopes.json";
import type send from "./catalogue/en/send.json";
import type settings from "./catalogue/en/settings.json";
import type shell from "./catalogue/en/shell.json";
import type sign from "./catalogue/en/sign.json";
import type templates from "./catalogue/en/templates.json";
import type verify from "./catalogue/en/verify.json";
import type view from "./catalogue/en/view.json";

/** The catalogues of the pages; English is the one that every other language is checked against. */
export type Catalogues = {
  common: typeof common;
  console: typeof console;
  sign: typeof sign;
  verify: typeof verify;
  docs: typeof docs;
  view: typeof view;
  access: typeof access;
  shell: typeof shell;
  envelopes: typeof envelopes;
  send: typeof send;
  templates: typeof templates;
  settings: typeof settings;
};

declare module "i18next" {
  interface CustomTypeOptions {
    defaultNS: "common";
    resources: Catalogues;
  }
}

const rightToLeft = /^(ar|fa|he|ur|ps|yi|dv|ckb|ug)(-|$)/;

type Names = keyof Catalogues;

/** Loads the page's own catalogues beside the common one and sets language and direction of the document. */
export function startTranslations<N extends Exclude<Names, "common">>(
  pages: Pick<Catalogues, N>,
  language = "en",
  words: { common: object } & Record<N, object> = { common, ...pages },
): void {
  void i18next.init({
    lng: language,
    fallbackLng: "en",
    ns: ["common", ...Object.keys(pages)],
    defaultNS: "common",
    resources: { en: { common, ...pages }, ...(language === "en" ? {} : { [language]: words }) },
    // React escapes.
    interpolation: { escapeValue: false },
    initAsync: false,
  });
  setDirection(language);
}

/** Brings the words of one catalogue in. */
export function addCatalogue(language: string, name: Names, words: object): void {
  i18next.addResourceBundle(language, name, words);
}

/** Changes the language of the document; what is on the page must be drawn anew. */
export async function setLanguage(language: string): Promise<void> {
  await i18next.changeLanguage(language);
  setDirection(language);
}

/** Calls back after each change of the language. */
export function onLanguage(listener: () => void): () => void {
  i18next.on("languageChanged", listener);
  return () => i18next.off("languageChanged", listener);
}

function setDirection(language: string): void {
  document.documentElement.lang = language;
  document.documentElement.dir = rightToLeft.test(language) ? "rtl" : "ltr";
}

/** The translate function bound to one catalogue, with the common one behind it. */
export function translator<N extends Names>(page: N) {
  return i18next.getFixedT(null, page);
}

/** Language of the page, for Intl. */
export const pageLanguage = () => i18next.language;

/** The short name of a time zone, by default the browser's, as it is at the moment: "CET", "GMT+9". */
export function zoneName(at: Date, timeZone?: string): string {
  const parts = new Intl.DateTimeFormat(i18next.language, { timeZone, timeZoneName: "short" }).formatToParts(at);
  return parts.find(({ type }) => type === "timeZoneName")?.value ?? "";
}

/** A moment as people read it, with the name of its time zone: the browser's unless given. */
export function dateTime(ts: string, timeZone?: string): string {
  const at = new Date(ts);
  const format = new Intl.DateTimeFormat(i18next.language, { dateStyle: "long", timeStyle: "short", timeZone });
  return `${format.format(at)} ${zoneName(at, timeZone)}`;
}
