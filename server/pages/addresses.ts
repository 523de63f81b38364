/** Which of the web apps answers at which address; the page itself finds out what is there, and whether somebody is signed in. */

const access = /^\/(sign-in|sign-up|first-owner|invite|magic|password\/(forgot|reset))\/?$/;
const workspace = /^\/((send|bulk)|(envelopes|templates|settings|settings\/webhooks)(\/[0-9A-Za-z_-]{1,64})?)\/?$/;
const others = /^\/(sign|verify|view|docs)\/?$/;
const signing = /^\/sign\/(ses_[0-9A-Za-z]{1,64})$/;

/**
 * The app at a path without its query; null when there is none.
 * @returns `session` is the signing session that a page was minted for
 */
export function appAt(path: string): { app: string; session: string | null } | null {
  if (path === "/" || access.test(path) || workspace.test(path)) return { app: "dashboard", session: null };
  const app = others.exec(path)?.[1];
  if (app !== undefined) return { app, session: null };
  const session = signing.exec(path)?.[1];
  return session === undefined ? null : { app: "sign", session };
}
