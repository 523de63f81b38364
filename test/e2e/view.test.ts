import type { Browser } from "playwright";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildApps } from "../../scripts/build-apps.ts";
import { SigningExchange } from "../../server/features/signing/contract.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { desktop, launch, overflow, phone, seriousFindings, type Visit, visit } from "../harness/page.ts";
import { ok, publishTemplate, send, submission } from "../harness/scenario.ts";

/** The status page of a viewer, in a browser. */

let app: TestAppliance;
let browser: Browser;
let template: string;

beforeAll(async () => {
  await buildApps();
  app = await startAppliance();
  browser = await launch();
  template = await publishTemplate(app, {
    roles: [
      { name: "Tenant", order: 1, verification: "none" },
      { name: "Landlord", order: 2, verification: "none" },
    ],
  });
});
afterAll(async () => {
  await browser?.close();
  await app?.stop();
});

async function linkOf(email: string): Promise<string> {
  const mail = (await app.mail()).find(({ kind, to }) => to.email === email && kind === "viewer_invite");
  return mail?.link ?? "";
}

/** Signs for whoever was asked last to sign this envelope. */
async function signNext(envelope: string): Promise<void> {
  const mail = (await app.mail()).find((one) => one.envelope === envelope && one.kind === "signing_request");
  const token = new URL(mail?.link ?? "").hash.slice(1);
  const opened = await ok(app, 200, "/v1/signing/exchange", { key: null, json: { token } });
  const key = { bearer: SigningExchange.parse(opened.body).accessToken };
  await ok(app, 200, "/v1/signing/submit", { key, json: await submission(app, key.bearer) });
  await app.jobs.idle();
}

async function soundness({ page, troubles }: Visit): Promise<void> {
  expect(await seriousFindings(page)).toEqual([]);
  expect(troubles).toEqual([]);
  expect(await overflow(page)).toBe(0);
}

test("a viewer follows the signing live, reads the document and keeps the sealed one", async () => {
  const { id } = await send(app, template, {
    envelope: { viewerDocumentAccess: true, viewers: [{ email: "lea@example.org", name: "Lea" }] },
  });
  const seen = await visit(browser, desktop);
  const { page } = seen;
  await page.goto(await linkOf("lea@example.org"));
  await page.getByRole("heading", { name: "Flat 12" }).waitFor();
  // The token stays out of the address bar and of the history.
  expect(page.url()).toBe(`${app.url}/view`);
  await page.getByText("0 of 2 people have signed").waitFor();
  await soundness(seen);
  await page.getByRole("button", { name: "Show the document" }).click();
  await page.locator("[data-drawn]").first().waitFor();
  await soundness(seen);
  await signNext(id);
  await page.getByText("1 of 2 people have signed").waitFor();
  await signNext(id);
  await page.getByText("Everybody has signed and the document is sealed.").waitFor();
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download" }).click();
  expect((await download).suggestedFilename()).toBe("Flat 12 (signed).pdf");
  // The tab keeps its access.
  await page.reload();
  await page.getByRole("heading", { name: "Flat 12" }).waitFor();
  await seen.context.close();
});

test("in German on a phone, in the dark, until the sender takes the access away", async () => {
  const { id, viewers = [] } = await send(app, template, {
    key: "test",
    envelope: { viewers: [{ email: "jan@example.org", locale: "de" }] },
  });
  const seen = await visit(browser, { ...phone, colorScheme: "dark" });
  const { page } = seen;
  await page.goto(await linkOf("jan@example.org"));
  await page.getByText("0 von 2 Personen haben unterschrieben.").waitFor();
  expect(await page.getAttribute("html", "lang")).toBe("de");
  await page.getByText("nicht aber das Dokument selbst").waitFor();
  await soundness(seen);
  await ok(app, 204, `/v1/envelopes/${id}/viewers/${viewers[0]?.id}`, { key: "test", method: "DELETE" });
  await page.getByRole("heading", { name: "Dieser Link funktioniert nicht mehr" }).waitFor();
  await soundness(seen);
  await seen.context.close();
});

test("without a link, or with a wrong one, the page says what to do", async () => {
  const seen = await visit(browser, phone);
  await seen.page.goto(`${app.url}/view`);
  await seen.page.getByRole("heading", { name: "Open the link from your e-mail" }).waitFor();
  await seen.page.goto(`${app.url}/view#svcv_nonsense`);
  await seen.page.getByRole("heading", { name: "This link does not work" }).waitFor();
  await soundness(seen);
  await seen.context.close();
});
