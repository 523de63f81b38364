import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import type { Browser } from "playwright";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { launch } from "../harness/page.ts";
import { type InstalledSdk, installSdk } from "../harness/sdk.ts";

/** The package on a page of another site, in a real browser. */

/** Without a window and a document. */
const worker = `import { Signet } from "/sdk.js";
try {
  new Signet({ baseUrl: "https://sign.example", apiKey: "svc_live_key" });
  postMessage("taken");
} catch (error) {
  postMessage(String(error));
}`;

let sdk: InstalledSdk;
let app: TestAppliance;
let browser: Browser;
beforeAll(async () => {
  [sdk, app, browser] = await Promise.all([installSdk(), startAppliance(), launch()]);
});
afterAll(async () => {
  await browser?.close();
  await app?.stop();
  await sdk?.remove();
});

test("a page of another site looks up a document without a key, and cannot use one", async () => {
  const files = new Map([
    ["/", { type: "text/html", text: "<!doctype html><title>Elsewhere</title>" }],
    ["/worker.js", { type: "text/javascript", text: worker }],
    ["/sdk.js", { type: "text/javascript", text: readFileSync(path.join(sdk.installed, "index.js"), "utf8") }],
  ]);
  const site = createServer(({ url = "" }, response) => {
    const file = files.get(url);
    response.writeHead(file ? 200 : 404, { "content-type": file?.type ?? "text/plain" }).end(file?.text);
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  try {
    const address = site.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${address.port}/`);
    // As text: an import in a function would be turned into one of the test runner.
    const found = await page.evaluate(`(async (baseUrl) => {
      const { Signet, SignetError } = await import("/sdk.js");
      const signet = new Signet({ baseUrl });
      const { status } = await signet.verification.verifyDocument({ sha256: "0".repeat(64) });
      const { keys } = await signet.verification.anchorKeys();
      const refused = await signet.verification.anchor(999).catch((error) => error);
      const said = [status, keys.length > 0, refused instanceof SignetError && refused.code];
      try {
        new Signet({ baseUrl, apiKey: "svc_live_key" });
      } catch (error) {
        said.push(String(error));
      }
      await signet.envelopes.list().catch((error) => said.push(String(error)));
      const worker = new Worker("/worker.js", { type: "module" });
      said.push(await new Promise((resolve) => (worker.onmessage = ({ data }) => resolve(data))));
      return said;
    })(${JSON.stringify(app.url)})`);
    expect(found).toEqual([
      ...["unknown", true, "not-found"],
      expect.stringContaining("must not be used in a browser"),
      expect.stringContaining("needs an API key"),
      expect.stringContaining("must not be used in a browser"),
    ]);
  } finally {
    site.close();
  }
});
