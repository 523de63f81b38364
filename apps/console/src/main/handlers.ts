import type { ApplianceStatus } from "../shared/ipc.ts";
import type { Handlers } from "./ipc.ts";
import { openPage } from "./open-external.ts";
import type { Settings } from "./settings.ts";

/** What each method does. */
export function createHandlers(settings: Settings, look: (url: string) => Promise<ApplianceStatus>): Handlers {
  return {
    status: async () => look(await settings.url()),
    "settings.url.get": async () => ({ url: await settings.url() }),
    "settings.url.set": async ({ url }) => {
      await settings.setUrl(url);
      return { url };
    },
    openInBrowser: async ({ page }) => ({ opened: await openPage(await settings.url(), page) }),
  };
}
