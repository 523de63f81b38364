import path from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright";
import { sessionCookieName } from "../server/features/identity/sessions.ts";
import { WebhookEndpoint } from "../server/features/webhooks/contract.ts";
import { newId } from "../server/kernel/ids.ts";
import { publishAgreement, sendAgreement } from "../test/e2e/agreement.ts";
import { startAppliance, type TestAppliance } from "../test/harness/appliance.ts";
import { desktop, phone, settled, visit } from "../test/harness/page.ts";
import { enter, ok, publishTemplate, send, submission } from "../test/harness/scenario.ts";
import { allowing, type Receiver, startReceiver } from "../test/harness/webhook-receiver.ts";

/** Photographs the dashboard of a small estate agency on an ordinary day. */

const looks: readonly { name: string; options: BrowserContextOptions }[] = [
  { name: "light", options: { ...desktop, colorScheme: "light" } },
  { name: "dark", options: { ...desktop, colorScheme: "dark" } },
  { name: "phone", options: { ...phone, colorScheme: "light" } },
  { name: "phone-dark", options: { ...phone, colorScheme: "dark" } },
];

export async function photographDashboard(browser: Browser, folder: string): Promise<void> {
  const receiver = await startReceiver();
  // A name instead of an address: passkeys are bound to one.
  const app = await startAppliance({ env: { SIGNET_HOST: "localhost", ...allowing(receiver) } });
  try {
    const day = await ordinaryDay(app, receiver);
    for (const look of looks) {
      const { page, context } = await visit(browser, look.options);
      const shoot = async (name: string) => {
        await settled(page);
        await page.screenshot({ path: path.join(folder, `dashboard-${name}-${look.name}.png`) });
      };
      await doors(app, page, shoot);
      const value = day.cookie.slice(sessionCookieName.length + 1);
      const cookie = { name: sessionCookieName, value, url: "https://localhost" };
      await context.addCookies([{ ...cookie, httpOnly: true, secure: true, sameSite: "Lax" }]);
      await rooms(app, page, day, shoot);
      await context.close();
    }
  } finally {
    await app.stop();
    await receiver.stop();
  }
}

type Shoot = (name: string) => Promise<void>;
type Day = { cookie: string; template: string; waiting: string; completed: string; endpoint: string };

/** Envelopes in every state, colleagues, an invitation. */
async function ordinaryDay(app: TestAppliance, receiver: Receiver): Promise<Day> {
  const json = { url: receiver.url, description: "Bookkeeping" };
  const endpoint = WebhookEndpoint.parse((await ok(app, 201, "/v1/webhook-endpoints", { json })).body).id;
  const template = await publishAgreement(app);
  const short = await publishTemplate(app);
  const withdrawn = await send(app, short);
  await ok(app, 200, `/v1/envelopes/${withdrawn.id}/void`, { json: { reason: "The flat is let already." } });
  const done = await send(app, short);
  for (const { email } of done.recipients) {
    const bearer = await enter(app, email);
    await ok(app, 200, "/v1/signing/submit", { key: { bearer }, json: await submission(app, bearer) });
    await app.jobs.idle();
  }
  await sendAgreement(app, template);
  const waiting = await sendAgreement(app, template);
  await app.jobs.idle();
  const cookie = await app.signIn();
  const headers = { cookie, origin: new URL(app.url).origin };
  for (const email of ["mia.member@lindenhof.example", "tom@lindenhof.example"])
    await ok(app, 201, "/auth/organization/invitations", { key: null, headers, json: { email, role: "member" } });
  return { cookie, template, waiting, completed: done.id, endpoint };
}

/** What stands before the dashboard. */
async function doors(app: TestAppliance, page: Page, shoot: Shoot): Promise<void> {
  for (const [name, place] of [
    ["sign-in", "/sign-in"],
    ["sign-up", "/sign-up"],
    ["forgot", "/password/forgot"],
    ["first-owner", `/first-owner#svcf_${"x".repeat(49)}`],
    ["reset", `/password/reset#svcr_${"x".repeat(49)}`],
    ["magic", `/magic#svcm_${"x".repeat(49)}`],
    ["invite-gone", `/invite#svci_${"x".repeat(49)}`],
  ] as const) {
    await page.goto("about:blank");
    await page.goto(`${app.url}${place}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.waitForLoadState("networkidle");
    await shoot(name);
  }
}

/** Every page of a member who may do everything. */
async function rooms(app: TestAppliance, page: Page, day: Day, shoot: Shoot): Promise<void> {
  const open = async (place: string, name: string) => {
    await page.goto(`${app.url}${place}`);
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    // The streams of news never end; half a second without anything else is quiet enough for a photograph.
    await page.waitForLoadState("networkidle");
    await shoot(name);
  };
  await open("/", "overview");
  await open("/envelopes", "envelopes");
  await open("/envelopes?q=nothing%20has%20this%20name", "envelopes-none");
  await open(`/envelopes/${day.waiting}`, "envelope");
  await open(`/envelopes/${day.completed}`, "envelope-completed");
  await open("/send", "send-template");
  await open(`/send?template=${day.template}`, "send-people");
  await open(`/bulk?template=${day.template}`, "bulk");
  await open("/templates", "templates");
  await open(`/templates/${day.template}`, "template");
  for (const place of ["account", "organization", "members", "keys", "branding", "audit"])
    await open(`/settings/${place}`, `settings-${place}`);
  for (const place of ["webhooks", "webhooks/events", "webhooks/check"])
    await open(`/settings/${place}`, `settings-${place.replace("/", "-")}`);
  await open(`/settings/webhooks/${day.endpoint}`, "settings-webhooks-endpoint");
  await open(`/envelopes/${newId("env")}`, "missing");
}
