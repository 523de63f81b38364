import { shell } from "electron";
import { type Page, pageAddress } from "./page-address.ts";

/**
 * Opens a page of the appliance in the default browser. The only caller of shell.openExternal: no URL comes in from the page,
 * and `pageAddress` makes the only ones that are ever opened.
 * @param address where the appliance says that it answers
 * @returns the URL that was opened
 */
export async function openPage(address: string, page: Page): Promise<string> {
  const url = pageAddress(address, page);
  await shell.openExternal(url);
  return url;
}
