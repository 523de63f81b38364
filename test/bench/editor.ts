import { PDFDocument, StandardFonts } from "pdf-lib";
import { z } from "zod";
import { buildApps } from "../../scripts/build-apps.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { addSession, desktop, launch, visit } from "../harness/page.ts";
import { median } from "./median.ts";
import type { BenchResult } from "./seal.ts";

const rounds = 9;
/** Sizes of the two documents, the smaller first. */
const counts = [10, 500] as const;

/** How long a sender waits for the first page in the template editor: a document of 500 pages against one of 10, in turns. */
export async function benchEditor(): Promise<BenchResult[]> {
  await buildApps();
  const browser = await launch();
  const app = await startAppliance();
  try {
    const [small, large] = await Promise.all(counts.map((pages) => makeTemplate(app, pages)));
    const { page, context } = await visit(browser, desktop);
    await addSession(context, app, await app.signIn());
    const timeOf = async (template: string | undefined): Promise<number> => {
      await page.goto(`${app.url}/templates/${template}`);
      await page.locator('[data-page="1"][data-drawn]').waitFor();
      // From the start of the navigation to the moment at which the page was drawn.
      return z.number().parse(await page.evaluate("performance.now()"));
    };
    // The first visit fills the browser's cache.
    await timeOf(small);
    const times: { small: number; large: number }[] = [];
    for (let round = 0; round < rounds; round += 1)
      times.push({ small: await timeOf(small), large: await timeOf(large) });
    const [few, many] = [median(times.map((time) => time.small)), median(times.map((time) => time.large))];
    const detail = `first page in Chromium: ${counts[0]} pages ${few.toFixed(0)} ms, ${counts[1]} pages ${many.toFixed(0)} ms`;
    return [{ name: "editor open, 500 pages ÷ 10 pages", ratio: many / few, target: "≤ 1.5", detail }];
  } finally {
    await browser.close();
    await app.stop();
  }
}

async function makeTemplate(app: TestAppliance, pages: number): Promise<string> {
  const pdf = await PDFDocument.create();
  const font = await pdf.embedFont(StandardFonts.Helvetica);
  for (let number = 1; number <= pages; number += 1) {
    const page = pdf.addPage([595, 842]);
    for (let line = 0; line < 40; line += 1)
      page.drawText(`Page ${number}: a line of a long contract, number ${line}`, {
        x: 70,
        y: 770 - line * 17,
        size: 11,
        font,
      });
  }
  const Id = z.object({ id: z.string() });
  const { id } = Id.parse((await app.json("/v1/templates", { json: { name: `${pages} pages` } })).body);
  const headers = { "content-type": "application/pdf" };
  const upload = await app.json(`/v1/templates/${id}/files`, { body: new Uint8Array(await pdf.save()), headers });
  const items = Array.from({ length: pages }, (_, index) => ({
    id: `initials-${index + 1}`,
    type: "initials",
    role: "Buyer",
    ...{ page: index + 1, x: 400, y: 700, width: 60, height: 30 },
  }));
  const content = { mode: "overlay", file: Id.parse(upload.body).id, items };
  const json = { content, roles: [{ name: "Buyer" }], variables: [] };
  const kept = await app.json(`/v1/templates/${id}/draft`, { method: "PUT", json });
  if (kept.status !== 200) throw new Error(`The draft was refused with ${kept.status}.`);
  return id;
}
