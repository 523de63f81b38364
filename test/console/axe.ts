import axe from "axe-core";
import type { Page } from "playwright";
import { expect } from "vitest";

/** Expects that axe finds nothing on the page as it stands. */
export async function axeFinds(page: Page, where: string): Promise<void> {
  // Evaluated through the debugger, which the page's own policy does not concern.
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(axe.source);
  const found = await page.evaluate(
    "axe.run().then((run) => run.violations.map((one) => one.id + ' ' + one.nodes.map((node) => node.html).join(' ')))",
  );
  expect(found, where).toEqual([]);
}
