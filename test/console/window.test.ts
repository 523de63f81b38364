import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Browser, Page } from "playwright";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { methodNames } from "../../apps/console/src/shared/ipc.ts";
import { startAppliance as compose } from "../../server/compose.ts";
import { loadConfig } from "../../server/config.ts";
import { createLog } from "../../server/kernel/log.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { startMain } from "../harness/console-process.ts";
import { launch } from "../harness/page.ts";
import { axeFinds } from "./axe.ts";
import { pageNames } from "./page-names.ts";
import { picture } from "./picture.ts";
import { type ConsolePage, chooseAppliance, openConsole } from "./window.ts";

let main: Awaited<ReturnType<typeof startMain>>;
let browser: Browser;
let appliance: TestAppliance;
const folder = mkdtempSync(path.join(tmpdir(), "signet-console-window-"));
beforeAll(async () => {
  [main, browser, appliance] = await Promise.all([startMain(), launch(), startAppliance()]);
});
afterAll(async () => {
  await browser.close();
  await appliance.stop();
  main.stop();
  rmSync(folder, { recursive: true });
});
const choose = (chosen: { socket: string; remote: boolean }) => chooseAppliance(main, chosen);
beforeEach(async () => {
  await choose({ socket: appliance.config.adminSocket, remote: false });
  main.recorded.opened.length = 0;
});

/** Closes the page after looking at it: nothing failed, nothing was refused, nothing that axe finds. */
async function done({ page, problems }: ConsolePage): Promise<void> {
  await axeFinds(page, page.url());
  expect(problems).toEqual([]);
  await page.context().close();
}
const heading = (page: Page, text: string) =>
  page.getByRole("heading", { level: 1, name: text, exact: true }).waitFor();

test("the page sees the methods of the contract and nothing else of Electron", async () => {
  const console = await openConsole(browser, main);
  await heading(console.page, "Overview");
  const bridge = await console.page.evaluate(() => {
    const { methods, ...others } = Reflect.get(window, "signet");
    return { methods: Object.keys(methods), others: Object.keys(others) };
  });
  expect(bridge).toEqual({ methods: methodNames, others: ["listen"] });
  expect(
    await console.page.evaluate(() => ["require", "process", "module", "electron"].filter((name) => name in window)),
  ).toEqual([]);
  await done(console);
});

// Each page with a word of it that comes from the appliance, or says that there is nothing.
const shown: [string, string, string][] = [
  ["overview", "Overview", "Running since"],
  ["setup", "Setup assistant", "First organization and owner"],
  ["work", "Stuck work", "Nothing is stuck"],
  ["logs", "Logs", "Older lines"],
  ["diagnostics", "Diagnostics", "Support bundle"],
  ["network", "Network and TLS", "Request from an authority"],
  ["mail", "Mail", "No mail server is set"],
  ["keys", "Keys and HSM", "Anchor key"],
  ["settings", "Settings", "SIGNET_HOST"],
  ["organizations", "Organizations and plans", "Example Ltd"],
  ["access", "Access", "live key"],
  ["anchors", "Anchors and witnesses", "There is no anchor yet"],
  ["backup", "Backup and drill", "No backup is set"],
  ["update", "Update", "There was no update yet"],
  ["restore", "Restore from a backup", "This appliance has an owner already"],
  ["audit", "Audit", "chain of"],
  ["console", "This console", "Keep watching when the window is closed"],
];

test("every page stands in the table", () => {
  expect(shown.map(([name]) => name)).toEqual([...pageNames()]);
});

test("each page, reached by the navigation, light and dark, passes axe", async () => {
  const console = await openConsole(browser, main);
  const { page } = console;
  await heading(page, "Overview");
  for (const [name, title, words] of shown) {
    await page.getByRole("navigation").getByRole("link", { name: title, exact: true }).click();
    await heading(page, title);
    await page.getByRole("main").getByText(words).first().waitFor();
    expect(await page.getByRole("link", { name: title, exact: true }).getAttribute("aria-current")).toBe("page");
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await picture(page, colorScheme === "light" ? name : `${name}-dark`);
      await axeFinds(page, name);
    }
    await page.emulateMedia({ colorScheme: "light" });
    // As in a window of 1280 pixels at 400 % (WCAG 1.4.10): nothing has to be scrolled sideways.
    await page.setViewportSize({ width: 320, height: 860 });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect.soft(wide, `${name} at 400 %`).toBeLessThanOrEqual(0);
    await page.setViewportSize({ width: 1180, height: 860 });
  }
  await done(console);
});

test.runIf(process.env.SIGNET_TEST_SCREENS === "1")("pictures of each page in German, light and dark", async () => {
  const { page } = await openConsole(browser, main, { locale: "de-DE" });
  await heading(page, "Übersicht");
  const links = page.getByRole("navigation").getByRole("link");
  for (const [index, name] of pageNames().entries()) {
    await links.nth(index).click();
    await page.waitForFunction(() => document.querySelector("main .loading, main [aria-busy=true]") === null);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await picture(page, `${name}-de${colorScheme === "dark" ? "-dark" : ""}`);
    }
    await page.emulateMedia({ colorScheme: "light" });
  }
  await page.context().close();
});

test("the second way in: each step of a restore says how far it is, also while the service stands still and after a reload", async () => {
  const socket = path.join(folder, "empty.sock");
  const data = mkdtempSync(path.join(folder, "empty-"));
  const empty = await compose({
    config: loadConfig({
      SIGNET_DATA_DIR: data,
      SIGNET_PORT: "0",
      SIGNET_LOG_LEVEL: "silent",
      SIGNET_ADMIN_SOCKET: socket,
      SIGNET_DISK_RESERVE_MB: "0",
    }),
    log: createLog("silent"),
  });
  await choose({ socket, remote: false });
  const { page, problems } = await openConsole(browser, main, { page: "setup" });
  await page.getByRole("main").getByRole("link", { name: "Restore from a backup" }).click();
  await heading(page, "Restore from a backup");
  await page.getByLabel("Folder of the backups").fill("/mnt/it's here");
  await page.getByRole("button", { name: "Stop the service" }).waitFor();
  const states = () => page.locator(".steps > li").evaluateAll((steps) => steps.map((step) => step.dataset.state));
  await expect.poll(states).toEqual(["done", "now", "open", "open"]);
  await empty.stop();
  await page.keyboard.press("F5");
  await expect.poll(states).toEqual(["done", "done", "now", "now"]);
  await page.reload();
  await expect.poll(states).toEqual(["done", "done", "now", "now"]);
  expect(await page.getByLabel("Command").inputValue()).toBe(
    String.raw`sudo signet restore --from '/mnt/it'\''s here' --key /root/backup.key`,
  );
  expect(await page.getByLabel("Empty the data folder").inputValue()).toBe(`sudo find '${data}' -mindepth 1 -delete`);
  await picture(page, "restore-steps");
  await done({ page, problems });
});

test("with the appliance stopped the console says what to do, keeps what was typed, and follows it when it comes back", async () => {
  const socket = path.join(folder, "admin.sock");
  let other = await startAppliance({ env: { SIGNET_ADMIN_SOCKET: socket } });
  await choose({ socket, remote: false });
  const console = await openConsole(browser, main, { page: "settings", width: 720 });
  const { page } = console;
  const search = page.getByRole("searchbox", { name: "Search" });
  await search.fill("smtp");
  await other.stop();
  await page.keyboard.press("F5");
  await heading(page, "Stopped");
  await page.getByText("No program listens at this socket").waitFor();
  await page.getByRole("button", { name: "Start the service" }).waitFor();
  expect(await search.isVisible()).toBe(false);
  await picture(page, "stopped");
  await axeFinds(page, "stopped");
  other = await startAppliance({ env: { SIGNET_ADMIN_SOCKET: socket } });
  // The page looks by itself every five seconds as well: when that was quicker, there is no button any more.
  const again = page.getByRole("button", { name: "Check again" });
  await again.click({ timeout: 10_000 }).catch(() => undefined);
  await heading(page, "Settings");
  expect(await search.inputValue()).toBe("smtp");
  await other.stop();
  await done(console);
});

test("an appliance behind a forwarded socket is remote: nothing of this machine is started or stopped", async () => {
  const socket = path.join(folder, "forwarded.sock");
  const forwarding = createServer((near) => {
    const far = connect(appliance.config.adminSocket);
    near.pipe(far).pipe(near);
    for (const end of [near, far]) end.on("error", () => undefined);
  }).listen(socket);
  await once(forwarding, "listening");
  const console = await openConsole(browser, main, { page: "console" });
  const { page } = console;
  await page.getByRole("radio", { name: "An appliance of another machine" }).check();
  await page.getByLabel("Path of the socket").fill("signet.sock");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("This is no absolute path").waitFor();
  await page.getByLabel("Path of the socket").fill(socket);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("On another machine", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Overview" }).click();
  await page.getByText("Running since").waitFor();
  expect(await page.getByRole("button", { name: /service/ }).count()).toBe(0);
  forwarding.close();
  await page.keyboard.press("F5");
  await heading(page, "Stopped");
  await page.getByText(`ssh -N -L ${socket}:/run/signet/admin.sock`).waitFor();
  await picture(page, "remote");
  await done(console);
});

test("by keyboard alone: skip to the content, digits for pages, a setting is changed and stands in the audit", async () => {
  const console = await openConsole(browser, main);
  const { page } = console;
  await heading(page, "Overview");
  await page.keyboard.press("Tab");
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Skip to the content");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe("content");
  await page.keyboard.press("Control+3");
  await heading(page, "Stuck work");
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe("Stuck work");
  await page.keyboard.press("Control+9");
  await heading(page, "Settings");
  // The heading takes the focus a moment after it is drawn, from wherever it is.
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe("Settings");
  await page.getByRole("searchbox", { name: "Search" }).focus();
  await page.keyboard.type("mailFrom");
  await page.keyboard.press("Tab");
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("Signet <sign@example.com>");
  await page.keyboard.press("Enter");
  await page.getByText("A restart is needed").waitFor();
  await page.getByText("After the next start").waitFor();
  await page.getByRole("link", { name: "Audit" }).press("Enter");
  await page.getByText("The chain of one entry holds").waitFor();
  await page.getByText("settings.changed").waitFor();
  await done(console);
});

test("in German where the system speaks it; the language that is chosen is kept", async () => {
  const german = await openConsole(browser, main, { locale: "de-DE", page: "diagnostics" });
  await heading(german.page, "Diagnose");
  await german.page.getByText("In Ordnung").first().waitFor();
  expect(await german.page.evaluate(() => document.documentElement.lang)).toBe("de");
  await picture(german.page, "diagnostics-de");
  await done(german);

  const console = await openConsole(browser, main, { page: "console" });
  const { page } = console;
  await page.getByLabel("Language").selectOption("de");
  await heading(page, "Diese Konsole");
  await page.getByLabel("Farben").selectOption("dark");
  await expect.poll(() => main.nativeTheme.themeSource).toBe("dark");
  await page.reload();
  await heading(page, "Diese Konsole");
  await expect.poll(() => page.evaluate(() => document.documentElement.dataset.mantineColorScheme)).toBe("dark");
  await page.getByLabel("Farben").selectOption("auto");
  await done(console);
});

test("the support bundle is shown before it is saved, in the place that the person names", async () => {
  const console = await openConsole(browser, main, { page: "diagnostics" });
  const { page } = console;
  await page.getByRole("button", { name: "Show what it holds" }).click();
  const files = page.locator(".bundle summary");
  await files.first().click();
  await axeFinds(page, "bundle");
  main.recorded.dialogAnswer = { canceled: true };
  await page.getByRole("button", { name: "Save the bundle" }).click();
  await expect.poll(() => main.recorded.dialogOptions).toMatchObject({ defaultPath: expect.stringMatching(/\.zip$/) });
  const filePath = path.join(folder, "bundle.zip");
  main.recorded.dialogAnswer = { canceled: false, filePath };
  await page.getByRole("button", { name: "Save the bundle" }).click();
  await page.getByText(`Saved as ${filePath}`).waitFor();
  expect(readFileSync(filePath).subarray(0, 4).toString("latin1")).toBe("PK\u0003\u0004");
  expect(readdirSync(folder).filter((name) => name.endsWith(".part"))).toEqual([]);
  await done(console);
});

test("a certificate request is made, copied and saved; what is no certificate is refused by the appliance's own words", async () => {
  const console = await openConsole(browser, main, { page: "network" });
  const { page } = console;
  const request = page.getByRole("region", { name: "Request from an authority", exact: true });
  await request.getByRole("textbox", { name: "Names", exact: true }).fill("sign.example.com, sign.example.org");
  await request.getByRole("button", { name: "Make a request" }).click();
  const csr = request.getByRole("textbox", { name: "Certificate request", exact: true });
  await expect.poll(() => csr.inputValue()).toContain("BEGIN CERTIFICATE REQUEST");
  await request.getByRole("button", { name: "Copy", exact: true }).click();
  await expect.poll(() => main.recorded.clipboard).toMatch(/^-----BEGIN CERTIFICATE REQUEST-----\r?\n/);
  const file = path.join(folder, "wrong.pem");
  writeFileSync(file, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
  main.recorded.dialogAnswer = { canceled: false, filePaths: [file] };
  await page.getByRole("button", { name: "Pick a certificate…" }).click();
  await page.getByText("wrong.pem").waitFor();
  await page.getByRole("button", { name: "Install", exact: true }).click();
  await page.getByRole("alert").waitFor();
  await axeFinds(page, "refused certificate");
  await done(console);
});

test("a link from outside shows its page, and one to nowhere none", async () => {
  const console = await openConsole(browser, main);
  const { page } = console;
  await heading(page, "Overview");
  main.app.emit("second-instance", {}, ["signet-console", "signet-console://page/no-such-page"]);
  main.app.emit("second-instance", {}, ["signet-console", "signet-console://page/keys"]);
  await heading(page, "Keys and HSM");
  await done(console);
});

test("the page's policy holds: no inline script, no style without the nonce, no network, no frame", async () => {
  const { page, problems } = await openConsole(browser, main);
  await heading(page, "Overview");
  await page.evaluate(() => {
    for (const [tag, text] of [
      ["script", "window.ran = true"],
      ["style", "body { display: none }"],
    ] as const) {
      const element = document.createElement(tag);
      element.textContent = text;
      document.body.append(element);
    }
  });
  await page.evaluate((url) => fetch(url).catch(() => undefined), appliance.url);
  await page.evaluate(() =>
    document.body.append(Object.assign(document.createElement("iframe"), { src: "/index.html" })),
  );
  await expect
    .poll(() => problems.filter((text) => text.startsWith("CSP ")).map((text) => text.split(" ")[1]))
    .toEqual(["script-src-elem", "style-src-elem", "connect-src", "frame-src"]);
  expect(await page.evaluate(() => "ran" in window)).toBe(false);
  await page.context().close();
});
