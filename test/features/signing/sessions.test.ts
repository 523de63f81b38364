import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OtpSent } from "../../../server/features/signing/contract.ts";
import { embedOriginOf } from "../../../server/features/signing/service.ts";
import { newSecret } from "../../../server/kernel/ids.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { movableClock } from "../../harness/clock.ts";
import { png } from "../../harness/pictures.ts";
import {
  auditOf,
  codeOf,
  enter,
  enterCode,
  envelopeOf,
  exchange,
  linkTokenOf,
  ok,
  publishTemplate,
  readDocument,
  recipientOf,
  refusal,
  send,
  submission,
  viewOf,
} from "../../harness/scenario.ts";

const minute = 60_000;
const hour = 60 * minute;
const clock = movableClock();
let app: TestAppliance;
let template: string;

beforeAll(async () => {
  app = await startAppliance({ clock });
  template = await publishTemplate(app, { settings: { allowReassign: true } });
});
afterAll(async () => app.stop());

/** Moves the clock and lets what became due run. */
async function advance(ms: number): Promise<void> {
  clock.advance(ms);
  app.jobs.wake();
  await app.jobs.idle();
}

const used = { status: 401, code: "token-used" };
const expired = { status: 401, code: "token-expired" };
const invalid = { status: 401, code: "token-invalid" };
const tryExchange = (token: string) => refusal(app, "/v1/signing/exchange", { key: null, json: { token } });
const trySession = (bearer: string | null) =>
  refusal(app, "/v1/signing/session", { key: bearer === null ? null : { bearer } });

type Minted = { id: string; token: string; url: string; expiresAt: string; embedOrigin: string | null };
async function mint(
  envelope: string,
  recipient: string,
  more: Record<string, unknown> = {},
  key: "live" | "test" = "live",
) {
  const reply = await ok(app, 201, `/v1/envelopes/${envelope}/sessions`, { json: { recipient, ...more }, key });
  return reply.body as Minted;
}

describe("links from mails", () => {
  test("are exchanged again and again; the third session ends the first", async () => {
    const { id } = await send(app, template);
    const token = await linkTokenOf(app, "ada@example.com");
    const sessions: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      sessions.push((await exchange(app, token)).accessToken);
      await advance(1000);
    }
    const [first = "", second = "", third = ""] = sessions;
    expect(await trySession(first)).toEqual(expired);
    await viewOf(app, second);
    await viewOf(app, third);
    expect(recipientOf(await envelopeOf(app, id), "Tenant").status).toBe("viewed");
  });

  test("unknown, mistyped and foreign tokens", async () => {
    expect(await tryExchange("svcs_x")).toEqual(invalid);
    expect(await tryExchange(newSecret("svcs"))).toEqual(invalid);
    expect(await tryExchange(newSecret("svca"))).toEqual(invalid);
    expect(await trySession(null)).toEqual(invalid);
    expect(await trySession("nonsense")).toEqual(invalid);
    expect(await trySession(newSecret("svca"))).toEqual(invalid);
    expect(await trySession(app.keys.live)).toEqual(invalid);
  });

  test("last 30 days; a fresh one is mailed at most once a minute while it is the recipient's turn", async () => {
    const tenant = { email: "fay@example.com" };
    const { id } = await send(app, template, { tenant });
    const token = await linkTokenOf(app, tenant.email);
    await advance(30 * 24 * hour - 1000);
    await exchange(app, token);
    await advance(1000);
    expect(await tryExchange(token)).toEqual(expired);
    const ask = async (text: string) => {
      const response = await app.call("/v1/signing/fresh-link", { key: null, json: { token: text } });
      expect([response.status, await response.text()]).toEqual([202, ""]);
    };
    const links = async () =>
      (await app.mail()).filter((one) => one.envelope === id && one.kind === "signing_request").length;
    await ask(newSecret("svcs"));
    expect(await links()).toBe(1);
    await ask(token);
    expect(await links()).toBe(2);
    await ask(token);
    expect(await links()).toBe(2);
    await advance(minute);
    await ask(token);
    expect(await links()).toBe(3);
    await exchange(app, await linkTokenOf(app, tenant.email));
    await ok(app, 200, `/v1/envelopes/${id}/void`, { json: { reason: "No more" } });
    await advance(minute);
    await ask(token);
    expect(await links()).toBe(3);
  });

  test("a resend takes the place of earlier links and lifts a lock", async () => {
    const tenant = { email: "loc@example.com" };
    const { id, recipients } = await send(app, template, { tenant });
    const recipient = recipients[0]?.id ?? "";
    const token = await linkTokenOf(app, tenant.email);
    let tries = 0;
    // Twenty wrong codes in a day: five a code, new sessions as needed.
    while (tries < 20) {
      const { accessToken: bearer } = await exchange(app, token);
      await ok(app, 202, "/v1/signing/otp", { key: { bearer }, method: "POST" });
      await advance(1000);
      const code = await codeOf(app, tenant.email);
      const json = { code: code === "000000" ? "000001" : "000000" };
      for (let count = 0; count < 5; count += 1, tries += 1) {
        expect(await refusal(app, "/v1/signing/otp/verify", { key: { bearer }, json })).toMatchObject({
          code: "otp-invalid",
        });
      }
    }
    const { accessToken: bearer } = await exchange(app, token);
    const locked = await app.json("/v1/signing/otp", { key: { bearer }, method: "POST" });
    expect([locked.status, locked.headers.get("retry-after")]).toEqual([429, "3600"]);
    const tried = await app.json("/v1/signing/otp/verify", { key: { bearer }, json: { code: "123456" } });
    expect([tried.status, tried.headers.get("retry-after")]).toEqual([422, "3600"]);
    expect(tried.body).toMatchObject({ code: "otp-exhausted" });
    expect((await auditOf(app, id)).data.filter(({ type }) => type === "recipient.locked")).toHaveLength(1);
    await advance(minute);
    await ok(app, 200, `/v1/envelopes/${id}/recipients/${recipient}/resend`, { method: "POST" });
    await app.jobs.idle();
    expect(await tryExchange(token)).toEqual(expired);
    await enter(app, tenant.email);
  });

  test("a resend has ended earlier links when it answers, before the new one is mailed", async () => {
    const other = await startAppliance({ clock });
    try {
      const { id, recipients } = await send(other, await publishTemplate(other));
      const token = await linkTokenOf(other, "ada@example.com");
      clock.advance(minute);
      await other.jobs.stop(60_000);
      await ok(other, 200, `/v1/envelopes/${id}/recipients/${recipients[0]?.id}/resend`, { method: "POST" });
      const again = { key: null, json: { token } };
      expect(await refusal(other, "/v1/signing/exchange", again)).toEqual(expired);
      expect(await refusal(other, "/v1/signing/session", { key: { bearer: token } })).toEqual(expired);
    } finally {
      await other.stop();
    }
  });

  test("many failures from one address are slowed down, good tokens from it are not", async () => {
    await advance(minute);
    const { accessToken } = await exchange(app, await goodToken("gus@example.com"));
    expect(accessToken).toMatch(/^svca_/);
    const replies = await Promise.all(Array.from({ length: 40 }, () => tryExchange(newSecret("svcs"))));
    expect(replies.filter(({ status }) => status === 401)).toHaveLength(30);
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(10);
    await exchange(app, await goodToken("ida@example.com"));
    await advance(minute);
  });

  async function goodToken(email: string): Promise<string> {
    await send(app, template, { tenant: { email } });
    return await linkTokenOf(app, email);
  }
});

describe("minted sessions", () => {
  test("open once, for the recipient whose turn it is, in the page of the origin that was named", async () => {
    const { id, recipients } = await send(app, template, {
      tenant: { delivery: "embedded", email: "emb@example.com" },
    });
    const [tenant, landlord] = recipients.map((one) => one.id);
    if (!tenant || !landlord) throw new Error("two recipients");
    expect(
      (await app.mail()).some(({ to, kind }) => to.email === "emb@example.com" && kind === "signing_request"),
    ).toBe(false);
    const session = await mint(id, tenant, {
      embedOrigin: "https://app.example.com",
      redirectUrl: "https://a.example/",
    });
    expect(session.url).toBe(`${app.url}/sign/${session.id}#${session.token}`);
    expect(await embedOriginOf(app.deps, session.id)).toBe("https://app.example.com");
    expect(await embedOriginOf(app.deps, "ses_unknown")).toBeNull();
    const opened = await exchange(app, session.token);
    expect(opened).toMatchObject({ session: session.id, embedOrigin: "https://app.example.com" });
    expect(await tryExchange(session.token)).toEqual(used);
    await enterCode(app, opened.accessToken, "emb@example.com");
    expect((await viewOf(app, opened.accessToken)).redirectUrl).toBe("https://a.example/");
    const path = `/v1/envelopes/${id}/sessions`;
    expect(await refusal(app, path, { json: { recipient: landlord } })).toMatchObject({ code: "not-recipients-turn" });
    expect(await refusal(app, path, { json: { recipient: "rcp_x" } })).toMatchObject({ at: ["#/recipient"] });
    expect(await refusal(app, path, { json: { recipient: tenant }, key: "test" })).toMatchObject({ status: 404 });
    const bearer = opened.accessToken;
    await ok(app, 200, "/v1/signing/submit", { key: { bearer }, json: await submission(app, bearer) });
    expect(await refusal(app, path, { json: { recipient: tenant } })).toMatchObject({ code: "recipient-finished" });
    await ok(app, 200, `/v1/envelopes/${id}/void`, { json: { reason: "No more" } });
    expect(await refusal(app, path, { json: { recipient: landlord } })).toMatchObject({
      code: "envelope-not-in-progress",
    });
  });

  test("last ten minutes unless said otherwise", async () => {
    const { id, recipients } = await send(app, template);
    const tenant = recipients[0]?.id ?? "";
    const short = await mint(id, tenant, { expiresInSeconds: 60 });
    const normal = await mint(id, tenant);
    expect(Date.parse(normal.expiresAt) - clock.now()).toBe(10 * minute);
    await advance(minute);
    expect(await tryExchange(short.token)).toEqual(expired);
    await exchange(app, normal.token);
    const path = `/v1/envelopes/${id}/sessions`;
    for (const expiresInSeconds of [59, 3601, 61.5]) {
      expect(await refusal(app, path, { json: { recipient: tenant, expiresInSeconds } })).toMatchObject({
        status: 422,
      });
    }
  });

  test("origins and redirects: https, and http://localhost only while testing", async () => {
    const live = await send(app, template);
    const test = await send(app, template, { key: "test" });
    const tryMint = async (more: Record<string, unknown>, mode: "live" | "test") => {
      const { id, recipients } = mode === "live" ? live : test;
      const json = { recipient: recipients[0]?.id, ...more };
      return (await app.json(`/v1/envelopes/${id}/sessions`, { key: mode, json })).status;
    };
    const local = { embedOrigin: "http://localhost:3000" };
    expect(await tryMint(local, "test")).toBe(201);
    expect(await tryMint(local, "live")).toBe(422);
    for (const embedOrigin of ["https://App.Example.com/", "https://müller.example:8443", "https://[2001:db8::1]"]) {
      expect([embedOrigin, await tryMint({ embedOrigin }, "live")]).toEqual([embedOrigin, 201]);
    }
    expect(await tryMint({ redirectUrl: "http://localhost:3000/done" }, "test")).toBe(201);
    for (const embedOrigin of [
      "http://app.example.com",
      "https://app.example.com/path",
      "https://app.example.com?x",
      "https://u:p@app.example.com",
      "https://app.example.com; script-src *",
      "https://app.example.com;script-src",
      "https://*.example.com",
      "https://*",
      "https://a,b",
      "https://a'b",
      "javascript:alert(1)",
      "null",
      "*",
    ]) {
      expect([embedOrigin, await tryMint({ embedOrigin }, "test")]).toEqual([embedOrigin, 422]);
    }
    for (const redirectUrl of ["http://a.example/", "https://u@a.example/", "javascript:alert(1)", "/done"]) {
      expect([redirectUrl, await tryMint({ redirectUrl }, "test")]).toEqual([redirectUrl, 422]);
    }
  });

  test("a repeated request with the same key makes one session", async () => {
    const { id, recipients } = await send(app, template);
    const call = { json: { recipient: recipients[0]?.id }, headers: { "idempotency-key": "mint-1" } };
    const first = await ok(app, 201, `/v1/envelopes/${id}/sessions`, call);
    const second = await ok(app, 201, `/v1/envelopes/${id}/sessions`, call);
    expect(second.body).toEqual(first.body);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect((await auditOf(app, id)).data.filter(({ type }) => type === "recipient.session_created")).toHaveLength(1);
  });

  test("a session token may be the credential itself: it then stands for one session", async () => {
    const { id, recipients } = await send(app, template, { tenant: { verification: "none" } });
    const { token } = await mint(id, recipients[0]?.id ?? "");
    const views = await Promise.all(Array.from({ length: 5 }, () => viewOf(app, token)));
    expect(new Set(views.map(({ state }) => state))).toEqual(new Set(["ready"]));
    expect((await auditOf(app, id)).data.filter(({ type }) => type === "recipient.session_opened")).toHaveLength(1);
    expect(await tryExchange(token)).toEqual(used);
    await advance(20 * minute);
    await ok(app, 200, "/v1/signing/submit", { key: { bearer: token }, json: await submission(app, token) });
    await advance(61 * minute);
    expect(await trySession(token)).toEqual(expired);
  });
});

describe("access", () => {
  test("slides by an hour and ends after twelve", async () => {
    await send(app, template, { tenant: { email: "sly@example.com" } });
    const { accessToken } = await exchange(app, await linkTokenOf(app, "sly@example.com"));
    for (let step = 0; step < 12; step += 1) {
      await advance(59 * minute);
      const view = await viewOf(app, accessToken);
      expect(Date.parse(view.accessTokenExpiresAt) - clock.now()).toBeLessThanOrEqual(hour);
    }
    await advance(12 * minute);
    expect(await trySession(accessToken)).toEqual(expired);
    const idle = await exchange(app, await linkTokenOf(app, "sly@example.com"));
    await advance(hour);
    expect(await trySession(idle.accessToken)).toEqual(expired);
  });
});

describe("codes", () => {
  test("die after ten minutes, and with the next one; five in a quarter of an hour", async () => {
    const email = "otto@example.com";
    await send(app, template, { tenant: { email } });
    const { accessToken: bearer } = await exchange(app, await linkTokenOf(app, email));
    const key = { bearer };
    const ask = () => ok(app, 202, "/v1/signing/otp", { key, method: "POST" });
    await ask();
    const first = await codeOf(app, email);
    await advance(10 * minute);
    expect(await refusal(app, "/v1/signing/otp/verify", { key, json: { code: first } })).toMatchObject({
      code: "otp-expired",
    });
    await ask();
    const second = await codeOf(app, email);
    // Not before the moment that was named; other sessions of this person have a pause of their own.
    const soon = await app.json("/v1/signing/otp", { key, method: "POST" });
    expect([soon.status, soon.headers.get("retry-after")]).toEqual([429, "30"]);
    await advance(29_999);
    expect((await app.json("/v1/signing/otp", { key, method: "POST" })).headers.get("retry-after")).toBe("1");
    await advance(1);
    await ask();
    if (second !== (await codeOf(app, email))) {
      expect(await refusal(app, "/v1/signing/otp/verify", { key, json: { code: second } })).toMatchObject({
        code: "otp-invalid",
      });
    }
    await advance(30_000);
    await ask();
    await advance(30_000);
    const fifth = await ask();
    // A page that is loaded again learns of the code that was sent, and when it may ask for another.
    const { expiresAt, resendAt: again } = OtpSent.parse(fifth.body);
    expect((await viewOf(app, bearer)).otp.sent).toEqual({ expiresAt, resendAt: again });
    expect((await exchange(app, await linkTokenOf(app, email))).otp.sent).toBeNull();
    const resendAt = Date.parse(String(Object(fifth.body).resendAt));
    const limited = await app.json("/v1/signing/otp", { key, method: "POST" });
    expect(limited.status).toBe(429);
    expect(Number(limited.headers.get("retry-after"))).toBe((resendAt - clock.now()) / 1000);
    await advance(resendAt - clock.now());
    await ask();
    // Codes are kept as keyed hashes only, mails encrypted.
    const rows = await app.deps.db.read.selectFrom("signing_codes").selectAll().execute();
    expect(rows.every(({ hmac }) => /^[0-9a-f]{64}$/.test(hmac))).toBe(true);
  });
});

describe("passing on", () => {
  test("the new person starts afresh, the old one is out", async () => {
    const { id, recipients } = await send(app, template, { tenant: { email: "old@example.com" } });
    const token = await linkTokenOf(app, "old@example.com");
    const bearer = await enter(app, "old@example.com");
    const key = { bearer };
    const body = await submission(app, bearer);
    const to = { name: "Nina Neu", email: "new@example.com", reason: "She signs for the firm." };
    expect(
      await refusal(app, "/v1/signing/reassign", { key, json: { ...to, email: "OLD@example.com" } }),
    ).toMatchObject({
      at: ["#/email"],
    });
    expect((await ok(app, 200, "/v1/signing/reassign", { key, json: to })).body).toEqual({ status: "reassigned" });
    expect(await trySession(bearer)).toEqual(expired);
    expect(await tryExchange(token)).toEqual(invalid);
    await app.jobs.idle();
    expect(recipientOf(await envelopeOf(app, id), "Tenant")).toMatchObject({
      id: recipients[0]?.id,
      name: "Nina Neu",
      email: "new@example.com",
      status: "sent",
      verifiedAt: null,
    });
    const opened = await exchange(app, await linkTokenOf(app, "new@example.com"));
    expect((await viewOf(app, opened.accessToken)).state).toBe("otp_required");
    await enterCode(app, opened.accessToken, "new@example.com");
    // What the old person was shown does not count for the new one.
    const newKey = { bearer: opened.accessToken };
    expect(await refusal(app, "/v1/signing/submit", { key: newKey, json: body })).toMatchObject({
      code: "document-changed",
    });
    await readDocument(app, opened.accessToken);
    await ok(app, 200, "/v1/signing/submit", { key: newKey, json: body });
    const trail = await auditOf(app, id);
    expect(trail.data.find(({ type }) => type === "recipient.reassigned")?.data).toMatchObject({
      from: { email: "old@example.com" },
      to: { email: "new@example.com" },
    });
    expect(trail.verification.valid).toBe(true);
  });
});

describe("the rest", () => {
  test("uploads that nobody submits are gone after a day", async () => {
    await send(app, template, { tenant: { verification: "none", email: "att@example.com" } });
    const token = await linkTokenOf(app, "att@example.com");
    const { accessToken: bearer } = await exchange(app, token);
    const form = new FormData();
    form.append("field", "card");
    form.append("file", new Blob([new Uint8Array(png(2, 2))], { type: "image/png" }), "a.png");
    const { body } = await ok(app, 201, "/v1/signing/attachments", { key: { bearer }, body: form });
    await advance(24 * hour);
    const later = (await exchange(app, token)).accessToken;
    expect((await viewOf(app, later)).attachments).toEqual([]);
    const json = await submission(app, later, { fields: { city: "Bern", card: [String(Object(body).id)] } });
    expect(await refusal(app, "/v1/signing/submit", { key: { bearer: later }, json })).toMatchObject({
      at: ["#/fields/card"],
    });
  });

  test("an envelope that expired closes the page", async () => {
    const expiresAt = new Date(clock.now() + 2 * hour).toISOString();
    await send(app, template, { tenant: { verification: "none", email: "exp@example.com" }, envelope: { expiresAt } });
    const bearer = await enter(app, "exp@example.com");
    const json = await submission(app, bearer);
    await advance(59 * minute);
    await viewOf(app, bearer);
    await advance(59 * minute);
    await viewOf(app, bearer);
    await advance(2 * minute);
    expect(await viewOf(app, bearer)).toMatchObject({ state: "closed", document: null, fields: [] });
    const over = { status: 409, code: "envelope-not-in-progress" };
    expect(await refusal(app, "/v1/signing/submit", { key: { bearer }, json })).toEqual(over);
    expect(await refusal(app, "/v1/signing/document", { key: { bearer } })).toEqual(over);
  });

  test("a countersigner signs by itself when its turn comes", async () => {
    const countersigned = await publishTemplate(app, {
      roles: [
        { name: "Tenant", order: 1, verification: "none" },
        {
          name: "Landlord",
          kind: "countersigner",
          order: 2,
          countersigner: { name: "Example Ltd", email: "sign@example.com" },
        },
      ],
    });
    const { id } = await send(app, countersigned, {
      envelope: { recipients: [{ role: "Tenant", name: "Ada Muster", email: "cou@example.com" }] },
    });
    const bearer = await enter(app, "cou@example.com");
    await ok(app, 200, "/v1/signing/submit", { key: { bearer }, json: await submission(app, bearer) });
    await app.jobs.idle();
    const done = await envelopeOf(app, id);
    expect(done.status).toBe("completed");
    expect(done.values?.recipients.Landlord).toMatchObject({ "landlord-sign": { method: "automatic" } });
  });

  test("in test mode the documents and the flow are the same; mails to strangers are kept back", async () => {
    const { id } = await send(app, template, {
      key: "test",
      tenant: { verification: "none", email: "tst@example.com" },
    });
    const mail = (await app.mail()).find((one) => one.envelope === id && one.kind === "signing_request");
    expect(mail).toMatchObject({ status: "held", testMode: true });
    const bearer = await enter(app, "tst@example.com");
    await ok(app, 200, "/v1/signing/submit", { key: { bearer }, json: await submission(app, bearer) });
    expect(recipientOf(await envelopeOf(app, id, "test"), "Tenant").status).toBe("completed");
  });
});
