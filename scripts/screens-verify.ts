import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { inflateRawSync } from "node:zlib";
import type { Browser } from "playwright";
import { bundleFiles } from "../server/features/evidence/bundle/contents.ts";
import { readZip, zipParts } from "../server/features/evidence/bundle/zip.ts";
import { startAppliance } from "../test/harness/appliance.ts";
import { pinsFrom, sealedEnvelope } from "../test/harness/bundles.ts";
import { movableClock } from "../test/harness/clock.ts";
import { desktop, phone, settled, visit } from "../test/harness/page.ts";
import { envelopeOf, publishTemplate, samplePdf } from "../test/harness/scenario.ts";

/** Photographs what the verification page and the page inside a bundle say of each kind of file. */

const looks = [
  { name: "light", options: { ...desktop, colorScheme: "light" as const } },
  { name: "dark", options: { ...desktop, colorScheme: "dark" as const } },
  { name: "phone", options: { ...phone, colorScheme: "light" as const } },
  { name: "phone-dark", options: { ...phone, colorScheme: "dark" as const } },
];

export async function photographVerification(browser: Browser, folder: string): Promise<void> {
  const clock = movableClock(new Date(Date.now() - 3_600_000).toISOString());
  const app = await startAppliance({ clock });
  const stick = await mkdtemp(path.join(tmpdir(), "signet-stick-"));
  try {
    const id = await sealedEnvelope(app, clock, await publishTemplate(app));
    const bytesOf = async (target: string) => Buffer.from(await (await app.call(target)).arrayBuffer());
    const sealed = await bytesOf(`/v1/envelopes/${id}/document?version=sealed`);
    const altered = Buffer.from(sealed);
    // Within what was signed.
    altered[400] = (altered[400] ?? 0) ^ 1;
    const documents: [string, Buffer][] = [
      ["genuine", sealed],
      ["altered", altered],
      ["unsealed", Buffer.from(await samplePdf())],
      ["not-pdf", Buffer.from("Nothing but text.")],
    ];
    const { title } = await envelopeOf(app, id);
    const files = await readZip(await bytesOf(`/v1/envelopes/${id}/evidence`), async (bytes) => inflateRawSync(bytes));
    const page = path.join(stick, bundleFiles.verifier);
    await writeFile(page, files.get(bundleFiles.verifier) ?? "");
    const pins = await pinsFrom(app);
    const zipOf = (content: Iterable<readonly [string, Uint8Array]>) =>
      Buffer.concat(
        zipParts(
          [...content].map(([name, bytes]) => ({ name, bytes })),
          clock.ts(),
        ),
      );
    const forged = zipOf(new Map(files).set(bundleFiles.document, altered));
    for (const { name: look, options } of looks) {
      for (const [verdict, buffer] of documents) {
        const { page: tab, context } = await visit(browser, options);
        await tab.goto(`${app.url}/verify`);
        await tab.setInputFiles("input[type=file]", [{ name: `${title}.pdf`, mimeType: "application/pdf", buffer }]);
        await tab.locator(".report h2").waitFor();
        await settled(tab);
        await tab.screenshot({ path: `${folder}/verify-${verdict}-${look}.png` });
        await context.close();
      }
      for (const [verdict, buffer] of [
        ["unpinned", zipOf(files)],
        ["valid", zipOf(files)],
        ["forged", forged],
      ] as const) {
        const { page: tab, context } = await visit(browser, options);
        await context.setOffline(true);
        await tab.goto(pathToFileURL(page).href);
        if (verdict === "valid") {
          const inputs = tab.locator("input:not([type=file])");
          await inputs.nth(0).fill(pins.kids[0] ?? "");
          await inputs.nth(1).fill(pins.certificates[0] ?? "");
        }
        await tab.setInputFiles("input[type=file]", [{ name: "evidence.zip", mimeType: "application/zip", buffer }]);
        await tab.locator("#result h2").waitFor();
        await settled(tab);
        await tab.screenshot({ fullPage: true, path: `${folder}/bundle-${verdict}-${look}.png` });
        await context.close();
      }
    }
  } finally {
    await app.stop();
    await rm(stick, { recursive: true, force: true });
  }
}
