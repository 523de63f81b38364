import {
  exchangeViewerToken,
  getViewerEnvelope,
  type ViewerEnvelope,
} from "../../../../server/features/viewers/contract.ts";
import { callEndpoint, ProblemResponse } from "../../../shared/api/client.ts";
import { store, stored, tokenInFragment } from "../../../shared/storage.ts";

export type Access = { kind: "access"; token: string; link: string | null; status: ViewerEnvelope };
/** How the page came to its access token, or why it has none. */
export type Entry = Access | { kind: "refused"; error: unknown } | { kind: "none" };

const key = "signet.view.access";

/** The token of a link to follow with; any other fragment names a place in the page. */
export const linkInFragment = () => tokenInFragment("svcv");

/**
 * Exchanges the token in the fragment for an access token and takes it out of the address bar; without a fragment, takes up
 * the access that this tab already has (a reload).
 */
export async function enter(): Promise<Entry> {
  const link = linkInFragment();
  if (link !== null) {
    window.history.replaceState(null, "", window.location.pathname);
    store("session", key, null);
  }
  try {
    const token = link === null ? stored("session", key) : await exchange(link);
    if (token === null) return { kind: "none" };
    return { kind: "access", token, link, status: await callEndpoint(getViewerEnvelope, { token }) };
  } catch (error) {
    return { kind: "refused", error };
  }
}

/** @returns the access token, which this tab keeps */
export async function exchange(link: string): Promise<string> {
  const { accessToken } = await callEndpoint(exchangeViewerToken, { body: { token: link } });
  store("session", key, accessToken);
  return accessToken;
}

/** Whether the service refused the token, rather than not having answered. */
export function isRefused(error: unknown): boolean {
  return error instanceof ProblemResponse && [401, 410].includes(error.problem.status);
}
