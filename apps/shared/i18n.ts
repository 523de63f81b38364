import i18next from "i18next";
import common from "./catalogue/en/common.json" with { type: "json" };
import type console from "./catalogue/en/console.json";
import type docs from "./catalogue/en/docs.json";
import type sign from "./catalogue/en/sign.json";
import type verify from "./catalogue/en/verify.json";

/** The catalogues of the pages; English is the one that every other language is checked against. */
export type Catalogues = {
  common: typeof common;
  console: typeof console;
  sign: typeof sign;
  verify: typeof verify;
  docs: typeof docs;
};

declare module "i18next" {
  interface CustomTypeOptions {
    defaultNS: "common";
    resources: Catalogues;
  }
}

const rightToLeft = /^(ar|fa|he|ur|ps|yi|dv|ckb|ug)(-|$)/;

/** Loads the page's own catalogue beside the common one and sets language and direction of the document. */
export function startTranslations<N extends Exclude<keyof Catalogues, "common">>(
  page: N,
  catalogue: Catalogues[N],
): void {
  void i18next.init({
    lng: "en",
    fallbackLng: "en",
    ns: ["common", page],
    defaultNS: "common",
    resources: { en: { common, [page]: catalogue } },
    // React escapes.
    interpolation: { escapeValue: false },
    initAsync: false,
  });
  setDirection(i18next.language);
}

function setDirection(language: string): void {
  document.documentElement.lang = language;
  document.documentElement.dir = rightToLeft.test(language) ? "rtl" : "ltr";
}

/** The translate function bound to one catalogue, with the common one behind it. */
export function translator<N extends keyof Catalogues>(page: N) {
  return i18next.getFixedT(null, page);
}

/** A moment as people read it. */
export function dateTime(ts: string): string {
  return new Intl.DateTimeFormat(i18next.language, { dateStyle: "long", timeStyle: "short" }).format(new Date(ts));
}
