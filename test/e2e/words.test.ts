import type { Browser } from "playwright";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildApps } from "../../scripts/build-apps.ts";
import { createPerson } from "../../server/features/identity/people.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { addSession, desktop, intercepted, launch, seriousFindings, visit } from "../harness/page.ts";

/** A page and its words: in its own language only, and what happens when they cannot be had. */

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

test("the language is changed on the page, and the words of the new one are fetched then", async () => {
  const { page, context, troubles } = await visit(browser, desktop);
  const asked: string[] = [];
  page.on("request", (request) => {
    const name = /\/locales\/(.*)\.json\?v=[\w-]{12}$/.exec(request.url())?.[1];
    if (name !== undefined) asked.push(name);
  });
  await page.goto(`${app.url}/sign-in`);
  await page.getByRole("button", { name: "Deutsch" }).waitFor();
  expect(asked.sort()).toEqual(["en/access", "en/common"]);
  await page.getByRole("button", { name: "Deutsch" }).click();
  await page.getByRole("button", { name: "English", pressed: false }).waitFor();
  expect(await page.getAttribute("html", "lang")).toBe("de");
  expect(asked.slice(2).sort()).toEqual(["de/access", "de/common"]);
  // It is remembered on this device.
  await page.reload();
  await page.getByRole("button", { name: "Deutsch", pressed: true }).waitFor();
  expect(troubles).toEqual([]);
  await context.close();
});

test("words that do not arrive are asked for again", async () => {
  const { page, context } = await visit(browser, intercepted);
  let refused = 0;
  await context.route("**/locales/en/verify.json*", (route) => {
    refused += 1;
    return refused === 1 ? route.abort() : refused === 2 ? route.fulfill({ status: 503 }) : route.fallback();
  });
  await page.goto(`${app.url}/verify`);
  await page.locator("input[type=file]").waitFor({ state: "attached" });
  expect(refused).toBe(3);
  await context.close();
});

test("an attempt that gets no answer ends, and the next one goes past what the browser keeps", async () => {
  const { page, context } = await visit(browser, intercepted);
  // The first wait takes a hundredth of its time.
  await page.addInitScript(`{
    const { timeout } = AbortSignal;
    AbortSignal.timeout = (ms) => timeout.call(AbortSignal, globalThis.asked.length === 0 ? ms / 100 : ms);
    const real = fetch;
    globalThis.asked = [];
    globalThis.fetch = (address, init) => {
      if (String(address).includes("/en/verify.json")) globalThis.asked.push(init?.cache);
      return real(address, init);
    };
  }`);
  let answered = 0;
  await context.route("**/locales/en/verify.json*", (route) => {
    answered += 1;
    return answered === 1 ? undefined : route.fallback();
  });
  await page.goto(`${app.url}/verify`);
  await page.locator("input[type=file]").waitFor({ state: "attached" });
  expect(await page.evaluate("asked")).toEqual(["default", "reload"]);
  await context.close();
});

test("of two languages the one that was chosen last is shown, whichever arrives last", async () => {
  const { page, context, troubles } = await visit(browser, intercepted);
  const held: (() => Promise<void>)[] = [];
  await context.route("**/locales/de/*.json?*", (route) => void held.push(() => route.fallback()));
  await page.goto(`${app.url}/sign-in`);
  await page.getByRole("button", { name: "Deutsch" }).click();
  await expect.poll(() => held.length).toBe(2);
  await page.getByRole("button", { name: "English" }).click();
  const arrived = ["access", "common"].map((name) => page.waitForResponse(`**/locales/de/${name}.json*`));
  for (const go of held) await go();
  for (const response of await Promise.all(arrived)) await response.finished();
  // Once the page has another answer, it has dealt with those before.
  await page.evaluate("fetch('/locales/de/access.json').then((response) => response.json())");
  expect(await page.getAttribute("html", "lang")).toBe("en");
  await page.getByRole("button", { name: "English", pressed: true }).waitFor();
  expect(troubles).toEqual([]);
  await context.close();
});

test("a language whose words do not arrive is not remembered, and the person is told", async () => {
  const { page, context } = await visit(browser, intercepted);
  await context.route("**/locales/de/*", (route) => route.abort());
  await page.goto(`${app.url}/sign-in`);
  await page.getByRole("button", { name: "Deutsch" }).click();
  await page.getByText("Deutsch could not be loaded. Check your connection and try again.").waitFor();
  await page.getByRole("button", { name: "English", pressed: true }).waitFor();
  await page.reload();
  await page.getByRole("button", { name: "English", pressed: true }).waitFor();
  expect(await page.evaluate("Object.values(localStorage).includes('de')")).toBe(false);
  await context.close();
});

test("where the language of a person cannot be loaded the workspace opens all the same", async () => {
  const input = { email: "pia@example.com", name: "Pia Person", passwordHash: null, locale: "de" };
  const user = await app.deps.db.tx((tx) => createPerson(tx, app.deps, input));
  const { page, context } = await visit(browser, intercepted);
  await addSession(context, app, await app.signIn(user));
  await context.route("**/locales/de/*", (route) => route.abort());
  await page.goto(`${app.url}/settings/account`);
  await page.getByText("Deutsch could not be loaded. Check your connection and try again.").waitFor();
  await page.getByRole("heading", { name: "Your account" }).waitFor();
  await context.unroute("**/locales/de/*");
  await page.reload();
  await page.getByRole("heading", { name: "Ihr Konto" }).waitFor();
  expect(await page.getAttribute("html", "lang")).toBe("de");
  await context.close();
});

test("a page without words says so, and can be tried again", async () => {
  const { page, context } = await visit(browser, { ...intercepted, locale: "de-DE" });
  await context.route("**/locales/**", (route) => route.abort());
  await page.goto(`${app.url}/verify`);
  await page.getByRole("heading", { name: "This page could not be loaded" }).waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await context.unroute("**/locales/**");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.locator("input[type=file]").waitFor({ state: "attached" });
  expect(await page.getAttribute("html", "lang")).toBe("de");
  await context.close();
});
