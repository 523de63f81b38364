import { exchangeSigningToken } from "../../../../../server/features/signing/contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";
import { fragment, store, stored } from "../../../../shared/storage.ts";

/** How the page came to its access token, or why it has none. */
export type Entry =
  | { kind: "access"; token: string; link: string | null; embedOrigin: string | null; locale: string | null }
  | { kind: "refused"; error: unknown; link: string }
  | { kind: "none" };

const accessKey = "signet.sign.access";
const originKey = "signet.sign.embed";
const localeKey = "signet.sign.locale";

/**
 * Exchanges the token in the fragment for an access token and takes it out of the address bar;
 * without a fragment, takes up the access that this tab already has (a reload).
 */
export async function enter(): Promise<Entry> {
  const link = fragment();
  if (link) {
    window.history.replaceState(null, "", window.location.pathname);
    forget();
    return exchange(link);
  }
  const token = stored("session", accessKey);
  if (!token) return { kind: "none" };
  const [embedOrigin, locale] = [stored("session", originKey), stored("session", localeKey)];
  return { kind: "access", token, link: null, embedOrigin, locale };
}

/** Trades a link token for an access token that lives as long as the tab. */
export async function exchange(link: string): Promise<Entry> {
  try {
    const answer = await callEndpoint(exchangeSigningToken, { body: { token: link } });
    store("session", accessKey, answer.accessToken);
    store("session", localeKey, answer.locale);
    if (answer.embedOrigin) store("session", originKey, answer.embedOrigin);
    const { accessToken: token, embedOrigin, locale } = answer;
    return { kind: "access", token, link, embedOrigin, locale };
  } catch (error) {
    return { kind: "refused", error, link };
  }
}

/** Drops what this tab holds of an earlier session. */
export function forget(): void {
  store("session", accessKey, null);
  store("session", originKey, null);
  store("session", localeKey, null);
}
