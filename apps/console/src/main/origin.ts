/** Where the console's own page lives. */
export const scheme = "app";
export const host = "console";
export const startUrl = `${scheme}://${host}/index.html`;

/** Whether a URL belongs to the console's own page. URL.origin is "null" for schemes of one's own, so the parts are compared. */
export function isOwnPage(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.protocol === `${scheme}:` && url.host === host && !url.username && !url.password;
}
