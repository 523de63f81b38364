import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Browser, Page } from "playwright";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { startMain } from "../harness/console-process.ts";
import { launch } from "../harness/page.ts";
import { makeToken, type SoftToken } from "../harness/softhsm.ts";
import { axeFinds } from "./axe.ts";
import { chooseAppliance, openConsole } from "./window.ts";

/** The page of keys, with a real token: the real bundles in Chromium, the real appliance, SoftHSM. */

let main: Awaited<ReturnType<typeof startMain>>;
let browser: Browser;
let token: SoftToken;
let appliance: TestAppliance;
const folder = mkdtempSync(path.join(tmpdir(), "signet-console-keys-"));
beforeAll(async () => {
  token = makeToken();
  // Nobody wrote the PIN yet.
  rmSync(token.pinFile);
  [main, browser, appliance] = await Promise.all([startMain(), launch(), startAppliance({ env: token.env })]);
  await chooseAppliance(main, { socket: appliance.config.adminSocket, remote: false });
});
afterAll(async () => {
  await browser?.close();
  await appliance?.stop();
  main?.stop();
  token?.close();
  rmSync(folder, { recursive: true });
});

const section = (page: Page, name: string) => page.getByRole("region", { name, exact: true });

test("the PIN ceremony, a key in the HSM, its rotation and the signed record on paper", async () => {
  const { page, problems } = await openConsole(browser, main, { page: "keys" });
  const hsm = section(page, "HSM");
  await hsm.getByText("The HSM cannot be used").waitFor();
  const pin = hsm.getByLabel("PIN of signet");
  await pin.fill("999999");
  await hsm.getByRole("button", { name: "Try this PIN once" }).click();
  await hsm.getByText("a few more lock it").waitFor();
  await expect.poll(() => pin.inputValue()).toBe("");
  expect(existsSync(token.pinFile)).toBe(false);
  await axeFinds(page, "a refused PIN");
  await pin.fill("123456");
  await pin.press("Enter");
  // With the right PIN the token can be used, and its trouble with the field is gone.
  await hsm.getByText("Keys in it").waitFor();
  expect(readFileSync(token.pinFile, "utf8")).toBe("123456\n");
  expect(await page.content()).not.toContain("123456");

  const make = section(page, "New key");
  await make.getByLabel("Kind").selectOption("ec-p256");
  await make.getByLabel("Kept").selectOption("pkcs11");
  await make.getByLabel("Your name (optional)").fill("Olive Owner");
  await make.getByRole("button", { name: "Make the key" }).click();
  await page.getByText("The key waits to be used. The act stands in record 2.").waitFor();
  await page.getByRole("button", { name: /^Put into use/ }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Put into use" }).click();
  await page.getByText("Another key is in use. The act stands in record 3.").waitFor();
  const row = page.getByRole("row", { name: /Seal key ec-p256/ });
  await row.getByText("In use", { exact: true }).waitFor();
  await row.getByText("in the HSM").waitFor();

  await page.getByRole("button", { name: "Sign once for a test" }).click();
  await page.getByText("Every key signed, and the signatures verify").waitFor();

  const records = section(page, "Signed records");
  await records.getByText("The chain of 3 records holds").waitFor();
  await records.getByText("Record 3: Key replaced").click();
  await axeFinds(page, "an open record");
  await page.evaluate(() =>
    Object.assign(window, {
      print: () => Object.assign(window, { onPaper: document.querySelector(".printed")?.textContent }),
    }),
  );
  await records.getByRole("button", { name: "Print Record 3" }).click();
  await expect.poll(() => page.evaluate(() => String(Reflect.get(window, "onPaper")))).toContain("Signature");
  const filePath = path.join(folder, "record.json");
  main.recorded.dialogAnswer = { canceled: false, filePath };
  await records.getByRole("button", { name: "Save Record 3" }).click();
  await page.getByText(`Saved as ${filePath}`).waitFor();
  expect(JSON.parse(readFileSync(filePath, "utf8"))).toMatchObject({
    seq: 3,
    act: "rotate",
    signature: expect.stringMatching(/^[\w-]{86}$/),
  });
  expect(problems).toEqual([]);
  await page.context().close();
});

test("a request is made for a key and saved; a file that is no container is refused and its password gone", async () => {
  const { page, problems } = await openConsole(browser, main, { page: "keys" });
  const request = section(page, "Have a key certified");
  await request.getByLabel("Organization").fill("Example Ltd");
  await request.getByLabel("Name in the certificate").fill("Example Seal");
  await request.getByRole("button", { name: "Make a request" }).click();
  await expect
    .poll(() => request.getByLabel("Certificate request").inputValue())
    .toContain("BEGIN CERTIFICATE REQUEST");
  const wrong = path.join(folder, "wrong.p12");
  writeFileSync(wrong, "no container");
  main.recorded.dialogAnswer = { canceled: false, filePaths: [wrong] };
  const container = section(page, "Import a seal key");
  await container.getByRole("button", { name: "Pick a file…" }).click();
  await container.getByText("wrong.p12").waitFor();
  await container.getByLabel("Password of the file").fill("hush-hush");
  await container.getByRole("button", { name: "Import", exact: true }).click();
  await container.getByRole("alert").waitFor();
  await expect.poll(() => container.getByLabel("Password of the file").inputValue()).toBe("");
  expect(await page.content()).not.toContain("hush-hush");
  expect(problems).toEqual([]);
  await page.context().close();
});
