import type { Page, Worker } from "playwright";
import { z } from "zod";
import { buildApps } from "../../scripts/build-apps.ts";
import { startAppliance } from "../harness/appliance.ts";
import { sealedEnvelope } from "../harness/bundles.ts";
import { movableClock } from "../harness/clock.ts";
import { desktop, launch, visit } from "../harness/page.ts";
import { samplePdf } from "../harness/pdfs.ts";
import { publishTemplate } from "../harness/scenario.ts";
import { median } from "./median.ts";
import type { BenchResult } from "./seal.ts";

const rounds = 15;
const ballast = 20_000_000;

/**
 * How long a person waits who drops a sealed PDF of 20 MB at B-LTA on /verify: from the drop to the verdict on the page,
 * against nothing but reading and hashing the same file in the same browser, in turns.
 */
export async function benchVerifyPage(): Promise<BenchResult[]> {
  await buildApps();
  // Before anything is typeset, which points this process and its children to one folder of fonts.
  const browser = await launch();
  const clock = movableClock();
  const app = await startAppliance({ clock });
  try {
    const template = await publishTemplate(app, { pdf: await samplePdf({ pages: 3, ballast }) });
    const id = await sealedEnvelope(app, clock, template);
    const sealed = Buffer.from(await (await app.call(`/v1/envelopes/${id}/document?version=sealed`)).arrayBuffer());
    const { page } = await visit(browser, desktop);
    await page.route("**/bench.pdf", (route) => route.fulfill({ body: sealed, contentType: "application/pdf" }));
    let next = workerOf(page);
    await page.goto(`${app.url}/verify`);
    await page.getByRole("button", { name: "Choose files" }).waitFor();
    await page.evaluate(prepare);
    const times: { plain: number; verdict: number }[] = [];
    for (let round = 0; round < rounds; round += 1) {
      // What the page prepares for the next file is no part of this one.
      await (await next).evaluate(isReady);
      next = workerOf(page);
      const plain = await timeOf(page, "plainly");
      times.push({ plain, verdict: await timeOf(page, "verdict") });
      // What the rate limit allows of look-ups in a minute.
      if (round % 20 === 19) clock.advance(61_000);
    }
    const plain = median(times.map((time) => time.plain));
    const verdict = median(times.map((time) => time.verdict));
    const detail = `${(sealed.length / 1e6).toFixed(1)} MB in Chromium: verdict ${verdict.toFixed(0)} ms, read and SHA-256 ${plain.toFixed(0)} ms`;
    return [{ name: "/verify, drop to verdict ÷ plain hash", ratio: verdict / plain, target: "≤ 3", detail }];
  } finally {
    await browser.close();
    await app.stop();
  }
}

/** The next worker that the page starts. */
function workerOf(page: Page): Promise<Worker> {
  const started = page.waitForEvent("worker");
  // Heard where it is waited for.
  started.catch(() => undefined);
  return started;
}

/** In the worker: its modules make their own `Buffer` before anything else, and have all run when a timer does. */
const isReady = `new Promise((resolve) => {
  const look = () => ("Buffer" in globalThis ? resolve() : setTimeout(look));
  setTimeout(look);
})`;

const timeOf = async (page: Page, what: "plainly" | "verdict"): Promise<number> =>
  z.number().parse(await page.evaluate(`bench.${what}()`));

/** In the page: the file lies in the browser as after a drop from a disk, and the page is told of it as by the system. */
const prepare = `(async () => {
  const content = await (await fetch("/bench.pdf")).blob();
  const made = () => new File([content], "sealed.pdf", { type: "application/pdf" });
  const plainly = async () => {
    const file = made();
    const begun = performance.now();
    await crypto.subtle.digest("SHA-256", await file.arrayBuffer());
    return performance.now() - begun;
  };
  const verdict = () => new Promise((resolve, reject) => {
    const transfer = new DataTransfer();
    transfer.items.add(made());
    const seen = new MutationObserver(() => {
      const report = document.querySelector(".report");
      if (!report) return;
      seen.disconnect();
      const took = performance.now() - begun;
      const found = report.dataset.verdict;
      document.querySelector(".again").click();
      if (found === "anchored") resolve(took);
      else reject(new Error("the verdict is " + found));
    });
    seen.observe(document.body, { childList: true, subtree: true });
    const begun = performance.now();
    window.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, cancelable: true, bubbles: true }));
  });
  globalThis.bench = { plainly, verdict };
})()`;
