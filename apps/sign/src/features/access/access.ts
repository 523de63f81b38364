import { exchangeSigningToken } from "../../../../../server/features/signing/contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";

/** How the page came to its access token, or why it has none. */
export type Entry =
  | { kind: "access"; token: string; link: string | null; embedOrigin: string | null }
  | { kind: "refused"; error: unknown; link: string }
  | { kind: "none" };

const accessKey = "signet.sign.access";
const originKey = "signet.sign.embed";

/**
 * Exchanges the token in the fragment for an access token and takes it out of the address bar;
 * without a fragment, takes up the access that this tab already has (a reload).
 */
export async function enter(): Promise<Entry> {
  const link = decodeURIComponent(window.location.hash.slice(1));
  if (link) {
    window.history.replaceState(null, "", window.location.pathname);
    forget();
    return exchange(link);
  }
  const token = sessionStorage.getItem(accessKey);
  return token
    ? { kind: "access", token, link: null, embedOrigin: sessionStorage.getItem(originKey) }
    : { kind: "none" };
}

/** Trades a link token for an access token that lives as long as the tab. */
export async function exchange(link: string): Promise<Entry> {
  try {
    const answer = await callEndpoint(exchangeSigningToken, { body: { token: link } });
    sessionStorage.setItem(accessKey, answer.accessToken);
    if (answer.embedOrigin) sessionStorage.setItem(originKey, answer.embedOrigin);
    return { kind: "access", token: answer.accessToken, link, embedOrigin: answer.embedOrigin };
  } catch (error) {
    return { kind: "refused", error, link };
  }
}

/** Drops what this tab holds of an earlier session. */
export function forget(): void {
  sessionStorage.removeItem(accessKey);
  sessionStorage.removeItem(originKey);
}
