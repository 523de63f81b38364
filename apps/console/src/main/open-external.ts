import { shell } from "electron";

const paths = { start: "/", docs: "/docs", verify: "/verify" } as const;
export type Page = keyof typeof paths;

/**
 * Opens a page of the appliance in the default browser. The only caller of shell.openExternal: no URL comes in from outside,
 * so nothing but these three paths of this origin can ever be opened.
 * @param origin the configured appliance, checked by its schema
 * @returns the URL that was opened
 */
export async function openPage(origin: string, page: Page): Promise<string> {
  const url = new URL(paths[page], origin);
  if (!/^https?:$/.test(url.protocol) || url.origin !== origin || url.pathname !== paths[page]) {
    throw new Error(`${page} of ${origin} is not on the list of pages`);
  }
  await shell.openExternal(url.href);
  return url.href;
}
