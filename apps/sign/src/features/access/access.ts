import { exchangeSigningToken, getSigningSession } from "../../../../../server/features/signing/contract.ts";
import { callEndpoint, ProblemResponse } from "../../../../shared/api/client.ts";
import { store, stored, tokenInFragment } from "../../../../shared/storage.ts";
import { findKept, forgetKept, forgetOld, keep, Passed, Place, placeOf } from "./kept.ts";
import { answerTabs, askTabs } from "./tabs.ts";

/** How the page came to its access token, or why it has none. */
export type Entry =
  | { kind: "access"; token: string; link: string | null; embedOrigin: string | null; locale: string | null }
  /** The signing was passed on from this browser. */
  | { kind: "passed"; passed: Passed; locale: string | null }
  | { kind: "refused"; error: unknown; link: string }
  | { kind: "none" };

const accessKey = "signet.sign.access";
const originKey = "signet.sign.embed";
const localeKey = "signet.sign.locale";
const placeKey = "signet.sign.place";
const passedKey = "signet.sign.passed";

const hourMs = 3_600_000;
/** An access token ends twelve hours after the exchange, whatever happens. */
const accessMs = 12 * hourMs;
const linkMs = 30 * 24 * hourMs;

/** The token of a link to sign with; any other fragment is an address within the page and none of our business. */
const linkInFragment = () => tokenInFragment("svcs");

/**
 * Takes the link out of the address bar and opens the session that this browser has for it, or exchanges it for a new one.
 * Without a link it takes up the access that this tab already has (a reload), or one that a tab of the same address shares.
 */
export async function enter(): Promise<Entry> {
  forgetOld();
  const link = linkInFragment();
  const entry = link === null ? await resume() : await open(link);
  answerTabs(() => {
    const access = stored("session", accessKey);
    if (access === null || stored("session", originKey) !== null || window.parent !== window) return null;
    return { access, locale: stored("session", localeKey) };
  });
  window.addEventListener("hashchange", () => void followFragment());
  return entry;
}

async function open(link: string): Promise<Entry> {
  hideLink();
  const place = await placeOf(link);
  // The same link once more in this tab; a minted one opens but once.
  if (place !== null && place.id === placeOfTab()?.id) {
    const here = inTab(link);
    if (here !== null && (await isGood(here))) return here;
  }
  forgetTab();
  const kept = place && isShared() ? await findKept(place) : null;
  if (place && kept?.passed) {
    rememberTab({ place, locale: kept.locale, passed: kept.passed });
    return { kind: "passed", passed: kept.passed, locale: kept.locale };
  }
  if (place && kept?.access) {
    const known: Entry = { kind: "access", token: kept.access, link, embedOrigin: null, locale: kept.locale };
    if (await isGood(known)) {
      rememberTab({ access: kept.access, place, locale: kept.locale });
      return known;
    }
    await forgetKept(place, kept.access);
  }
  return await exchange(link, place);
}

/** Trades a link for an access token: this tab keeps it, and the browser for whoever comes with the same link. */
async function exchange(link: string, place: Place | null): Promise<Entry> {
  try {
    const answer = await callEndpoint(exchangeSigningToken, { body: { token: link } });
    const { accessToken: token, embedOrigin, locale } = answer;
    rememberTab({ access: token, embedOrigin, locale, place });
    if (place && isShared()) await keep(place, { access: token, locale, passed: null }, accessMs);
    return { kind: "access", token, link, embedOrigin, locale };
  } catch (error) {
    return { kind: "refused", error, link };
  }
}

async function resume(): Promise<Entry> {
  const here = inTab(null);
  if (here !== null) return here;
  const shared = isShared() ? await askTabs() : null;
  if (shared === null) return { kind: "none" };
  rememberTab(shared);
  return { kind: "access", token: shared.access, link: null, embedOrigin: null, locale: shared.locale };
}

function inTab(link: string | null): Exclude<Entry, { kind: "refused" | "none" }> | null {
  const [token, embedOrigin, locale] = [accessKey, originKey, localeKey].map((key) => stored("session", key));
  const passed = stored("session", passedKey);
  if (passed !== null) return { kind: "passed", passed: Passed.parse(JSON.parse(passed)), locale: locale ?? null };
  return token ? { kind: "access", token, link, embedOrigin: embedOrigin ?? null, locale: locale ?? null } : null;
}

/** Whether the service still takes it; also when it did not answer, which the page then says. */
async function isGood(entry: Exclude<Entry, { kind: "refused" | "none" }>): Promise<boolean> {
  if (entry.kind === "passed") return true;
  try {
    await callEndpoint(getSigningSession, { token: entry.token });
    return true;
  } catch (error) {
    return !(error instanceof ProblemResponse && error.problem.status === 401);
  }
}

/** A second link in the same tab opens its own document; the one that is open here goes on, with all that was filled in. */
async function followFragment(): Promise<void> {
  const link = linkInFragment();
  if (link === null) return;
  const place = await placeOf(link);
  if (place !== null && place.id === placeOfTab()?.id && inTab(link) !== null) hideLink();
  else window.location.reload();
}

/** Links from mails alone: a minted session has one exchange, and an embedded one belongs to the page around it. */
function isShared(): boolean {
  return !/^\/sign\/./.test(window.location.pathname) && window.parent === window;
}

/** It shall not stay in the history or be copied along. */
function hideLink(): void {
  window.history.replaceState(window.history.state, "", window.location.pathname + window.location.search);
}

type OfTab = {
  access?: string | null;
  embedOrigin?: string | null;
  locale: string | null;
  place?: Place | null;
  passed?: Passed | null;
};

function rememberTab({ access = null, embedOrigin = null, locale, place = null, passed = null }: OfTab): void {
  store("session", accessKey, access);
  store("session", originKey, embedOrigin);
  store("session", localeKey, locale);
  store("session", placeKey, place && JSON.stringify(place));
  store("session", passedKey, passed && JSON.stringify(passed));
}

function placeOfTab(): Place | null {
  const text = stored("session", placeKey);
  return text === null ? null : (Place.safeParse(JSON.parse(text)).data ?? null);
}

function forgetTab(): void {
  rememberTab({ locale: null });
}

/**
 * Drops this tab's session, which the service does not take any more: the same link is then exchanged again. What another tab
 * has opened with the link since stays.
 */
export async function forget(): Promise<void> {
  const place = placeOfTab();
  const access = stored("session", accessKey);
  forgetTab();
  if (place && access !== null) await forgetKept(place, access);
}

/** The session ended with this; whoever comes back to it in this browser is told whom it was passed on to. */
export async function rememberPassed(passed: Passed): Promise<void> {
  const place = placeOfTab();
  const locale = stored("session", localeKey);
  rememberTab({ place, locale, passed });
  if (place && isShared()) await keep(place, { access: null, locale, passed }, linkMs);
}
