import type { Browser, Page } from "playwright";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { locales } from "../../locales/read.ts";
import { buildApps } from "../../scripts/build-apps.ts";
import { deliveryErrorCodes, WebhookEndpoint } from "../../server/features/webhooks/contract.ts";
import { newDelivery } from "../../server/features/webhooks/deliveries.ts";
import { insertDeliveries, updateEndpoint } from "../../server/features/webhooks/store.ts";
import { toTs } from "../../server/kernel/clock.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import {
  addSession,
  desktop,
  dialogReady,
  launch,
  overflow,
  phone,
  settled,
  shareOf,
  type Visit,
  visit,
} from "../harness/page.ts";
import { samplePdf } from "../harness/pdfs.ts";
import { pseudoLanguage, pseudoMessage, pseudoWords } from "../harness/pseudo.ts";
import { untranslated } from "../harness/pseudo-page.ts";
import { codeOf, linkTokenOf, publishTemplate, send } from "../harness/scenario.ts";
import { drawn } from "./steps.ts";

/**
 * The pages in a language that was added: every word of theirs is one of its catalogue, and its longer words have room. What stands
 * there without accents was not translated.
 */

let app: TestAppliance;
let browser: Browser;
let template: string;
let envelope: string;
let endpoint: string;
let cookie: string;
let visits: Visit[] = [];

beforeAll(async () => {
  await buildApps();
  app = await startAppliance();
  browser = await launch();
  const roles = [
    { name: "Tenant", order: 1, verification: "none" },
    { name: "Landlord", order: 2, verification: "none" },
  ];
  template = await publishTemplate(app, { roles, settings: { allowReassign: true } });
  const viewers = [{ email: "lea@example.org", name: "Lea", locale: pseudoLanguage }];
  const sent = await send(app, template, {
    envelope: { viewerDocumentAccess: true, viewers },
    tenant: { locale: pseudoLanguage },
  });
  envelope = sent.id;
  endpoint = await webhookEndpoint();
  cookie = await app.signIn();
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
});

/** An endpoint that is never called, with attempts of each kind. */
async function webhookEndpoint(): Promise<string> {
  const json = { url: "https://8.8.8.8/hooks", events: ["envelope.expired"] };
  const { id, url } = WebhookEndpoint.parse((await app.json("/v1/webhook-endpoints", { json })).body);
  const now = app.deps.clock.now();
  const attempt = (change: Partial<ReturnType<typeof newDelivery>>) => {
    const plan = { attempt: 1, trigger: "event", at: now, createdAt: now, until: now } as const;
    const made = newDelivery({ endpoint: id, url, event: "evt_1", type: "envelope.expired" }, plan);
    return { ...made, sent_at: toTs(now), duration_ms: 1, ...change };
  };
  const failed = { status: "failed", error_message: "" } as const;
  await app.deps.db.tx(async (tx) => {
    await insertDeliveries(tx, [
      attempt({ status: "succeeded", status_code: 200, final: 1 }),
      attempt({ ...failed, error_code: "redirect", status_code: 301, trigger: "redeliver" }),
      ...deliveryErrorCodes.map((error_code) => attempt({ ...failed, error_code, trigger: "retry", final: 1 })),
      attempt({ sent_at: null, duration_ms: null, trigger: "test" }),
    ]);
    const since = toTs(now - 48 * 3_600_000);
    await updateEndpoint(tx, id, { failing_since: since, last_failure_at: since, last_status_code: 410 });
  });
  return id;
}

/** A browser that asks for the language, of an appliance that has it besides. */
async function speaker(options: Parameters<typeof visit>[1]): Promise<Page> {
  const seen = await visit(browser, { ...options, locale: pseudoLanguage, intercepted: true });
  visits.push(seen);
  await seen.context.route("**/*", async (route) => {
    const { pathname } = new URL(route.request().url());
    const [, language, name = ""] = /^\/locales\/([\w-]+)\/([\w-]+)\.json$/.exec(pathname) ?? [];
    if (language === pseudoLanguage) return route.fulfill({ json: pseudoWords(locales().words("en", name)) });
    if (route.request().resourceType() !== "document") return route.fallback();
    const response = await route.fetch();
    const body = (await response.text()).replace('data-languages="', `data-languages="${pseudoLanguage} `);
    return route.fulfill({ response, body });
  });
  return seen.page;
}

/** What people gave. */
const names = [
  /[\w*]+@example.com|\b(Bern|Caveat|Dancing Script|Great Vibes|Homemade Apple)\b|Ada Muster|Ben Beispiel|Flat 12|Rental agreement|Tenant|Landlord|(live|test) key|Lea\b/g,
  /\b(envelope|recipient|signing_link|webhook)\.\w+|https:\/\//g,
  /^(EL|OO)$|\(Pseudo-Accents\)| and /g,
];

async function speaks(page: Page, where: string): Promise<void> {
  await page.locator("h1, h2").first().waitFor();
  await settled(page);
  await page.waitForFunction(() => document.querySelector("main .loading, main [aria-busy=true]") === null);
  expect.soft(await page.getAttribute("html", "lang"), where).toBe(pseudoLanguage);
  expect.soft(await untranslated(page, pseudoLanguage, names), where).toEqual([]);
  expect.soft(await overflow(page), `${where}: too wide by`).toBe(0);
}

const looks = ["desk", "phone"] as const;
const devices = { desk: desktop, phone };

test.each(looks)("the dashboard, on a %s", async (look) => {
  const page = await speaker(devices[look]);
  const see = async (addresses: string[]) => {
    for (const address of shareOf(look, looks, addresses)) {
      await page.goto(`${app.url}${address}`);
      await speaks(page, `${look} ${address}`);
    }
  };
  await see(["/sign-in", "/sign-up", "/password/forgot"]);
  await addSession(page.context(), app, cookie);
  await see([
    ...["/", "/envelopes", `/envelopes/${envelope}`, "/templates", `/templates/${template}`, "/send", "/bulk"],
    ...["people", "content", "review"].map((step) => `/send?template=${template}&step=${step}`),
    ...[
      "organization",
      "members",
      "keys",
      "webhooks",
      "webhooks/events",
      "webhooks/check",
      `webhooks/${endpoint}`,
      "branding",
      "audit",
      "account",
    ].map((part) => `/settings/${part}`),
  ]);
});

test("what is asked about a webhook endpoint, and what is said of an attempt", async () => {
  const page = await speaker(phone);
  await addSession(page.context(), app, cookie);
  await page.goto(`${app.url}/settings/webhooks/${endpoint}`);
  const press = (english: string) =>
    page
      .getByRole("button", { name: pseudoMessage(english), exact: true })
      .first()
      .click();
  for (const [opener, last] of [
    ["Edit", "Save"],
    ["Send events again since…", "Send events again"],
    ["Rotate secret", "Replace secret"],
  ] as const) {
    await press(opener);
    await page
      .getByRole("dialog")
      .getByRole("button", { name: pseudoMessage(last), exact: true })
      .waitFor();
    await dialogReady(page);
    await speaks(page, opener);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
  }
  await press("Reveal secret");
  await page
    .getByRole("dialog")
    .getByRole("button", { name: pseudoMessage("Done"), exact: true })
    .waitFor();
  await speaks(page, "the secret");
  await press("Done");
  await page.locator(".webhook-log tbody tr[data-status=succeeded] button").click();
  await dialogReady(page);
  await speaks(page, "an attempt");
});

test.each(looks)("the pages for everybody: signing, following, checking, the API, on a %s", async (look) => {
  const page = await speaker(devices[look]);
  const linkOf = async (kind: string) => (await app.mail()).find((mail) => mail.kind === kind)?.link ?? "";
  const places = [
    ["sign", await linkOf("signing_request")],
    ["view", await linkOf("viewer_invite")],
    ["sign without a link", `${app.url}/sign`],
    ["view without a link", `${app.url}/view`],
    ["docs", `${app.url}/docs`],
    ["docs of an operation", `${app.url}/docs#createEnvelope`],
  ] as const;
  for (const [where, address] of shareOf(look, looks, places)) {
    // Away first: only the fragment differs.
    await page.goto("about:blank");
    await page.evaluate("0");
    await page.goto(address);
    await speaks(page, `${look} ${where}`);
    if (where.endsWith("without a link")) await page.evaluate("sessionStorage.clear()");
  }
  await page.goto(`${app.url}/verify`);
  await speaks(page, `${look} verify`);
  const buffer = Buffer.from(await samplePdf({ pages: 1 }));
  await page.setInputFiles("input[type=file]", { name: "plain.pdf", mimeType: "application/pdf", buffer });
  await page.locator(".report").waitFor();
  await speaks(page, `${look} a report`);
});

test.each(looks)("what a signer is asked, on a %s", async (look) => {
  const email = `${look}@example.com`;
  await send(app, template, { tenant: { email, locale: pseudoLanguage, verification: "email_otp" } });
  const page = await speaker(devices[look]);
  const button = (english: string) => page.getByRole("button", { name: pseudoMessage(english), exact: true });
  await page.goto(`${app.url}/sign#${await linkTokenOf(app, email)}`);
  await button("Send the code").click();
  const code = page.getByLabel(pseudoMessage("Your code"));
  await code.waitFor();
  await speaks(page, `${look} the code`);
  await code.fill(await codeOf(app, email));
  await drawn(page);
  await speaks(page, `${look} the document`);
  for (const entry of ["Decline", "Assign to someone else"]) {
    await button("More options").click();
    await page.getByRole("menuitem", { name: pseudoMessage(entry) }).click();
    await dialogReady(page);
    await speaks(page, `${look} ${entry}`);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
  }
  if (look === "phone") {
    await button("Next").click();
    await page.locator(".dock input").fill("Bern");
    await speaks(page, `${look} filling in`);
  } else await page.locator('.field [data-field="city"]').fill("Bern");
  await page.locator('.field [data-field="tenant-sign"]').click();
  await dialogReady(page);
  await speaks(page, `${look} drawing`);
  await page.getByText(pseudoMessage("Type"), { exact: true }).click();
  await speaks(page, `${look} typing`);
  await button("Use this signature").click();
  await button("Finish").click();
  await dialogReady(page);
  await speaks(page, `${look} agreeing`);
  await page.getByLabel(pseudoMessage("I have read this and I agree.")).check();
  await button("Sign").click();
  await page.getByRole("heading", { name: pseudoMessage("Thank you, you have signed") }).waitFor();
  await speaks(page, `${look} the end`);
});
