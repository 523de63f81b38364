import { expect, onTestFinished, test } from "vitest";
import { queueMail } from "../../../server/features/mail/service.ts";
import { SigningSessionCreated } from "../../../server/features/signing/contract.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { movableClock } from "../../harness/clock.ts";
import { envelopeOf, exchange, ok, publishTemplate, recipientOf, send, submission } from "../../harness/scenario.ts";
import { startSmtpSink } from "../../harness/smtp.ts";

/** Mails that waited for a mail server until nobody could use them: after the outage they go to nobody. */

const minute = 60_000;
const day = 24 * 60 * minute;
/** Mail in test mode leaves for members alone, live mail not at all from a loopback address. */
const email = "owner@example.com";

async function start(verification: "none" | "email_otp" = "none") {
  const clock = movableClock();
  const sink = await startSmtpSink();
  onTestFinished(() => sink.close());
  const app = await startAppliance({ env: { SIGNET_SMTP_URL: sink.url }, clock });
  onTestFinished(() => app.stop());
  const template = await publishTemplate(app, {
    settings: { allowReassign: true },
    roles: [
      { name: "Tenant", order: 1, verification },
      { name: "Landlord", order: 2, verification: "none" },
    ],
  });
  return {
    app,
    sink,
    clock,
    sent: (envelope: Record<string, unknown> = {}) => send(app, template, { key: "test", tenant: { email }, envelope }),
    /** The mail server refuses the next attempt for now. */
    away: () => void sink.refusals.push({ at: "rcpt", code: 450 }),
    pass: async (ms: number) => {
      clock.advance(ms);
      app.jobs.wake();
      await app.jobs.idle();
    },
    arrived: () => sink.received.map(({ mail }) => mail.text ?? ""),
    async unsent(kind: string) {
      const mails = await app.mail();
      return mails.filter((one) => one.kind === kind && one.status !== "sent" && one.status !== "held");
    },
  };
}

const tokenIn = (text: string | undefined) => /#(svcs_\w+)/.exec(text ?? "")?.[1] ?? "";

/** Ended without anybody being told of a defect. */
async function nothingIsDead(app: TestAppliance): Promise<void> {
  expect(await app.jobs.counts()).toMatchObject({ dead: 0 });
}

test("a code that ran out", async () => {
  const { app, sent, away, pass, arrived, unsent } = await start("email_otp");
  await sent();
  const { accessToken: bearer } = await exchange(app, tokenIn(arrived()[0]));
  away();
  await ok(app, 202, "/v1/signing/otp", { key: { bearer }, method: "POST" });
  await app.jobs.idle();
  expect(await unsent("code")).toMatchObject([{ status: "queued" }]);
  await pass(10 * minute);
  expect(arrived()).toHaveLength(1);
  expect(await unsent("code")).toMatchObject([{ status: "failed", code: null, sentAt: null }]);
  expect((await unsent("code"))[0]?.error).toContain("good for 10 minutes");
  await nothingIsDead(app);
});

test("a code that a later one replaced; the later one goes out", async () => {
  const { app, clock, sent, away, pass, arrived, unsent } = await start("email_otp");
  await sent();
  const { accessToken: bearer } = await exchange(app, tokenIn(arrived()[0]));
  const ask = async () => {
    await ok(app, 202, "/v1/signing/otp", { key: { bearer }, method: "POST" });
    await app.jobs.idle();
  };
  away();
  await ask();
  // No new code is sent before that.
  clock.advance(minute / 2);
  await ask();
  expect(arrived()).toHaveLength(2);
  await pass(minute);
  expect(arrived()).toHaveLength(2);
  expect((await unsent("code"))[0]).toMatchObject({
    status: "failed",
    error: "It was used already, or a later mail has taken its place.",
  });
  const code = /\b\d{6}\b/.exec(arrived()[1] ?? "")?.[0];
  await ok(app, 200, "/v1/signing/otp/verify", { key: { bearer }, json: { code } });
});

test("a code for signing in", async () => {
  const { app, away, pass, arrived, unsent } = await start();
  away();
  const content = { kind: "sign_in_code" as const, code: "482913", minutes: 10 };
  const to = { email, name: null };
  const mail = { cause: "c", organization: null, envelope: null, testMode: false, to, locale: "en", content };
  await app.deps.db.tx((tx) => queueMail(tx, app.deps, mail));
  await app.jobs.idle();
  await pass(10 * minute);
  expect([arrived(), (await unsent("sign_in_code"))[0]?.status]).toEqual([[], "failed"]);
});

test("a reminder whose signer has signed", async () => {
  const { app, sent, away, pass, arrived, unsent } = await start();
  await sent({ reminders: { firstAfterDays: 1, everyDays: null, max: 1 } });
  away();
  await pass(day);
  expect(await unsent("reminder")).toMatchObject([{ status: "queued" }]);
  const { accessToken: bearer } = await exchange(app, tokenIn(arrived()[0]));
  const json = await submission(app, bearer);
  await ok(app, 200, "/v1/signing/submit", { key: { bearer }, json });
  await pass(minute);
  expect(arrived()).toHaveLength(1);
  expect(await unsent("reminder")).toMatchObject([{ status: "failed", link: null }]);
  expect((await unsent("reminder"))[0]?.error).toContain("has finished");
  await nothingIsDead(app);
});

test("a request of an envelope that was voided", async () => {
  const { app, sent, away, pass, arrived, unsent } = await start();
  away();
  const { id } = await sent();
  const json = { reason: "A mistake", notify: false };
  await ok(app, 200, `/v1/envelopes/${id}/void`, { json, key: "test" });
  await pass(day);
  expect(arrived()).toEqual([]);
  expect((await unsent("signing_request"))[0]).toMatchObject({ status: "failed", link: null });
  await nothingIsDead(app);
});

test("a request that was sent again: only the link that works arrives", async () => {
  const { app, sent, away, pass, arrived, unsent } = await start();
  away();
  const envelope = await sent();
  const again = `/v1/envelopes/${envelope.id}/recipients/${recipientOf(envelope, "Tenant").id}/resend`;
  expect(await unsent("signing_request")).toMatchObject([{ status: "queued" }]);
  away();
  await pass(minute);
  await ok(app, 200, again, { key: "test", method: "POST" });
  await app.jobs.idle();
  await pass(minute);
  expect(arrived()).toHaveLength(1);
  await exchange(app, tokenIn(arrived()[0]));
  expect((await unsent("signing_request"))[0]?.error).toBe("A later mail has taken its place.");
});

test("a request to somebody who is no signer any more", async () => {
  const { app, sent, away, pass, arrived, unsent } = await start();
  away();
  const { id, recipients } = await sent();
  const recipient = recipients[0]?.id;
  const minted = await ok(app, 201, `/v1/envelopes/${id}/sessions`, { json: { recipient }, key: "test" });
  const { accessToken: bearer } = await exchange(app, SigningSessionCreated.parse(minted.body).token);
  const to = { name: "Nina Neu", email: "nina@example.org", reason: "On leave" };
  await ok(app, 200, "/v1/signing/reassign", { key: { bearer }, json: to });
  await pass(minute);
  expect([arrived(), (await unsent("signing_request"))[0]?.status]).toEqual([[], "failed"]);
});

test("a viewer's invitation that was taken back", async () => {
  const { app, sent, away, pass, arrived, unsent } = await start();
  const { id } = await sent();
  away();
  await ok(app, 200, `/v1/envelopes/${id}/viewers`, { json: { viewers: [{ email }] }, key: "test" });
  await app.jobs.idle();
  const { viewers = [] } = await envelopeOf(app, id, "test");
  await app.call(`/v1/envelopes/${id}/viewers/${viewers[0]?.id}`, { key: "test", method: "DELETE" });
  await pass(minute);
  expect(arrived()).toHaveLength(1);
  expect((await unsent("viewer_invite"))[0]?.status).toBe("failed");
});
