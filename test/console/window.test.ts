import { mkdirSync } from "node:fs";
import path from "node:path";
import axe from "axe-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { methodNames } from "../../apps/console/src/shared/ipc.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { startMain } from "./main-process.ts";
import { type ConsolePage, openConsole, startBrowser } from "./window.ts";

let main: Awaited<ReturnType<typeof startMain>>;
let browser: Browser;
let appliance: TestAppliance;
beforeAll(async () => {
  [main, browser, appliance] = await Promise.all([startMain(), startBrowser(), startAppliance()]);
});
afterAll(async () => {
  await browser.close();
  await appliance.stop();
  main.stop();
});
const setUrl = (url: string) => {
  const contents = main.recorded.windows[0]?.webContents;
  if (!contents) throw new Error("there is no window");
  return main.recorded.handlers.get("settings.url.set")?.(
    { sender: contents, senderFrame: contents.mainFrame },
    { url },
  );
};
beforeEach(async () => {
  await setUrl(appliance.url);
  main.recorded.opened.length = 0;
});

/** Closes the page after looking at it: nothing failed, nothing was refused, nothing that axe finds. */
async function done({ page, problems }: ConsolePage): Promise<void> {
  // Evaluated through the debugger, which the page's own policy does not concern.
  await page.evaluate(axe.source);
  const found = await page.evaluate(
    "axe.run().then((run) => run.violations.map((one) => one.id + ' ' + one.nodes.map((node) => node.html).join(' ')))",
  );
  expect(found).toEqual([]);
  expect(problems).toEqual([]);
  await page.context().close();
}
const state = (page: Page, text: string) => page.getByRole("heading", { name: text, exact: true }).waitFor();

/** Pictures are taken anew on demand only: SIGNET_TEST_SCREENS=1. */
async function picture(page: Page, name: string): Promise<void> {
  if (process.env.SIGNET_TEST_SCREENS !== "1") return;
  const folder = path.resolve(import.meta.dirname, "../../docs/screens");
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: path.join(folder, `console-${name}.png`) });
}

test("the page sees the methods of the contract and nothing else of Electron", async () => {
  const console = await openConsole(browser, main);
  await state(console.page, "Running");
  expect(await console.page.evaluate(() => Object.keys(Reflect.get(window, "signet")))).toEqual(methodNames);
  expect(
    await console.page.evaluate(() => ["require", "process", "module", "electron"].filter((name) => name in window)),
  ).toEqual([]);
  await done(console);
});

test.each(["light", "dark"] as const)("a running appliance, %s", async (colorScheme) => {
  const console = await openConsole(browser, main, { colorScheme });
  await state(console.page, "Running");
  await console.page.getByText(appliance.url).waitFor();
  await picture(console.page, colorScheme);
  await done(console);
});

test("with the appliance stopped the console works, and follows it when it comes back", async () => {
  const console = await openConsole(browser, main, { width: 420 });
  await state(console.page, "Running");
  const port = new URL(appliance.url).port;
  await appliance.stop();
  await console.page.keyboard.press("F5");
  await state(console.page, "Stopped");
  expect(await console.page.getByRole("button", { name: "API reference" }).isDisabled()).toBe(true);
  await picture(console.page, "stopped");
  appliance = await startAppliance({ env: { SIGNET_PORT: port } });
  await console.page.getByRole("button", { name: "Check again" }).click();
  await state(console.page, "Running");
  await done(console);
});

test("by keyboard alone: open the reference, correct the address, be told what is wrong with it", async () => {
  const console = await openConsole(browser, main);
  const { page } = console;
  await state(page, "Running");
  const focused = () => page.evaluate(() => document.activeElement?.textContent || document.activeElement?.id);
  const order: unknown[] = [];
  for (let count = 0; count < 6; count += 1) {
    await page.keyboard.press("Tab");
    order.push(await focused());
  }
  expect(order).toEqual(["Check again", "Start page", "API reference", "Verify a document", "url", "Save"]);
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("http://signet.example.com");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("plain http is taken for this computer only").waitFor();
  expect(await page.getByLabel("Address of the appliance").getAttribute("aria-invalid")).toBe("true");
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type(`${appliance.url}/`);
  await page.keyboard.press("Enter");
  await page.getByText("Saved.").waitFor();
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Space");
  await expect.poll(() => main.recorded.opened).toEqual([`${appliance.url}/docs`]);
  await done(console);
});

test("the page's policy holds: no inline script, no network, no frame", async () => {
  const { page, problems } = await openConsole(browser, main);
  await state(page, "Running");
  await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.ran = true";
    document.body.append(script);
  });
  await page.evaluate((url) => fetch(url).catch(() => undefined), appliance.url);
  await page.evaluate(() =>
    document.body.append(Object.assign(document.createElement("iframe"), { src: "/index.html" })),
  );
  await expect
    .poll(() => problems.filter((text) => text.startsWith("CSP ")).map((text) => text.split(" ")[1]))
    .toEqual(["script-src-elem", "connect-src", "frame-src"]);
  expect(await page.evaluate(() => "ran" in window)).toBe(false);
  await page.context().close();
});
