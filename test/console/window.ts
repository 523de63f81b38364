import { readFileSync } from "node:fs";
import path from "node:path";
import type { Browser, Page } from "playwright";
import { bundles, type startMain } from "../harness/console-process.ts";
import type { InvokeEvent } from "../harness/electron-stand-in.ts";

/**
 * Shows the console's page in Chromium as its window would: the real preload bundle, files from the real app:// handler,
 * calls to the real handlers. Chromium knows no app://, so the page has an address of its own that is turned into app://.
 */

const origin = "https://console.invalid";
const toApp = (url: string) => (url.startsWith(`${origin}/`) ? `app://console${url.slice(origin.length)}` : url);

/** What the preload script finds under `electron`; a sandboxed preload script can require little else. */
const preloadScript = () => `(() => {
  if (window !== window.top) return;
  const electron = {
    contextBridge: { exposeInMainWorld: (name, api) => {
      Object.defineProperty(window, name, { value: Object.freeze(api), enumerable: true });
    } },
    ipcRenderer: {
      invoke: (channel, input) => window.invokeMain(channel, input),
      on: (channel, listener) => listeners.push({ channel, listener }),
      off: (channel, listener) => {
        listeners = listeners.filter((one) => one.channel !== channel || one.listener !== listener);
      },
    },
  };
  let listeners = [];
  Object.defineProperty(window, "playMessage", { value: (channel, message) => {
    for (const one of listeners) if (one.channel === channel) one.listener({}, message);
  } });
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
  options: {
    colorScheme?: "light" | "dark";
    width?: number;
    locale?: string;
    page?: string;
    /** Puts something else in place of a file of the page. */
    instead?: (pathname: string, body: Buffer) => Buffer;
  } = {},
): Promise<ConsolePage> {
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1180, height: 860 },
    colorScheme: options.colorScheme ?? "light",
    reducedMotion: "reduce",
    locale: options.locale ?? "en-GB",
    timezoneId: "UTC",
  });
  context.setDefaultTimeout(100_000);
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
    const own = Buffer.from(await answer.arrayBuffer());
    const body = options.instead?.(new URL(request.url()).pathname, own) ?? own;
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
  const forward = (channel: string, message: unknown) =>
    page.evaluate(([to, what]) => Reflect.get(window, "playMessage")(to, what), [channel, message] as const);
  contents?.on("test-sent", forward);
  page.on("close", () => contents?.off("test-sent", forward));
  await page.addInitScript({ content: preloadScript() });
  await page.goto(`${origin}/index.html${options.page ? `#/${options.page}` : ""}`);
  return { page, problems };
}

/** Lets the console speak to the appliance at a socket, as its page would; null: where this machine's is found by itself. */
export async function chooseAppliance(
  main: Awaited<ReturnType<typeof startMain>>,
  chosen: { socket: string; remote: boolean } | null,
): Promise<void> {
  const contents = main.recorded.windows[0]?.webContents;
  if (!contents) throw new Error("there is no window");
  const event = { sender: contents, senderFrame: contents.mainFrame };
  await main.recorded.handlers.get("connection.set")?.(event, { chosen });
}
