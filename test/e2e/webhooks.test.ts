import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { IncomingHttpHeaders } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import forge from "node-forge";
import type { Browser, Page } from "playwright";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { buildApps } from "../../scripts/build-apps.ts";
import { WebhookEndpoint } from "../../server/features/webhooks/contract.ts";
import { newDelivery } from "../../server/features/webhooks/deliveries.ts";
import { insertDeliveries, updateEndpoint } from "../../server/features/webhooks/store.ts";
import { toTs } from "../../server/kernel/clock.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import {
  addSession,
  desktop,
  launch,
  overflow,
  phone,
  seriousFindings,
  settled,
  shareOf,
  type Visit,
  type VisitOptions,
  visit,
} from "../harness/page.ts";
import { person } from "../harness/people.ts";

/** The dashboard's pages for webhooks, with a receiver that speaks TLS on this machine. */

type Call = { headers: IncomingHttpHeaders; body: string };

let folder: string;
let receiver: Server;
let hooks: string;
let answer = 204;
const calls: Call[] = [];
let app: TestAppliance;
let browser: Browser;
let visits: Visit[] = [];

beforeAll(async () => {
  await buildApps();
  folder = await mkdtemp(path.join(tmpdir(), "signet-webhooks-"));
  const pem = certificate();
  receiver = createServer(pem, async (call, reply) => {
    calls.push({ headers: call.headers, body: await text(call) });
    reply.writeHead(answer).end();
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  const { port } = receiver.address() as AddressInfo;
  hooks = `https://127.0.0.1:${port}/hooks`;
  const caFile = path.join(folder, "ca.pem");
  await writeFile(caFile, pem.cert);
  const env = { SIGNET_OUTBOUND_ALLOW: `webhook=127.0.0.1:${port}`, SIGNET_CA_FILE: caFile };
  [app, browser] = await Promise.all([startAppliance({ env }), launch()]);
});

afterEach(async () => {
  const troubles = visits.flatMap((one) => one.troubles);
  await Promise.all(visits.map(({ context }) => context.close()));
  visits = [];
  expect(troubles).toEqual([]);
});

afterAll(async () => {
  await browser?.close();
  await app?.stop();
  receiver?.close();
  await rm(folder, { recursive: true, force: true });
});

/** For 127.0.0.1, signed by itself. */
function certificate(): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const key = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const made = forge.pki.createCertificate();
  made.publicKey = forge.pki.publicKeyFromPem(publicKey.export({ type: "spki", format: "pem" }).toString());
  made.serialNumber = "01";
  made.validity.notBefore = new Date(Date.now() - 86_400_000);
  made.validity.notAfter = new Date(Date.now() + 86_400_000);
  const name = [{ name: "commonName", value: "receiver" }];
  made.setSubject(name);
  made.setIssuer(name);
  made.setExtensions([
    { name: "basicConstraints", cA: true },
    { name: "subjectAltName", altNames: [{ type: 7, ip: "127.0.0.1" }] },
  ]);
  made.sign(forge.pki.privateKeyFromPem(key), forge.md.sha256.create());
  return { key, cert: forge.pki.certificateToPem(made) };
}

async function open(place: string, options: VisitOptions = desktop, user?: string): Promise<Page> {
  const seen = await visit(browser, options);
  visits.push(seen);
  await addSession(seen.context, app, await app.signIn(user));
  await seen.page.goto(`${app.url}${place}`);
  await seen.page.getByRole("heading", { level: 1 }).waitFor();
  return seen.page;
}

async function clean(page: Page): Promise<void> {
  await settled(page);
  expect(await seriousFindings(page)).toEqual([]);
  expect(await overflow(page)).toBe(0);
}

const dialog = (page: Page) => page.getByRole("dialog");
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const rows = (page: Page, status: string) => page.locator(`.webhook-log tbody tr[data-status=${status}]`);
const header = ({ headers }: Call, name: string) => String(headers[name]);

test("an endpoint is added, tested, looked at, paused and deleted, and its secret replaced", async () => {
  const page = await open("/settings/webhooks");
  await page.getByRole("heading", { name: "No endpoints yet" }).waitFor();
  await clean(page);

  await button(page, "Add endpoint").first().click();
  const url = dialog(page).getByLabel("URL");
  await url.fill("http://crm.example.com/hooks");
  await dialog(page).getByLabel("Selected events").check();
  const submit = dialog(page).getByRole("button", { name: "Add endpoint" });
  await submit.click();
  await dialog(page).getByText("Enter a URL that begins with https://").waitFor();
  await dialog(page).getByText("Choose at least one event.").waitFor();
  await expect.poll(() => url.evaluate((input) => input === document.activeElement)).toBe(true);
  await clean(page);
  await dialog(page).getByRole("checkbox", { name: "envelope.completed" }).check();
  await url.fill("https://10.0.0.1/hooks");
  await submit.click();
  await dialog(page).getByText("Signet may not call this address.").waitFor();
  await url.fill(hooks);
  await dialog(page).getByLabel("Description").fill("CRM");
  await submit.click();
  const secret = () => dialog(page).getByLabel("Signing secret", { exact: true }).inputValue();
  const first = await secret();
  expect(first).toMatch(/^whsec_[\w+/]{43}=$/);
  await clean(page);
  // Under plain http, browsers have no clipboard.
  await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
  await page.evaluate(
    "addEventListener('copy', (event) => { globalThis.taken = event.clipboardData.getData('text/plain') })",
  );
  await dialog(page).getByRole("button", { name: "Copy" }).and(page.locator(":focus")).press("Enter");
  await dialog(page).getByRole("button", { name: "Copied" }).waitFor();
  expect(await page.evaluate("globalThis.taken")).toBe(first);
  await button(page, "Done").click();
  await page.getByRole("heading", { name: "CRM", level: 1 }).waitFor();
  await page.getByText("No attempts in the last 24 hours.").waitFor();
  await clean(page);
  await button(page, "Send test").click();
  await rows(page, "succeeded").getByText("Answer 204").waitFor();
  await page.getByText("100% of 1 attempt succeeded").waitFor();
  await page.getByText("1 succeeded, 0 failed", { exact: true }).waitFor();
  const [tested] = calls;
  if (tested === undefined) throw new Error("the receiver was not called");
  const event = header(tested, "webhook-id");

  await rows(page, "succeeded").getByRole("button").click();
  await dialog(page).getByText(event, { exact: true }).waitFor();
  await dialog(page).getByText(header(tested, "webhook-timestamp"), { exact: true }).waitFor();
  expect(JSON.parse((await dialog(page).getByLabel("Body").textContent()) ?? "")).toEqual(JSON.parse(tested.body));
  await dialog(page).getByText("Bodies from private networks are not kept").waitFor();
  await clean(page);
  await dialog(page).getByRole("button", { name: "Send again" }).click();
  await expect.poll(() => rows(page, "succeeded").count()).toBe(2);
  await rows(page, "succeeded").getByText("Attempt 1 · resent").waitFor();
  expect(calls.map((call) => header(call, "webhook-id"))).toEqual([event, event]);

  await button(page, "Rotate secret").click();
  await dialog(page).getByRole("button", { name: "Replace secret" }).click();
  await dialog(page).getByText("The previous secret also signs until").waitFor();
  const second = await secret();
  expect(second).not.toBe(first);
  await button(page, "Done").click();
  await page.getByText("The previous secret also signs until").waitFor();
  await button(page, "Reveal secret").click();
  expect(await secret()).toBe(second);
  await button(page, "Done").click();

  await button(page, "Pause").click();
  await page.getByText("This endpoint is paused").waitFor();
  expect(await button(page, "Send test").isDisabled()).toBe(true);
  await button(page, "Resume").click();
  answer = 410;
  await button(page, "Send test").click();
  await rows(page, "failed").getByText("Answer 410").waitFor();
  await page.getByText("The receiver answers 410 Gone").waitFor();
  await page.getByLabel("Status").selectOption("failed");
  await expect.poll(() => rows(page, "succeeded").count()).toBe(0);
  await button(page, "Send events again since…").click();
  await clean(page);
  await dialog(page).getByRole("button", { name: "Send events again" }).click();
  await page.getByText("No envelope events since then.").waitFor();

  await button(page, "Edit").click();
  await dialog(page).getByLabel("All events").check();
  await button(page, "Save").click();
  await page.getByText("Saved.").waitFor();
  await page.getByRole("link", { name: "Webhooks" }).first().click();
  const row = page.locator("tbody tr", { hasText: hooks });
  await row.getByText("Failing").waitFor();
  await row.getByText("All events", { exact: true }).waitFor();
  await row.getByRole("link").click();
  await page.getByRole("heading", { name: "CRM", level: 1 }).waitFor();
  const elsewhere = await open(new URL(page.url()).pathname);
  await button(page, "Delete").click();
  await dialog(page).getByRole("button", { name: "Delete endpoint" }).click();
  await page.getByRole("heading", { name: "No endpoints yet" }).waitFor();
  await elsewhere.getByRole("heading", { name: "There is no such endpoint" }).waitFor();

  // What came is checked with both secrets that signed it.
  const last = calls.at(-1);
  if (last === undefined) throw new Error("the receiver was not called");
  await page.getByRole("link", { name: "Check a signature" }).click();
  for (const used of [first, second]) {
    await paste(page, used, last);
    await page.getByText("The signature is valid", { exact: true }).waitFor();
  }
});

async function paste(page: Page, secret: string, call: Call): Promise<void> {
  await page.getByLabel("Signing secret").fill(secret);
  for (const name of ["webhook-id", "webhook-timestamp", "webhook-signature"])
    await page.getByLabel(name).fill(header(call, name));
  await page.getByLabel("Raw body").fill(call.body);
  await button(page, "Check signature").click();
}

test("a pasted signature is checked in the browser alone, and what is wrong is named", async () => {
  const page = await open("/settings/webhooks/check");
  const sent: string[] = [];
  // Its own code comes when the page needs it.
  page.on("request", (request) => {
    if (!new URL(request.url()).pathname.startsWith("/assets/")) sent.push(request.url());
  });
  await page.clock.setFixedTime(new Date("2026-11-21T09:21:00.000Z"));
  const body = '{"id":"evt_000000000000000000000001","type":"webhook.test"}';
  const headers = {
    "webhook-id": "evt_000000000000000000000001",
    "webhook-timestamp": "1795252800",
    "webhook-signature": "v1,xw4cUngyZW7yVS3vs7iNZZUjmnpi5ZrDJH86IdBFZWw=",
  };
  const secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
  await button(page, "Check signature").click();
  await expect.poll(() => page.getByText("Fill this in.").count()).toBe(5);
  await page.getByLabel("Signing secret").and(page.locator(":focus")).waitFor();
  await clean(page);
  await paste(page, secret, { headers, body });
  await page.getByText("The signature is valid", { exact: true }).waitFor();
  await paste(page, secret, { headers, body: body.replace("test", "tent") });
  await page.getByText("The body: even one changed, missing or added character counts.").waitFor();
  await clean(page);
  await paste(page, secret, { headers, body: body.replace(",", ", ") });
  await page.getByText("The body was changed").waitFor();
  await page.clock.setFixedTime(new Date("2026-11-21T10:00:00.000Z"));
  await paste(page, secret, { headers, body });
  await page.getByText("The signature is valid, but too old").waitFor();
  expect(sent).toEqual([]);
});

const looks = ["phone", "dark", "light"] as const;
const appearance = { light: desktop, dark: { ...desktop, colorScheme: "dark" as const }, phone };

test("an endpoint that has been failing for more than a day is named, light and dark, on a desk and on a phone", async () => {
  const json = { url: hooks, description: "Ledger" };
  const endpoint = WebhookEndpoint.parse((await app.json("/v1/webhook-endpoints", { json })).body);
  const since = toTs(Date.now() - 30 * 3_600_000);
  const of = { endpoint: endpoint.id, url: hooks, event: "evt_1", type: "envelope.completed" } as const;
  const attempts = Array.from({ length: 30 }, (_, index) => {
    const at = Date.now() - index * 50 * 60_000;
    const plan = {
      attempt: (index % 4) + 1,
      trigger: index % 4 ? "retry" : "event",
      at,
      createdAt: at,
      until: at,
    } as const;
    const went =
      index % 7 === 6
        ? ({ status: "succeeded", status_code: 200, response_body: "thank you" } as const)
        : ({ status: "failed", error_code: index % 2 ? "timeout" : "tls", error_message: "no answer" } as const);
    const final = index === 5 ? (1 as const) : (0 as const);
    return { ...newDelivery(of, plan), ...went, final, duration_ms: 120 + index, sent_at: toTs(at) };
  });
  await app.deps.db.tx(async (tx) => {
    await insertDeliveries(tx, attempts);
    await updateEndpoint(tx, endpoint.id, { failing_since: since, last_failure_at: since });
  });
  const places = ["", "/events", "/check", `/${endpoint.id}`].map((place) => `/settings/webhooks${place}`);
  for (const look of looks) {
    const page = await open(look === "phone" ? "/" : "/settings/webhooks", appearance[look]);
    await page.getByText(/[Ee]ndpoint has been failing for more than a day/).waitFor();
    for (const place of shareOf(look, looks, places)) {
      await page.goto(`${app.url}${place}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.waitForFunction(() => document.querySelector("main .loading") === null);
      if (place.endsWith("/events")) await page.getByText("Example", { exact: true }).first().click();
      await clean(page);
    }
    if (!page.url().endsWith(endpoint.id)) continue;
    await page.getByText("Failing for more than a day").waitFor();
    expect(await page.locator(".webhook-bars > div").count()).toBe(24);
    await page.getByText("Show as a table").click();
    expect(await page.locator(".webhook-chart tbody tr").count()).toBe(24);
    await button(page, "Show more").click();
    await expect.poll(() => page.locator(".webhook-log tbody tr").count()).toBe(30);
    await page.locator(".webhook-log tbody button").nth(6).click();
    await dialog(page).getByText("thank you").waitFor();
    await dialog(page).getByText("The body is no longer kept.").waitFor();
    await clean(page);
  }
});

test("members without the permission neither see webhooks nor open their pages", async () => {
  const { id } = await person(app, "Paul", "member");
  const page = await open("/settings/account", desktop, id);
  const settings = page.getByRole("navigation", { name: "Settings" });
  await settings.getByRole("link", { name: "Organization" }).waitFor();
  expect(await settings.getByRole("link", { name: "Webhooks" }).count()).toBe(0);
  await page.goto(`${app.url}/settings/webhooks`);
  await page.getByRole("heading", { name: "Webhooks are for owners and administrators" }).waitFor();
  await clean(page);
});
