import type { Browser } from "playwright";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildApps } from "../../scripts/build-apps.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { desktop, launch, visit } from "../harness/page.ts";

/** Light and dark: what the system says, unless the person chose. */

let app: TestAppliance;
let browser: Browser;

beforeAll(async () => {
  await buildApps();
  app = await startAppliance();
  browser = await launch();
});

afterAll(async () => {
  await browser?.close();
  await app?.stop();
});

const paper = { light: "rgb(244, 243, 239)", dark: "rgb(18, 23, 22)" };
const ink = { light: "rgb(27, 36, 35)", dark: "rgb(232, 237, 235)" };
const shadow = { light: "rgba(20, 30, 28, 0.08)", dark: "rgba(0, 0, 0, 0.4)" };
const systems = ["light", "dark"] as const;

test.each(systems.flatMap((system) => (["auto", "light", "dark"] as const).map((chosen) => [system, chosen] as const)))(
  "a %s system and the choice of %s",
  async (system, chosen) => {
    const { page, context, troubles } = await visit(browser, { ...desktop, colorScheme: system });
    await context.addInitScript((value) => localStorage.setItem("mantine-color-scheme-value", value), chosen);
    await page.goto(`${app.url}/sign`);
    await page.locator(".card").waitFor();
    const look = chosen === "auto" ? system : chosen;
    await expect
      .poll(() =>
        page.evaluate("[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"),
      )
      .toEqual([paper[look], ink[look]]);
    expect(await page.locator(".card").evaluate((card) => getComputedStyle(card).boxShadow)).toContain(shadow[look]);
    expect(troubles).toEqual([]);
    await context.close();
  },
);

test.each(systems)("a %s system without script", async (system) => {
  const { page, context } = await visit(browser, { ...desktop, colorScheme: system, javaScriptEnabled: false });
  await page.goto(`${app.url}/sign`);
  await expect.poll(() => page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe(paper[system]);
  await context.close();
});
