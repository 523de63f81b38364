import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { movableClock } from "../../harness/clock.ts";
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
  recipientOf,
  refusal,
  send,
  submission,
} from "../../harness/scenario.ts";

/** What signers type after the end is no part of the envelope's record. */

const minute = 60_000;
const clock = movableClock();
let app: TestAppliance;
let template: string;
let people = 0;

beforeAll(async () => {
  app = await startAppliance({ clock });
  const verification = "email_otp";
  const roles = ["Tenant", "Landlord"].map((name) => ({ name, order: 1, verification }));
  template = await publishTemplate(app, { roles });
});
afterAll(async () => app.stop());

async function advance(ms: number): Promise<void> {
  clock.advance(ms);
  app.jobs.wake();
  await app.jobs.idle();
}

/** An envelope that both may sign; it expires in an hour. */
async function sent() {
  people += 1;
  const [tenant, landlord] = [`tenant${people}@example.org`, `landlord${people}@example.org`];
  const { id } = await send(app, template, {
    envelope: {
      expiresAt: new Date(clock.now() + 60 * minute).toISOString(),
      recipients: [
        { role: "Tenant", name: "Ada Muster", email: tenant },
        { role: "Landlord", name: "Ben Beispiel", email: landlord },
      ],
    },
  });
  return { id, tenant, landlord };
}

const ask = (bearer: string) => refusal(app, "/v1/signing/otp", { key: { bearer }, method: "POST" });
const tryCode = (bearer: string, code: string) =>
  refusal(app, "/v1/signing/otp/verify", { key: { bearer }, json: { code } });
const voidIt = (id: string) => ok(app, 200, `/v1/envelopes/${id}/void`, { json: { reason: "A mistake" } });
const over = { status: 409, code: "envelope-not-in-progress" };

type Sent = Awaited<ReturnType<typeof sent>>;
const ends: [string, (envelope: Sent) => Promise<unknown>][] = [
  ["voided", ({ id }) => voidIt(id)],
  [
    "declined",
    async ({ landlord }) => {
      const key = { bearer: await enter(app, landlord) };
      await ok(app, 200, "/v1/signing/decline", { key, json: { reason: "No" } });
    },
  ],
  ["expired", () => advance(5 * minute)],
];

describe.each(ends)("once it is %s", (status, end) => {
  test("a code that was sent before is not taken any more, right or wrong, and nothing is written of it", async () => {
    const envelope = await sent();
    const { id, tenant } = envelope;
    await advance(55 * minute);
    const { accessToken: bearer } = await exchange(app, await linkTokenOf(app, tenant));
    await ok(app, 202, "/v1/signing/otp", { key: { bearer }, method: "POST" });
    const code = await codeOf(app, tenant);
    await end(envelope);
    await app.jobs.idle();
    const before = await auditOf(app, id);
    expect(before.data.at(-1)?.type).toBe(`envelope.${status}`);
    expect(await tryCode(bearer, code === "000000" ? "000001" : "000000")).toEqual(over);
    expect(await tryCode(bearer, code)).toEqual(over);
    expect(await ask(bearer)).toEqual(over);
    expect((await auditOf(app, id)).data).toEqual(before.data);
    expect(recipientOf(await envelopeOf(app, id), "Tenant").verifiedAt).toBeNull();
  });
});

test("nor is one for reading by somebody who had signed", async () => {
  const { id, tenant } = await sent();
  const signer = { bearer: await enter(app, tenant) };
  await ok(app, 200, "/v1/signing/submit", { key: signer, json: await submission(app, signer.bearer) });
  const open = async () => (await exchange(app, await linkTokenOf(app, tenant))).accessToken;
  const bearer = await open();
  await ok(app, 202, "/v1/signing/otp", { key: { bearer }, method: "POST" });
  const code = await codeOf(app, tenant);
  await voidIt(id);
  await app.jobs.idle();
  const before = await auditOf(app, id);
  expect(await tryCode(bearer, code)).toEqual(over);
  expect(await ask(bearer)).toEqual(over);
  expect((await auditOf(app, id)).data).toEqual(before.data);
});

test("who signed reads the completed document with a code of their own, which is on record", async () => {
  const { id, tenant, landlord } = await sent();
  for (const email of [tenant, landlord]) {
    const key = { bearer: await enter(app, email) };
    const json = await submission(app, key.bearer);
    await ok(app, 200, "/v1/signing/submit", { key, json });
  }
  await app.jobs.idle();
  clock.advance(minute);
  const { accessToken: bearer } = await exchange(app, await linkTokenOf(app, tenant));
  await enterCode(app, bearer, tenant);
  await ok(app, 200, "/v1/signing/session", { key: { bearer } });
  const types = (await auditOf(app, id)).data.map(({ type }) => type);
  expect(types.slice(-3)).toEqual(["recipient.session_opened", "recipient.otp_sent", "recipient.otp_verified"]);
});
