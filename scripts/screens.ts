import { mkdir } from "node:fs/promises";
import path from "node:path";
import { ada, linkFor, mary, publishAgreement, sendAgreement } from "../test/e2e/agreement.ts";
import { drawn, drawSignature, enterCode, fillAsTenant, finish } from "../test/e2e/steps.ts";
import { startAppliance } from "../test/harness/appliance.ts";
import { desktop, launch, phone, settled, visit } from "../test/harness/page.ts";
import { buildApps } from "./build-apps.ts";
import { photographDashboard } from "./screens-dashboard.ts";
import { photographVerification } from "./screens-verify.ts";

/**
 * Photographs every page of the product into docs/screens: light, dark and on a phone; the signing pages as two people go
 * through them. `npm run screens -- dashboard`, `-- signing` or `-- verify` takes one part.
 */

const wanted = process.argv.slice(2);
const takes = (part: string) => wanted.length === 0 || wanted.includes(part);

const folder = path.resolve(import.meta.dirname, "../docs/screens");
await mkdir(folder, { recursive: true });
await buildApps();
const app = await startAppliance();
const browser = await launch();
const template = await publishAgreement(app);

const looks = [
  { name: "light", options: { ...desktop, colorScheme: "light" as const } },
  { name: "dark", options: { ...desktop, colorScheme: "dark" as const } },
  { name: "phone", options: { ...phone, colorScheme: "light" as const } },
];

try {
  if (takes("signing")) for (const look of looks) await photograph(look.name, look.options);
  if (takes("dashboard")) await photographDashboard(browser, folder);
  if (takes("verify")) await photographVerification(browser, folder);
} finally {
  await browser.close();
  await app.stop();
}

async function photograph(look: string, options: (typeof looks)[number]["options"]): Promise<void> {
  const { page, context } = await visit(browser, options);
  const shoot = (name: string) => settled(page).then(() => page.screenshot({ path: `${folder}/${name}-${look}.png` }));

  await sendAgreement(app, template);
  await page.goto(await linkFor(app, ada.email));
  await page.getByRole("button", { name: "Send the code" }).waitFor();
  await shoot("code");
  await enterCode(app, page, ada.email);
  await shoot("document");
  await fillAsTenant(page);
  await shoot("fields");
  await page.getByRole("button", { name: "Next" }).click();
  await page.getByRole("button", { name: "Initials: Initials" }).click();
  await page.getByText("Type", { exact: true }).click();
  await shoot("type");
  await page.getByRole("button", { name: "Use these initials" }).click();
  await page.getByRole("button", { name: "Sign here: Signature of the tenant" }).click();
  await drawSignature(page);
  await shoot("draw");
  await page.getByRole("button", { name: "Use this signature" }).click();
  await page.getByText("Everything is filled in").waitFor();
  await shoot("signed");
  await page.getByRole("button", { name: "Finish" }).click();
  await page.getByLabel("I have read this and I agree.").check();
  await shoot("consent");
  await page.getByRole("button", { name: "Sign", exact: true }).click();
  await page.getByRole("heading", { name: "Thank you, you have signed" }).waitFor();
  await app.jobs.idle();
  await shoot("thanks");

  await page.goto(await linkFor(app, mary.email));
  await enterCode(app, page, mary.email);
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByRole("button", { name: "Sign here: Signature of the landlord" }).click();
  await page.getByText("Type", { exact: true }).click();
  await page.getByRole("radio", { name: "Homemade Apple" }).check();
  await page.getByRole("button", { name: "Use this signature" }).click();
  await page.getByText("Everything is filled in").waitFor();
  await shoot("second");
  await finish(page);
  await app.jobs.idle();
  await page.getByRole("heading", { name: "Signed and sealed" }).waitFor();
  await shoot("sealed");
  await page.getByRole("button", { name: "Read it here" }).click();
  await drawn(page);
  // The first page of the certificate.
  await page.locator('[data-page="3"]').evaluate((element) => element.scrollIntoView());
  await page.locator('[data-page="3"][data-drawn]').waitFor();
  await shoot("reading");
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download the sealed PDF" }).click();
  const sealed = await (await downloading).path();

  await page.goto(`${app.url}/verify`);
  await shoot("verify");
  await page.locator("input[type=file]").setInputFiles(sealed);
  const verdict = page.locator(".report h2");
  await verdict.waitFor();
  while ((await verdict.textContent()) !== "This document is genuine") {
    await app.jobs.idle();
    await page.getByRole("button", { name: "Check another document" }).click();
    await page.locator("input[type=file]").setInputFiles(sealed);
    await verdict.waitFor();
  }
  await page.locator(".steps summary").nth(2).click();
  await page.evaluate("scrollTo(0, 0)");
  await shoot("genuine");
  await page.goto(`${app.url}/docs#createEnvelope`);
  await page.locator("article h1").waitFor();
  await shoot("docs");
  await page.goto(`${app.url}/errors/otp-invalid`);
  await shoot("error");
  await page.goto(`${app.url}/sign#${"svcs_"}${"x".repeat(49)}`);
  await page.getByRole("heading", { name: "This link does not work" }).waitFor();
  await shoot("link");
  await context.close();
}
