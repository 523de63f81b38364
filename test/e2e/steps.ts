import type { Page } from "playwright";
import type { TestAppliance } from "../harness/appliance.ts";
import { codeFor } from "./agreement.ts";

/** What a person does on the signing page. */

/** Asks for the code, reads it from the mail and types it in, until the document stands there. */
export async function enterCode(app: TestAppliance, page: Page, email: string): Promise<void> {
  await page.getByRole("button", { name: "Send the code" }).click();
  const input = page.getByLabel("Your code");
  await input.waitFor();
  await input.fill(await codeFor(app, email));
  await drawn(page);
}

/** Waits until the first page of the document is drawn. */
export async function drawn(page: Page): Promise<void> {
  await page.locator("[data-drawn]").first().waitFor();
}

/** The control of a field: on the page, or at the foot of a small window. */
export function control(page: Page, label: string) {
  return page.locator(".field, .dock").getByLabel(label, { exact: true }).and(page.locator("input, select, textarea"));
}

/** Fills in everything that the tenant is asked for, with the keyboard where the page leads. */
export async function fillAsTenant(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Start" }).click();
  await control(page, "Street and number").fill("Lindenhof 4");
  await control(page, "Street and number").press("Enter");
  await control(page, "Postcode").fill("80012");
  await control(page, "Postcode").press("Enter");
  await control(page, "Begin of the tenancy").fill("2026-12-01");
  await page.getByRole("button", { name: "Next" }).click();
  await control(page, "Country").selectOption("CH");
  await page.getByLabel("The rent is paid: every month").check();
  await page.getByRole("button", { name: "Next" }).click();
  await control(page, "Months").fill("12");
  await page.getByLabel("I have received the house rules").first().check();
}

/** Draws a signature into the open dialog with the pointer. */
export async function drawSignature(page: Page): Promise<void> {
  const canvas = page.getByRole("img", { name: "Area to draw your signature in" });
  await canvas.waitFor();
  const area = await canvas.boundingBox();
  if (!area) throw new Error("there is nothing to draw on");
  const at = (t: number) => ({
    x: area.x + area.width * (0.15 + 0.7 * t),
    y: area.y + area.height * (0.55 - 0.28 * Math.sin(t * 19) * (1 - t * 0.6)),
  });
  await page.mouse.move(at(0).x, at(0).y);
  await page.mouse.down();
  for (let step = 1; step <= 60; step += 1) await page.mouse.move(at(step / 60).x, at(step / 60).y);
  await page.mouse.up();
}

/** Agrees to the consent text and signs. */
export async function finish(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Finish" }).click();
  await page.getByLabel("I have read this and I agree.").check();
  await page.getByRole("button", { name: "Sign", exact: true }).click();
}
