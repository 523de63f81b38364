import { expect, onTestFinished, test } from "vitest";
import { sendMail } from "../../../server/features/mail/jobs.ts";
import type { Clock } from "../../../server/kernel/clock.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { movableClock, tickingClock } from "../../harness/clock.ts";
import { envelopeOf, ok, publishTemplate, recipientOf, send } from "../../harness/scenario.ts";
import { type SmtpSink, startSmtpSink } from "../../harness/smtp.ts";

const clock = movableClock();
const dayMs = 86_400_000;

/** Mail in test mode leaves for members alone, live mail not at all from a loopback address. */
const toMember = { key: "test", tenant: { email: "owner@example.com" } } as const;

async function start(by: Clock = clock): Promise<{ app: TestAppliance; sink: SmtpSink; template: string }> {
  const sink = await startSmtpSink();
  onTestFinished(() => sink.close());
  const app = await startAppliance({ env: { SIGNET_SMTP_URL: sink.url }, clock: by });
  onTestFinished(() => app.stop());
  return { app, sink, template: await publishTemplate(app) };
}

test("a refused signing link is shown with its recipient until it is sent again", async () => {
  const { app, sink, template } = await start();
  sink.refusals.push({ at: "rcpt", code: 550 });
  const envelope = await send(app, template, toMember);
  const tenant = recipientOf(envelope, "Tenant");
  expect(tenant).toMatchObject({ status: "sent", deliveryError: { code: "rejected", at: clock.ts() } });
  expect(tenant.deliveryError?.message).toContain("550");
  expect(recipientOf(envelope, "Landlord").deliveryError).toBeNull();
  clock.advance(60_000);
  const again = `/v1/envelopes/${envelope.id}/recipients/${tenant.id}/resend`;
  expect((await ok(app, 200, again, { key: "test", method: "POST" })).body).toMatchObject({ deliveryError: null });
  await app.jobs.idle();
  expect(sink.received).toHaveLength(1);
  expect(recipientOf(await envelopeOf(app, envelope.id, "test"), "Tenant").deliveryError).toBeNull();
});

test("so is a reminder that was refused, however fast time goes while it is written", async () => {
  const ticking = tickingClock();
  const { app, sink, template } = await start(ticking);
  const reminders = { firstAfterDays: 1, everyDays: null, max: 1 };
  const { id } = await send(app, template, { ...toMember, envelope: { reminders } });
  sink.refusals.push({ at: "rcpt", code: 550 });
  ticking.advance(dayMs);
  app.jobs.wake();
  await app.jobs.idle();
  expect(recipientOf(await envelopeOf(app, id, "test"), "Tenant").deliveryError).toMatchObject({ code: "rejected" });
});

test("so is one that no mail server took for two days", async () => {
  const { app, sink, template } = await start();
  await sink.close();
  const { id } = await send(app, template, toMember);
  for (let attempt = 1; attempt < sendMail.maxAttempts; attempt += 1) {
    expect(recipientOf(await envelopeOf(app, id, "test"), "Tenant").deliveryError).toBeNull();
    clock.advance(sendMail.backoffMs(attempt));
    app.jobs.wake();
    await app.jobs.idle();
  }
  expect(recipientOf(await envelopeOf(app, id, "test"), "Tenant").deliveryError).toMatchObject({ code: "unreachable" });
});
