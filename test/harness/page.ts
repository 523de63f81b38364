import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
  type Request,
} from "playwright";
import { z } from "zod";

/** Debian's Chromium, and what every page of the product must hold: no script error, nothing refused by its policy, no serious finding of axe. */

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Where every packet is counted, the browser looks up no names for services of its own; what pages ask for is listened to anyway. */
const noNames = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost";

export async function launch(): Promise<Browser> {
  // A server in this process names a folder without fonts for its typesetter; a browser without any crashes.
  const { FONTCONFIG_FILE: _, ...env } = process.env;
  return await chromium.launch({
    env,
    executablePath: "/usr/bin/chromium-headless-shell",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      // One process fewer: about a tenth less CPU time per page.
      "--enable-features=NetworkServiceInProcess2",
      ...(process.env.SIGNET_TEST_NAMESPACE === "1" ? [noNames] : []),
    ],
  });
}

/**
 * The pages to test in one appearance (light, dark, phone). `npm run test:long` tests every page in every appearance; `npm test`,
 * where each page costs more than a second of CPU time, tests each in one, taking the appearances in turn.
 */
export function shareOf<Look, Place>(look: Look, looks: readonly Look[], places: readonly Place[]): Place[] {
  const all = process.env.SIGNET_TEST_FULL === "1";
  return places.filter((_, index) => all || looks[index % looks.length] === look);
}

export type VisitOptions = BrowserContextOptions & { intercepted?: boolean };

/** Asked for by no page. */
const nothing = "**/signet-test-nothing";

export const desktop = { viewport: { width: 1280, height: 860 } };
export const phone = {
  viewport: { width: 375, height: 740 },
  deviceScaleFactor: 2,
  isMobile: true,
  hasTouch: true,
};

/** The test answers requests of the page itself (`page.route`): all of them then pass through it, and none is cached. */
export const intercepted = { ...desktop, intercepted: true };

export type Visit = {
  page: Page;
  context: BrowserContext;
  troubles: string[];
  /** What stands on the page, and which of its requests failed or have no answer: for a test that waits in vain. */
  story: () => Promise<string>;
};

/** A person's own browser profile with one page; `troubles` gathers what must not happen. */
export async function visit(browser: Browser, options: VisitOptions): Promise<Visit> {
  const { intercepted: _, ...contextOptions } = options;
  const context = await browser.newContext({
    locale: "en-GB",
    reducedMotion: "reduce",
    acceptDownloads: true,
    ...contextOptions,
  });
  // Half a minute, the default, is no proof of anything on a busy machine.
  context.setDefaultTimeout(100_000);
  // Requests pass the test from the first one on: switched on under a page that stands (`page.route`), a page goes on for a moment
  // by its old way out, and what it asks there is neither held nor seen (5 of 150 tries), or has no answer at all. It costs a
  // page about a fifth of its loading time and its cache, so it is off by default.
  if (options.intercepted) await context.route(nothing, (route) => route.abort());
  else {
    const refuse = () => Promise.reject(new Error("Visit the page with `intercepted` to answer its requests."));
    context.route = refuse;
    context.on("page", (opened) => {
      opened.route = refuse;
    });
  }
  const page = await context.newPage();
  const troubles: string[] = [];
  page.on("pageerror", (error) => troubles.push(error.message));
  page.on("console", (message) => {
    if (/content security policy|refused to/i.test(message.text())) troubles.push(message.text());
  });
  page.on("request", (request) => {
    const { protocol, hostname } = new URL(request.url());
    if (/^https?:$/.test(protocol) && !["127.0.0.1", "localhost"].includes(hostname))
      troubles.push(`request to ${hostname}`);
  });
  return { page, context, troubles, story: follow(page) };
}

/** Signs a profile in with a cookie of `app.signIn()`. */
export async function addSession(context: BrowserContext, app: { url: string }, cookie: string): Promise<void> {
  const [name = "", value = ""] = cookie.split("=");
  // Chromium counts a loopback address as secure, the protocol for setting cookies does not.
  const url = app.url.replace("http:", "https:");
  await context.addCookies([{ name, value, url, httpOnly: true, secure: true, sameSite: "Lax" }]);
}

function follow(page: Page): () => Promise<string> {
  const open = new Set<Request>();
  const failed: string[] = [];
  page.on("request", (request) => open.add(request));
  page.on("requestfinished", (request) => open.delete(request));
  page.on("requestfailed", (request) => {
    open.delete(request);
    failed.push(`${request.failure()?.errorText} ${request.url()}`);
  });
  page.on("response", (response) => {
    if (response.status() >= 400) failed.push(`${response.status()} ${response.url()}`);
  });
  return async () => {
    const text = await page.evaluate("document.body.innerText").catch(String);
    const waiting = [...open].map((request) => request.url());
    return [page.url(), text, "failed:", ...failed, "without an answer:", ...waiting].join("\n");
  };
}

/** Waits for fonts, drawings and movements to end. */
export async function settled(page: Page): Promise<void> {
  await page.waitForLoadState("domcontentloaded");
  await page.evaluate("document.fonts.ready.then(() => undefined)");
  await page.evaluate(
    "Promise.all(document.getAnimations().filter((one) => one.effect?.getComputedTiming().iterations !== Infinity).map((one) => one.finished.catch(() => undefined))).then(() => undefined)",
  );
}

/**
 * Waits for the open dialog to have the focus, which it takes a moment after it is drawn, and twice: what is focused or typed
 * before that goes where the dialog puts the focus.
 */
export async function dialogReady(page: Page): Promise<void> {
  await page.locator("[role=dialog]:focus, [role=dialog] :focus").first().waitFor({ state: "attached" });
  await page.evaluate("new Promise((done) => requestIdleCallback(() => done(), { timeout: 5000 }))");
}

/** By how many pixels the page is wider than its window. */
export async function overflow(page: Page): Promise<number> {
  // A phone's window grows with what does not fit.
  const width = page.viewportSize()?.width ?? 0;
  return Math.max(0, (await page.evaluate(() => document.documentElement.scrollWidth)) - width);
}

const Findings = z.array(z.object({ id: z.string(), impact: z.string().nullable(), nodes: z.array(z.string()) }));

/** What axe-core finds serious or critical on the page as it stands; empty when all is well. */
export async function seriousFindings(page: Page): Promise<string[]> {
  // Injected through the debugger: the policy of the page does not allow script elements.
  const loaded = await page.evaluate("'axe' in window");
  if (!loaded) await page.evaluate(axe);
  const found = await page.evaluate(`axe.run(document).then((result) => result.violations.map((violation) => ({
    id: violation.id, impact: violation.impact, nodes: violation.nodes.map((node) => node.target.join(" ")) })))`);
  return Findings.parse(found)
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.join(", ")}`);
}
