const paths = { start: "/", docs: "/docs", verify: "/verify" } as const;
export type Page = keyof typeof paths;

/**
 * The allow list of what the default browser is given: three paths of the appliance's own origin.
 * @param address where the appliance says that it answers
 * @throws Error for every other scheme, and for what is no address
 */
export function pageAddress(address: string, page: Page): string {
  const { origin, protocol } = new URL(address);
  if (protocol !== "http:" && protocol !== "https:") throw new Error(`${address} is on no list of pages`);
  return new URL(paths[page], origin).href;
}
