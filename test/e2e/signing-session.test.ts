import type { Browser, BrowserContext, Page } from "playwright";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { buildApps } from "../../scripts/build-apps.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { desktop, dialogReady, launch, phone, seriousFindings, visit } from "../harness/page.ts";
import { ada, codeFor, linkFor, mary, publishAgreement, publishNarrow, sendAgreement } from "./agreement.ts";
import { control, drawn, enterCode, finish } from "./steps.ts";

/** A verified session stays one: what happens within the page, and in further tabs of the same browser. */

const Sent = z.object({ id: z.string(), recipients: z.array(z.object({ id: z.string() })) });
let app: TestAppliance;
let browser: Browser;
let template: string;
let narrow: string;

beforeAll(async () => {
  await buildApps();
  app = await startAppliance();
  browser = await launch();
  template = await publishAgreement(app);
  narrow = await publishNarrow(app);
});
afterAll(async () => {
  await browser?.close();
  await app?.stop();
});

async function sendNarrow(person: Record<string, unknown> = ada) {
  const { status, body } = await app.json("/v1/envelopes", {
    json: { template: narrow, title: "Short agreement", recipients: [{ ...ada, ...person }] },
  });
  if (status !== 201) throw new Error(JSON.stringify(body));
  await app.jobs.idle();
  return Sent.parse(body);
}

const codes = async () => (await app.mail()).filter(({ kind }) => kind === "code").length;
const sessions = async (recipient: string) =>
  (await app.deps.db.read.selectFrom("signing_sessions").select("id").where("recipient", "=", recipient).execute())
    .length;

async function another(context: BrowserContext, address: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(address);
  return page;
}

describe("a verified session", () => {
  test("outlives the skip link and every other place in the address, with all that was filled in", async () => {
    await sendAgreement(app, template);
    const { page, context, troubles } = await visit(browser, desktop);
    await page.goto(await linkFor(app, ada.email));
    await enterCode(app, page, ada.email);
    await control(page, "Street and number").fill("Lindenhof 4");
    await page.getByText("Skip to the content").focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator("main").evaluate((main) => main === document.activeElement)).toBe(true);
    expect(await control(page, "Street and number").inputValue()).toBe("Lindenhof 4");
    for (const place of ["document", "page=2", "svc", ""]) {
      await page.evaluate((hash) => location.assign(`#${hash}`), place);
      await page.evaluate("new Promise((done) => requestIdleCallback(() => done()))");
    }
    await page.goBack();
    await page.goForward();
    expect(await control(page, "Street and number").inputValue()).toBe("Lindenhof 4");
    // The same link, pressed once more, may come into this tab.
    const link = await linkFor(app, ada.email);
    await page.evaluate((hash) => location.assign(hash), new URL(link).hash);
    await expect.poll(() => new URL(page.url()).hash).toBe("");
    expect(await control(page, "Street and number").inputValue()).toBe("Lindenhof 4");
    expect(troubles).toEqual([]);
    await context.close();
  });

  test("is the same after a reload, back from elsewhere, in a second tab, and at an address within the page", async () => {
    const { recipients } = await sendNarrow();
    const recipient = recipients[0]?.id ?? "";
    const link = await linkFor(app, ada.email);
    const { page, context, troubles } = await visit(browser, desktop);
    await page.goto(link);
    await enterCode(app, page, ada.email);
    const sent = await codes();
    await page.reload();
    await drawn(page);
    await page.goto(`${app.url}/verify`);
    await page.goBack();
    await drawn(page);
    await page.goto(`${app.url}/sign#document`);
    await drawn(page);
    await page.goto(link);
    await drawn(page);
    await drawn(await another(context, link));
    await drawn(await another(context, `${app.url}/sign#document`));
    // Also when no tab is open any more.
    for (const open of context.pages()) await open.close();
    await drawn(await another(context, link));
    expect(await codes()).toBe(sent);
    expect(await sessions(recipient)).toBe(1);
    expect(troubles).toEqual([]);
    await context.close();

    // Another browser starts afresh.
    const other = await visit(browser, phone);
    await other.page.goto(link);
    await other.page.getByRole("button", { name: "Send the code" }).waitFor();
    await other.context.close();
  });

  test("answers no other link: of another envelope, of another person, or sent again", async () => {
    const { id, recipients } = await sendNarrow();
    const link = await linkFor(app, ada.email);
    const { page, context } = await visit(browser, desktop);
    await page.goto(link);
    await enterCode(app, page, ada.email);
    await sendNarrow({ name: mary.name, email: mary.email });
    const foreign = await another(context, await linkFor(app, mary.email));
    await foreign.getByText(/m\*\*\*@example\.com/).waitFor();
    await sendNarrow();
    await foreign.goto(await linkFor(app, ada.email));
    await foreign.getByRole("button", { name: "Send the code" }).waitFor();
    await app.deps.db.tx((tx) =>
      tx.updateTable("recipients").set({ last_sent_at: null }).where("envelope", "=", id).execute(),
    );
    const path = `/v1/envelopes/${id}/recipients/${recipients[0]?.id}/resend`;
    expect((await app.call(path, { method: "POST" })).status).toBe(200);
    await app.jobs.idle();
    const fresh = await linkFor(app, ada.email);
    expect(fresh).not.toBe(link);
    await foreign.goto(fresh);
    await foreign.getByRole("button", { name: "Send the code" }).waitFor();
    // What is kept in the browser is readable to nobody without the link.
    const kept = await page.evaluate("JSON.stringify(localStorage)");
    const access = await page.evaluate("sessionStorage.getItem('signet.sign.access')");
    expect(String(access)).toMatch(/^svca_/);
    expect(String(kept)).not.toContain(String(access));
    expect(String(kept)).not.toContain("svc");
    await context.close();
  });

  test("that was minted opens once, and goes on in its own tab", async () => {
    const { id, recipients } = await sendNarrow();
    const { body } = await app.json(`/v1/envelopes/${id}/sessions`, { json: { recipient: recipients[0]?.id } });
    const { url } = z.object({ url: z.string() }).parse(body);
    const { page, context } = await visit(browser, desktop);
    await page.goto(url);
    await enterCode(app, page, ada.email);
    await page.goto(`${app.url}/verify`);
    await page.goto(url);
    await drawn(page);
    await (await another(context, url)).getByRole("heading", { name: "This link was already used" }).waitFor();
    await context.close();
  });

  test("that has ended is forgotten: the same link opens a new one", async () => {
    const { recipients } = await sendNarrow();
    const link = await linkFor(app, ada.email);
    const { page, context } = await visit(browser, desktop);
    await page.goto(link);
    await enterCode(app, page, ada.email);
    await app.deps.db.tx((tx) =>
      tx
        .updateTable("signing_sessions")
        .set({ ended_at: app.deps.clock.ts() })
        .where("recipient", "=", recipients[0]?.id ?? "")
        .execute(),
    );
    await page.reload();
    await page.getByText("Your session has ended.").waitFor();
    await page.evaluate((hash) => location.assign(hash), new URL(link).hash);
    await page.getByRole("button", { name: "Send the code" }).waitFor();
    await context.close();
  });

  test("that has ended in one tab leaves the one that another tab has opened since", async () => {
    const { recipients } = await sendNarrow();
    const recipient = recipients[0]?.id ?? "";
    const link = await linkFor(app, ada.email);
    const { page, context, troubles } = await visit(browser, desktop);
    await page.goto(link);
    await enterCode(app, page, ada.email);
    await app.deps.db.tx((tx) =>
      tx
        .updateTable("signing_sessions")
        .set({ ended_at: app.deps.clock.ts() })
        .where("recipient", "=", recipient)
        .execute(),
    );
    await enterCode(app, await another(context, link), ada.email);
    await page.reload();
    await page.getByText("Your session has ended.").waitFor();
    await expect.poll(() => page.evaluate("sessionStorage.getItem('signet.sign.access')")).toBeNull();
    await drawn(await another(context, link));
    await page.goto(link);
    await drawn(page);
    expect(await sessions(recipient)).toBe(2);
    expect(troubles).toEqual([]);
    await context.close();
  });

  test("is found by a tab without a link, also where the browser offers less: on pages that are not served securely", async () => {
    await sendNarrow();
    const { page, context, troubles } = await visit(browser, desktop);
    await context.addInitScript({
      content: `delete Crypto.prototype.randomUUID;
        Object.defineProperty(Crypto.prototype, "subtle", { value: undefined });`,
    });
    await page.goto(`${app.url}/sign`);
    await page.getByRole("heading", { name: "Open the link from your e-mail" }).waitFor();
    await page.goto(await linkFor(app, ada.email));
    await enterCode(app, page, ada.email);
    await drawn(await another(context, `${app.url}/sign`));
    expect(troubles).toEqual([]);
    await context.close();
  });
});

describe("the code", () => {
  test.each([
    ["fast", 3_600_000],
    ["slow", -3_600_000],
  ])("can be typed on a device whose clock is an hour %s, also after a reload", async (clock, offset) => {
    const email = `${clock}@example.com`;
    await sendNarrow({ email });
    const { page, context, troubles } = await visit(browser, desktop);
    await context.addInitScript({
      content: `{ const now = Date.now; Date.now = () => now() + ${offset}; }`,
    });
    const countdown = page.getByText(/You can ask for another one in \d+ s\./);
    const seconds = async () => Number(/ (\d+) s\./.exec((await countdown.textContent()) ?? "")?.[1]);
    await page.goto(await linkFor(app, email));
    await page.getByRole("button", { name: "Send the code" }).click();
    expect(await seconds()).toBeLessThanOrEqual(30);
    await page.getByLabel("Your code").waitFor();
    await page.reload();
    await page.getByLabel("Your code").waitFor();
    if (clock === "slow") expect(await seconds()).toBeLessThanOrEqual(30);
    else await page.getByRole("button", { name: "Send another one" }).waitFor();
    await page.getByLabel("Your code").fill(await codeFor(app, email));
    await drawn(page);
    expect(troubles).toEqual([]);
    await context.close();
  });

  test("can be typed after a reload, and another one only when it may be sent", async () => {
    await sendNarrow();
    const { page, context } = await visit(browser, desktop);
    await page.goto(await linkFor(app, ada.email));
    await page.getByRole("button", { name: "Send the code" }).click();
    await page.getByText(/You can ask for another one in \d+ s\./).waitFor();
    await page.reload();
    await page.getByText(/You can ask for another one in \d+ s\./).waitFor();
    expect(await page.getByRole("button", { name: "Send another one" }).count()).toBe(0);
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByLabel("Your code").waitFor();
    await context.close();
  });
});

describe("a text that is too long for its field", () => {
  test("is shown as it will be drawn, and how much of it fits is told before it is sent", async () => {
    const name = "Hubert Blaine Wolfeschlegelsteinhausenbergerdorff";
    await sendNarrow({ name, email: "hubert@example.com" });
    const { page, context, troubles } = await visit(browser, desktop);
    await page.goto(await linkFor(app, "hubert@example.com"));
    await enterCode(app, page, "hubert@example.com");
    const shown = (field: number) => page.locator(".field-fitted").nth(field);
    await expect.poll(() => page.locator("[data-type=full_name] .field-fitted").textContent()).toBe(name);
    const note = control(page, "Note");
    await note.fill("A sentence that needs more than one line of its field");
    await page.getByText(/Set in [\d.]+ pt in the document/).waitFor();
    await control(page, "Remarks").focus();
    await expect.poll(() => shown(1).evaluate((text) => text.scrollHeight <= text.clientHeight + 1)).toBe(true);
    await note.fill("Much too long. ".repeat(40));
    await page.getByText(/Too long for this field: \d+ of 600 characters fit\./).waitFor();
    await page.getByRole("button", { name: "Next" }).waitFor();
    expect(await page.locator(".field[data-state=problem]").count()).toBe(1);
    expect(await seriousFindings(page)).toEqual([]);
    const told = await page.getByText(/Too long for this field/).textContent();
    const room = Number(/: (\d+) of/.exec(told ?? "")?.[1]);
    await note.fill("Much too long. ".repeat(40).slice(0, room));
    await expect.poll(() => page.getByText(/Too long for this field/).count()).toBe(0);
    await page.getByRole("button", { name: /Sign here/ }).click();
    await page.getByText("Type", { exact: true }).click();
    await page.getByRole("button", { name: "Use this signature" }).click();
    await finish(page);
    await page.getByRole("heading", { name: /you have signed|Signed and sealed/ }).waitFor();
    expect(troubles).toEqual([]);
    await context.close();
  });
});

describe("a text that was too long for its field", () => {
  test("is shown in its usual size once it is short enough to need no measuring", async () => {
    const email = "short@example.com";
    // So short a name needs none either.
    await sendNarrow({ name: "Ada", email });
    const { page, context, troubles } = await visit(browser, desktop);
    await page.goto(await linkFor(app, email));
    await enterCode(app, page, email);
    const fitted = (label: string) =>
      page
        .locator(".field")
        .filter({ has: page.getByLabel(label, { exact: true }) })
        .locator(".field-fitted");
    const sizeOf = (text: ReturnType<typeof fitted>) => text.evaluate((shown) => getComputedStyle(shown).fontSize);
    const usual = await sizeOf(page.locator("[data-type=full_name] .field-fitted"));
    // Its id is a name that every object knows; nothing was typed all the same.
    expect(await control(page, "Remarks").inputValue()).toBe("");
    expect(await page.locator(".field[data-state=problem], .field[data-state=filled]").count()).toBe(0);
    const note = control(page, "Note");
    await note.fill("Much too long. ".repeat(40));
    await page.getByText(/Too long for this field: \d+ of 600 characters fit\./).waitFor();
    expect(await sizeOf(fitted("Note"))).not.toBe(usual);
    await note.fill("Short");
    await expect.poll(() => sizeOf(fitted("Note"))).toBe(usual);
    expect(await page.getByText(/Set in [\d.]+ pt/).count()).toBe(0);
    await control(page, "Remarks").fill("Nothing else");
    await expect.poll(() => control(page, "Remarks").inputValue()).toBe("Nothing else");
    expect(troubles).toEqual([]);
    await context.close();
  });
});

describe("assigning to someone else", () => {
  test.each([
    ["desktop", desktop],
    ["phone", phone],
  ])("with the keyboard, on a %s, to its end and after", async (_, device) => {
    const email = `${_}@example.com`;
    const { id } = await sendNarrow({ email });
    const link = await linkFor(app, email);
    const { page, context, troubles } = await visit(browser, device);
    await page.goto(link);
    await enterCode(app, page, email);
    await page.getByRole("button", { name: "More options" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("menuitem", { name: "Decline" }).waitFor();
    await page.getByRole("menuitem", { name: "Assign to someone else" }).focus();
    await page.keyboard.press("Enter");
    await dialogReady(page);
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByText("Enter a name.").waitFor();
    expect(await page.getByText(/^Enter (an e-mail address|a reason)\.$/).count()).toBe(2);
    const focused = (label: string) => page.getByLabel(label).and(page.locator(":focus")).waitFor();
    await focused("Their name");
    await page.keyboard.type("Nina Neu");
    await page.getByLabel("Their e-mail address").fill(email.toUpperCase());
    await page.getByLabel("Your reason").fill("She signs for the firm.");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByText("This is your own address.").waitFor();
    await focused("Their e-mail address");
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type("nina@example.com");
    await page.keyboard.press("Enter");
    await page.getByText(/Your own link stops working/).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole("button", { name: "Assign", exact: true }).click();
    const done = page.getByText(/Nina Neu \(nina@example\.com\) will receive an e-mail/);
    await done.waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.reload();
    await done.waitFor();
    await page.goto(link);
    await done.waitFor();
    const again = await another(context, link);
    await again.getByText(/Nina Neu \(nina@example\.com\) will receive an e-mail/).waitFor();
    const { body } = await app.json(`/v1/envelopes/${id}`);
    expect(body).toMatchObject({ recipients: [{ name: "Nina Neu", email: "nina@example.com", status: "sent" }] });
    // The new person signs in the same browser, with a code of their own.
    await app.jobs.idle();
    await again.goto(await linkFor(app, "nina@example.com"));
    await enterCode(app, again, "nina@example.com");
    expect(troubles).toEqual([]);
    await context.close();
  });
});
