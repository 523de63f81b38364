import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { HandedCode } from "../../../server/features/signing/contract.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { movableClock } from "../../harness/clock.ts";
import {
  auditOf,
  envelopeOf,
  exchange,
  linkTokenOf,
  ok,
  publishTemplate,
  recipientOf,
  refusal,
  send,
  submission,
  viewOf,
} from "../../harness/scenario.ts";

/** Verification `operator_delivered`: staff print a code and give it to the signer. */

const day = 24 * 3_600_000;
const clock = movableClock();
let app: TestAppliance;
let template: string;

beforeAll(async () => {
  app = await startAppliance({ clock });
  template = await publishTemplate(app, { settings: { allowReassign: true } });
});
afterAll(async () => app.stop());

const tenant = (email: string) => ({ email, verification: "operator_delivered" });
const place = (envelope: string, recipient: string) => `/auth/envelopes/${envelope}/recipients/${recipient}/code`;
const asStaff = async () => ({
  key: null,
  headers: { cookie: await app.signIn(), origin: app.deps.config.appUrl },
  method: "POST",
});
async function opened(email: string) {
  const envelope = await send(app, template, { tenant: tenant(email) });
  const { accessToken, otp } = await exchange(app, await linkTokenOf(app, email));
  return { envelope, recipient: recipientOf(envelope, "Tenant").id, bearer: accessToken, otp };
}
async function handedCode(envelope: string, recipient: string): Promise<HandedCode> {
  return HandedCode.parse((await ok(app, 201, place(envelope, recipient), await asStaff())).body);
}
const enterCode = (bearer: string, code: string) =>
  app.json("/v1/signing/otp/verify", { key: { bearer }, json: { code } });
const codeOfProblem = (body: unknown) => z.object({ code: z.string() }).parse(body).code;

test("the code from the sheet opens the document, and the trail names who handed it over", async () => {
  const { envelope, recipient, bearer, otp } = await opened("ada@example.com");
  expect(otp).toEqual({ required: true, verified: false, channel: null, destination: null, sent: null });
  expect(await refusal(app, "/v1/signing/document", { key: { bearer } })).toMatchObject({ code: "otp-required" });
  expect(await refusal(app, "/v1/signing/otp", { key: { bearer }, method: "POST" })).toMatchObject({
    code: "feature-disabled",
  });
  const made = await handedCode(envelope.id, recipient);
  expect(made).toEqual({
    recipient,
    code: expect.stringMatching(/^\d{6}$/),
    expiresAt: new Date(clock.now() + 7 * day).toISOString(),
  });
  clock.advance(6 * day);
  // Her link is as old as that; the office opens a fresh session with her.
  const { accessToken } = await exchange(app, await linkTokenOf(app, "ada@example.com"));
  expect(await enterCode(accessToken, made.code)).toMatchObject({ status: 200, body: { verified: true } });
  await ok(app, 200, "/v1/signing/submit", { key: { bearer: accessToken }, json: await submission(app, accessToken) });
  const { data, verification } = await auditOf(app, envelope.id);
  expect(verification.valid).toBe(true);
  const [sent] = data.filter(({ type }) => type === "recipient.otp_sent");
  expect(sent).toMatchObject({
    actor: { type: "user", email: "owner@example.com" },
    data: { recipient, channel: "handed_over", destination: null },
  });
  const [verified] = data.filter(({ type }) => type === "recipient.otp_verified");
  expect(verified).toMatchObject({ actor: { type: "recipient" }, data: { channel: "handed_over" } });
  expect(JSON.stringify(data)).not.toContain(made.code);
});

test("works once, as the newest one only, for its person only, and not for ever", async () => {
  const { envelope, recipient, bearer } = await opened("bea@example.com");
  const other = await opened("cid@example.com");
  const older = await handedCode(envelope.id, recipient);
  let newest = await handedCode(envelope.id, recipient);
  while (newest.code === older.code) newest = await handedCode(envelope.id, recipient);
  expect(codeOfProblem((await enterCode(bearer, older.code)).body)).toBe("otp-invalid");
  expect(codeOfProblem((await enterCode(other.bearer, newest.code)).body)).toBe("otp-expired");
  expect((await enterCode(bearer, newest.code)).status).toBe(200);
  const again = await exchange(app, await linkTokenOf(app, "bea@example.com"));
  expect(codeOfProblem((await enterCode(again.accessToken, newest.code)).body)).toBe("otp-expired");
  const late = await handedCode(other.envelope.id, other.recipient);
  clock.advance(7 * day);
  const next = await exchange(app, await linkTokenOf(app, "cid@example.com"));
  expect(codeOfProblem((await enterCode(next.accessToken, late.code)).body)).toBe("otp-expired");
});

test("is guessed five times at most, and locks the person out after twenty", async () => {
  const { envelope, recipient, bearer } = await opened("dan@example.com");
  for (let round = 0; round < 4; round += 1) {
    const { code } = await handedCode(envelope.id, recipient);
    const wrong = code === "000000" ? "000001" : "000000";
    for (let guess = 0; guess < 5; guess += 1) {
      expect(codeOfProblem((await enterCode(bearer, wrong)).body)).toBe("otp-invalid");
    }
    if (round < 3) expect(codeOfProblem((await enterCode(bearer, code)).body)).toBe("otp-exhausted");
  }
  // No sheet is printed whose code would be refused; a new link lets codes be entered again.
  expect(await refusal(app, place(envelope.id, recipient), await asStaff())).toMatchObject({ code: "conflict" });
  clock.advance(3_600_000);
  await ok(app, 200, `/v1/envelopes/${envelope.id}/recipients/${recipient}/resend`, { method: "POST" });
  await app.jobs.idle();
  const { code } = await handedCode(envelope.id, recipient);
  const { accessToken } = await exchange(app, await linkTokenOf(app, "dan@example.com"));
  expect((await enterCode(accessToken, code)).status).toBe(200);
});

test("lets whoever signed read again, with a code each time, until the envelope ends without a document", async () => {
  const { envelope, recipient, bearer } = await opened("ina@example.com");
  const { code } = await handedCode(envelope.id, recipient);
  await enterCode(bearer, code);
  await ok(app, 200, "/v1/signing/submit", { key: { bearer }, json: await submission(app, bearer) });
  const { accessToken } = await exchange(app, await linkTokenOf(app, "ina@example.com"));
  expect(await refusal(app, "/v1/signing/document", { key: { bearer: accessToken } })).toMatchObject({
    code: "otp-required",
  });
  const again = await handedCode(envelope.id, recipient);
  expect((await enterCode(accessToken, again.code)).status).toBe(200);
  expect((await app.call("/v1/signing/document", { key: { bearer: accessToken } })).status).toBe(200);
  await ok(app, 200, `/v1/envelopes/${envelope.id}/void`, { json: { reason: "A mistake" } });
  expect(await refusal(app, place(envelope.id, recipient), await asStaff())).toMatchObject({
    code: "envelope-not-in-progress",
  });
});

test("belongs to the person, not to the place: whoever takes it over needs a code of their own", async () => {
  const { envelope, recipient, bearer } = await opened("eva@example.com");
  const first = await handedCode(envelope.id, recipient);
  await enterCode(bearer, first.code);
  const kept = await handedCode(envelope.id, recipient);
  const json = { name: "Fay", email: "fay@example.com", reason: "Not mine" };
  await ok(app, 200, "/v1/signing/reassign", { key: { bearer }, json });
  await app.jobs.idle();
  const fay = await exchange(app, await linkTokenOf(app, "fay@example.com"));
  expect(codeOfProblem((await enterCode(fay.accessToken, kept.code)).body)).toBe("otp-expired");
  const own = await handedCode(envelope.id, recipient);
  expect((await enterCode(fay.accessToken, own.code)).status).toBe(200);
  expect((await viewOf(app, fay.accessToken)).recipient.name).toBe("Fay");
});

test("is made by staff alone, for those who need one, while they may use it", async () => {
  const { envelope, recipient } = await opened("gil@example.com");
  const landlord = recipientOf(envelope, "Landlord").id;
  expect(await refusal(app, place(envelope.id, landlord), await asStaff())).toMatchObject({
    status: 409,
    code: "conflict",
  });
  expect(await refusal(app, place(envelope.id, "rcp_nobody"), await asStaff())).toMatchObject({ status: 404 });
  expect(await refusal(app, place("env_nothing", recipient), await asStaff())).toMatchObject({ status: 404 });
  expect(await refusal(app, place(envelope.id, recipient), { method: "POST" })).toMatchObject({ code: "forbidden" });
  await ok(app, 200, `/v1/envelopes/${envelope.id}/void`, { json: { reason: "A mistake" } });
  expect(await refusal(app, place(envelope.id, recipient), await asStaff())).toMatchObject({
    status: 409,
    code: "envelope-not-in-progress",
  });
  expect((await envelopeOf(app, envelope.id)).status).toBe("voided");
});

test("no more than ten an hour are made for one person", async () => {
  const { envelope, recipient } = await opened("hal@example.com");
  for (let count = 0; count < 10; count += 1) await handedCode(envelope.id, recipient);
  expect(await refusal(app, place(envelope.id, recipient), await asStaff())).toMatchObject({ status: 429 });
});
