/** Tokens of mailed links travel in the fragment, which never reaches a server. */

const given = /^#(svc[a-z]_[0-9A-Za-z_-]{10,200})$/.exec(window.location.hash)?.[1] ?? null;

/** Takes the token out of the address bar at once: it shall not stay in the history or be copied along. Call before the router starts. */
export function hideToken(): void {
  if (given !== null) history.replaceState(history.state, "", window.location.pathname + window.location.search);
  // A second link opened in the same tab changes only the fragment.
  window.addEventListener("hashchange", () => {
    if (window.location.hash.startsWith("#svc")) window.location.reload();
  });
}

/** The token that the page was opened with, when it is of this kind. */
export function tokenOf(prefix: `svc${string}_`): string | null {
  return given?.startsWith(prefix) ? given : null;
}
