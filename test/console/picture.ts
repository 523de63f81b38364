import { mkdirSync } from "node:fs";
import path from "node:path";
import type { Page } from "playwright";

/** Pictures are taken anew on demand only: SIGNET_TEST_SCREENS=1. */
export async function picture(page: Page, name: string): Promise<void> {
  if (process.env.SIGNET_TEST_SCREENS !== "1") return;
  const folder = path.resolve(import.meta.dirname, "../../docs/screens");
  mkdirSync(folder, { recursive: true });
  // Not in the middle of a movement, as of a button whose work has just ended.
  await page.waitForFunction(() => document.querySelector("[data-loading=true]") === null);
  await page.waitForFunction(() =>
    document.getAnimations().every(({ playState, effect }) => {
      const endless = effect?.getComputedTiming().endTime === Number.POSITIVE_INFINITY;
      return endless || playState !== "running";
    }),
  );
  await page.screenshot({ path: path.join(folder, `console-${name}.png`) });
}
