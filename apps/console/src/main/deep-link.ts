import { PageName } from "../shared/native.ts";

export const linkScheme = "signet-console";

/** The page that a link `signet-console://page/<name>` asks for; null for whatever else stands there. */
export function pageOfLink(text: string): string | null {
  const url = URL.parse(text);
  const bare = url && url.protocol === `${linkScheme}:` && url.host === "page" && !url.search && !url.hash;
  if (!url || !bare || url.username || url.password) return null;
  const name = PageName.safeParse(/^\/([^/]+)\/?$/.exec(url.pathname)?.[1]);
  return name.success ? name.data : null;
}

/** The page that one of a start's arguments asks for. */
export function pageOfArguments(given: readonly string[]): string | null {
  for (const text of given) {
    const page = pageOfLink(text);
    if (page !== null) return page;
  }
  return null;
}
