import { readFileSync } from "node:fs";
import path from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import type { InvokeEvent } from "./electron-stand-in.ts";
import { bundles, type startMain } from "./main-process.ts";

/**
 * Shows the console's page in Chromium as its window would: the real preload bundle, files from the real app:// handler,
 * calls to the real handlers. Chromium knows no app://, so the page has an address of its own that is turned into app://.
 */

const origin = "https://console.invalid";
const toApp = (url: string) => (url.startsWith(`${origin}/`) ? `app://console${url.slice(origin.length)}` : url);

const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
export const startBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: "/usr/bin/chromium", args: flags });

/** What the preload script finds under `electron`; a sandboxed preload script can require little else. */
const preloadScript = () => `(() => {
  if (window !== window.top) return;
  const electron = {
    contextBridge: { exposeInMainWorld: (name, api) => {
      Object.defineProperty(window, name, { value: Object.freeze(api), enumerable: true });
    } },
    ipcRenderer: { invoke: (channel, input) => window.invokeMain(channel, input) },
  };
  const require = (name) => {
    if (name === "electron") return electron;
    throw new Error("a sandboxed preload script cannot require " + name);
  };
  const module = { exports: {} };
  ((require, module, exports) => { ${readFileSync(path.join(bundles, "preload/index.cjs"), "utf8")}
  })(require, module, module.exports);
})();
document.addEventListener("securitypolicyviolation", (event) => console.error("CSP " + event.violatedDirective + " " + event.blockedURI));`;

export type ConsolePage = { page: Page; problems: string[] };

/** Opens the page and waits for nothing; `problems` collects every error, violation and failed or foreign request. */
export async function openConsole(
  browser: Browser,
  main: Awaited<ReturnType<typeof startMain>>,
  options: { colorScheme?: "light" | "dark"; width?: number } = {},
): Promise<ConsolePage> {
  const context = await browser.newContext({
    viewport: { width: options.width ?? 960, height: 860 },
    colorScheme: options.colorScheme ?? "light",
    reducedMotion: "reduce",
    locale: "en-GB",
    timezoneId: "UTC",
  });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") problems.push(message.text());
  });
  await context.route("**/*", async (route) => {
    const request = route.request();
    const answer = await main.recorded.protocols.get("app")?.(
      new Request(toApp(request.url()), { method: request.method() }),
    );
    if (answer?.status !== 200) problems.push(`${request.method()} ${request.url()}`);
    if (!answer) return route.abort();
    const body = Buffer.from(await answer.arrayBuffer());
    await route.fulfill({ status: answer.status, headers: Object.fromEntries(answer.headers), body });
  });
  const contents = main.recorded.windows[0]?.webContents;
  await page.exposeBinding("invokeMain", async ({ frame }, channel: string, input: unknown) => {
    const sender = { url: toApp(frame.url()) };
    const event: InvokeEvent = {
      sender: { id: contents?.id ?? -1, mainFrame: frame === page.mainFrame() ? sender : null },
      senderFrame: sender,
    };
    const handler = main.recorded.handlers.get(channel);
    if (!handler) throw new Error(`No handler registered for '${channel}'`);
    return handler(event, input);
  });
  await page.addInitScript({ content: preloadScript() });
  await page.goto(`${origin}/index.html`);
  return { page, problems };
}
