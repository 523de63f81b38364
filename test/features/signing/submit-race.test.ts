import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadEnvelope } from "../../../server/features/envelopes/progress.ts";
import { ownedEnvelope } from "../../../server/features/envelopes/service.ts";
import { authenticateSigner } from "../../../server/features/signing/authenticate.ts";
import { SubmitSigning } from "../../../server/features/signing/contract.ts";
import { decline } from "../../../server/features/signing/decline.ts";
import { mintSession } from "../../../server/features/signing/mint.ts";
import { reassign } from "../../../server/features/signing/reassign.ts";
import { submissionsOf } from "../../../server/features/signing/service.ts";
import { signingDocument, signingView } from "../../../server/features/signing/session.ts";
import { submit } from "../../../server/features/signing/submit.ts";
import { oncePerTransaction } from "../../../server/kernel/transaction.ts";
import { permissions } from "../../../server/kernel/wire.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import {
  auditOf,
  enter,
  envelopeOf,
  exchange,
  interrupted,
  linkTokenOf,
  publishTemplate,
  recipientOf,
  visitor as request,
  send,
  submission,
} from "../../harness/scenario.ts";

const to = { name: "Nina Neu", email: "nina@example.com", reason: "She signs for the firm." };
let app: TestAppliance;
let template: string;

beforeAll(async () => {
  app = await startAppliance();
  template = await publishTemplate(app, { settings: { allowReassign: true } });
});
afterAll(async () => app.stop());

async function opened(email: string, verification: "none" | "email_otp") {
  const { id } = await send(app, template, { tenant: { email, verification } });
  const bearer = await enter(app, email);
  const input = SubmitSigning.parse(await submission(app, bearer));
  return { id, input, caller: await authenticateSigner(app.deps, `Bearer ${bearer}`, request) };
}

async function untouched(id: string): Promise<void> {
  const envelope = await envelopeOf(app, id);
  expect(envelope.status).toBe("sent");
  expect(recipientOf(envelope, "Tenant")).toMatchObject({ name: to.name, completedAt: null, declinedAt: null });
  expect(await submissionsOf(app.deps.db.read, id)).toEqual([]);
  const types = (await auditOf(app, id)).data.map(({ type }) => type);
  expect(types).not.toContain("recipient.consented");
  expect(types).not.toContain("recipient.declined");
}

describe("passing on while the old person", () => {
  test.each(["none", "email_otp"] as const)("signs, verification %s: nobody has signed", async (verification) => {
    const { id, input, caller } = await opened(`sign-${verification}@example.com`, verification);
    const racing = interrupted(app.deps, () => reassign(app.deps, caller, to, request));
    await expect(submit(racing, caller, input, request)).rejects.toMatchObject({ code: "token-invalid" });
    await untouched(id);
  });

  test("declines: nobody has declined", async () => {
    const { id, caller } = await opened("decline@example.com", "none");
    const racing = interrupted(app.deps, () => reassign(app.deps, caller, to, request));
    await expect(decline(racing, caller, "No", request)).rejects.toMatchObject({ code: "token-invalid" });
    await untouched(id);
  });
});

describe("passing on while the old person", () => {
  async function fresh(email: string) {
    const { id } = await send(app, template, { tenant: { email, verification: "none" } });
    const { accessToken } = await exchange(app, await linkTokenOf(app, email));
    return { id, caller: await authenticateSigner(app.deps, `Bearer ${accessToken}`, request) };
  }

  test("opens the page: the new one is not said to have looked", async () => {
    const { id, caller } = await fresh("looks@example.com");
    const racing = interrupted(app.deps, () => reassign(app.deps, caller, to, request));
    await expect(signingView(racing, caller, request)).rejects.toMatchObject({ code: "token-invalid" });
    expect((await auditOf(app, id)).data.map(({ type }) => type)).not.toContain("recipient.viewed");
    expect(recipientOf(await envelopeOf(app, id), "Tenant")).toMatchObject({ status: "sent", viewedAt: null });
  });

  test("loads the document: the new one is not said to have been shown it", async () => {
    const { caller } = await fresh("reads@example.com");
    const racing = interrupted(app.deps, () => reassign(app.deps, caller, to, request));
    await expect(signingDocument(racing, caller)).rejects.toMatchObject({ code: "token-invalid" });
    const served = app.deps.db.read.selectFrom("signing_served").select("sha256");
    expect(await served.where("recipient", "=", caller.recipient).execute()).toEqual([]);
  });
});

test("whoever signs while a session is made for them gets none, and nothing is written of it", async () => {
  const { id, input, caller } = await opened("minted@example.com", "none");
  const { organization } = caller;
  const actor = { type: "api_key" as const, id: "key_1", name: "a key", email: null };
  const key = { kind: "api_key" as const, id: "key_1", session: null, organization, testMode: false, actor };
  const integration = { ...key, permissions: new Set(permissions), signedInAt: null };
  const owned = await ownedEnvelope(app.deps, id, integration);
  const racing = interrupted(app.deps, async () => {
    await submit(app.deps, caller, input, request);
  });
  const wanted = { recipient: caller.recipient, expiresInSeconds: 600 };
  await expect(mintSession(racing, integration, owned, wanted, request)).rejects.toMatchObject({
    code: "recipient-finished",
  });
  expect((await auditOf(app, id)).data.map(({ type }) => type)).not.toContain("recipient.session_created");
  const minted = app.deps.db.read.selectFrom("signing_sessions").select("id").where("source", "=", "minted");
  expect(await minted.execute()).toEqual([]);
});

test("a signature carries one time in everything that it writes", async () => {
  const { id, input, caller } = await opened("once@example.com", "none");
  let ms = app.deps.clock.now();
  const now = () => {
    ms += 1;
    return ms;
  };
  const clock = oncePerTransaction({ now, ts: () => new Date(now()).toISOString() });
  const ticking = { ...app.deps, clock };
  const { at } = await submit(ticking, caller, input, request);
  const record = await loadEnvelope(app.deps.db.read, id);
  const tenant = record?.recipients.find(({ role }) => role === "Tenant");
  expect(tenant?.completed_at).toBe(at);
  expect(JSON.parse(tenant?.values ?? "{}")).toMatchObject({ "tenant-sign": { signedAt: at } });
  expect(await submissionsOf(app.deps.db.read, id)).toMatchObject([{ at }]);
  const trail = (await auditOf(app, id)).data.filter(
    ({ type }) => type === "recipient.consented" || type === "recipient.signed",
  );
  expect(trail.map((entry) => entry.at)).toEqual([at, at]);
});
