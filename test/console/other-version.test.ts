import { once } from "node:events";
import { createServer, request, type Server } from "node:http";
import path from "node:path";
import type { Browser } from "playwright";
import { afterAll, beforeAll, expect, test } from "vitest";
import de from "../../locales/de/console.json" with { type: "json" };
import en from "../../locales/en/console.json" with { type: "json" };
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { startMain } from "../harness/console-process.ts";
import { launch } from "../harness/page.ts";
import { pageNames } from "./page-names.ts";
import { chooseAppliance, openConsole } from "./window.ts";

/** A console that is newer than its appliance: each answer lacks what only a later version says. The real bundles in Chromium. */

let main: Awaited<ReturnType<typeof startMain>>;
let browser: Browser;
let app: TestAppliance;
let older: Server;
let socket: string;
beforeAll(async () => {
  [main, browser, app] = await Promise.all([startMain(), launch(), startAppliance()]);
  socket = path.join(app.folder, "run", "older.sock");
  older = createServer((incoming, outgoing) => {
    const { method, url, headers } = incoming;
    const passed = request(
      { socketPath: app.config.adminSocket, method, path: url, headers, agent: false },
      (answer) => {
        const parts: Buffer[] = [];
        answer.on("data", (part: Buffer) => parts.push(part));
        answer.once("end", () => {
          const { "content-length": _, "transfer-encoding": __, ...rest } = answer.headers;
          outgoing
            .writeHead(answer.statusCode ?? 502, rest)
            .end(withoutTheNewest(Buffer.concat(parts).toString("utf8")));
        });
      },
    );
    passed.once("error", () => outgoing.destroy());
    incoming.pipe(passed);
  });
  older.listen(socket);
  await once(older, "listening");
  await chooseAppliance(main, { socket, remote: false });
});
afterAll(async () => {
  await browser?.close();
  older?.closeAllConnections();
  older?.close();
  await app?.stop();
  main?.stop();
});

/** They ask for nothing before somebody presses something, or follow a stream. */
const silent: ReadonlySet<string> = new Set(["logs", "restore", "console"]);

/** All that every version says: its own name. */
function withoutTheNewest(text: string): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  return JSON.stringify({ version: Reflect.get(Object(value), "version") });
}

test.each(["en-GB", "de-DE"])("each page says what to do and none breaks, in %s", async (locale) => {
  const words =
    locale === "de-DE"
      ? { catalogue: de, says: /Aktualisieren Sie die Appliance/, state: "In Betrieb" }
      : { catalogue: en, says: /Update the appliance/, state: "Running" };
  const catalogue: Readonly<Record<string, unknown>> = words.catalogue;
  const { page, problems } = await openConsole(browser, main, { locale });
  await page.locator(".state-line").getByText(words.state, { exact: true }).waitFor();
  for (const name of pageNames().filter((one) => !silent.has(one))) {
    await page.evaluate((to) => {
      window.location.hash = `#/${to}`;
    }, name);
    await page
      .locator(`nav [aria-current]`, { hasText: String(Reflect.get(Object(catalogue[name]), "nav")) })
      .waitFor();
    await page.getByRole("main").getByText(words.says).first().waitFor();
  }
  expect(problems).toEqual([]);
  await page.context().close();
});
