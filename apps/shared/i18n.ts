import type common from "../../locales/en/common.json";
import { directionOf, messageAt, type Translate, translatorOf, type Words } from "../../locales/translate.ts";

/** The words of the pages, as they are shown. `languages.ts` loads them. */

/**
 * The catalogues of the pages by name, as English has them. Each page adds its own, by `declare module`, where it begins to speak
 * from it.
 */
export interface Catalogues {
  common: typeof common;
}
export type CatalogueName = keyof Catalogues;

let language = "en";
/** By language and catalogue; they stay when the language changes. */
const loaded = new Map<string, Words>();
const listeners = new Set<() => void>();

/** Takes in the words of one catalogue. */
export function addWords(of: string, name: CatalogueName, words: Words): void {
  loaded.set(`${of}/${name}`, words);
}

/** Whether the words of a catalogue are there. */
export const hasWords = (of: string, name: CatalogueName) => loaded.has(`${of}/${name}`);

/** Sets the language of the document; what is on the page must be drawn anew. */
export function setLanguage(chosen: string): void {
  language = chosen;
  document.documentElement.lang = chosen;
  document.documentElement.dir = directionOf(chosen);
  for (const listener of listeners) listener();
}

/** Calls back after each change of the language. */
export function onLanguage(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The translate function of one catalogue, in the language that is shown when it is called. */
export function translator<N extends CatalogueName>(name: N): Translate<Catalogues[N]> {
  return (key, values) => translatorOf<Catalogues[N]>(wordsOf(name), language)(key, values);
}

/** The message at a key that only the run time knows, as it is written; null when the catalogue has none. */
export const messageOf = (name: CatalogueName, key: string): string | null => messageAt(wordsOf(name), key);

const wordsOf = (name: CatalogueName): Words => loaded.get(`${language}/${name}`) ?? {};

/** Language of the page, for Intl. */
export const pageLanguage = () => language;

/** The short name of a time zone, by default the browser's, as it is at the moment: "CET", "GMT+9". */
export function zoneName(at: Date, timeZone?: string): string {
  const parts = new Intl.DateTimeFormat(language, { timeZone, timeZoneName: "short" }).formatToParts(at);
  return parts.find(({ type }) => type === "timeZoneName")?.value ?? "";
}

/** A moment as people read it, with the name of its time zone: the browser's unless given. */
export function dateTime(ts: string, timeZone?: string): string {
  const at = new Date(ts);
  const format = new Intl.DateTimeFormat(language, { dateStyle: "long", timeStyle: "short", timeZone });
  return `${format.format(at)} ${zoneName(at, timeZone)}`;
}
