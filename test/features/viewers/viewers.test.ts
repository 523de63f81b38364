import { createHash } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { authenticateViewer } from "../../../server/features/viewers/authenticate.ts";
import { viewerEnvelope } from "../../../server/features/viewers/service.ts";
import { newSecret } from "../../../server/kernel/ids.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { movableClock } from "../../harness/clock.ts";
import {
  auditOf,
  enter,
  envelopeOf,
  interrupted,
  ok,
  publishTemplate,
  refusal,
  send,
  submission,
  visitor,
} from "../../harness/scenario.ts";
import { enterAsViewer, exchangeViewer, statusFor, viewerToken } from "../../harness/viewers.ts";

const clock = movableClock();
const minuteMs = 60_000;
const dayMs = 86_400_000;
let app: TestAppliance;
let template: string;
let people = 0;

beforeAll(async () => {
  app = await startAppliance({ clock });
  template = await publishTemplate(app, {
    roles: [
      { name: "Tenant", order: 1, verification: "none" },
      { name: "Landlord", order: 2, verification: "none" },
    ],
  });
});
afterAll(async () => app.stop());

/** An address that no other test writes to. */
function somebody(): string {
  people += 1;
  return `viewer${people}@example.org`;
}

async function watched(email: string, envelope: Record<string, unknown> = {}, tenant: string = somebody()) {
  const sent = await send(app, template, {
    tenant: { email: tenant },
    envelope: { viewers: [{ email, name: "Lea Muster" }], ...envelope },
  });
  return { ...sent, tenant };
}

const mailsTo = async (email: string) => (await app.mail()).filter(({ to }) => to.email === email);
async function voidIt(id: string, more: object = {}) {
  // Mails of one moment have no order.
  clock.advance(1000);
  await ok(app, 200, `/v1/envelopes/${id}/void`, { json: { reason: "A mistake", ...more } });
}

test("who was named at creation is invited when the envelope goes out, in their language", async () => {
  const [email, german] = [somebody(), somebody()];
  const { id } = await watched(email, {
    viewers: [
      { email, name: "Lea Muster" },
      { email: german, locale: "de" },
    ],
  });
  const [mail, ...more] = await mailsTo(email);
  expect(more).toEqual([]);
  expect(mail).toMatchObject({ kind: "viewer_invite", envelope: id, status: "written" });
  expect(mail?.link).toMatch(new RegExp(`^${app.url}/view#svcv_[0-9A-Za-z]{49}$`));
  expect((await mailsTo(german))[0]?.subject).not.toBe(mail?.subject);
  const { viewers = [] } = await envelopeOf(app, id);
  expect(viewers.map(({ invitedAt }) => invitedAt)).toEqual([clock.ts(), clock.ts()]);
  expect(viewers[0]).toMatchObject({ firstViewedAt: null, lastViewedAt: null });
});

test("who is added later is invited at once; who is one already is not again", async () => {
  const [first, later] = [somebody(), somebody()];
  const { id } = await watched(first);
  const add = () => ok(app, 200, `/v1/envelopes/${id}/viewers`, { json: { viewers: [{ email: later }] } });
  await add();
  await add();
  expect((await mailsTo(later)).map(({ kind }) => kind)).toEqual(["viewer_invite"]);
  expect(await mailsTo(first)).toHaveLength(1);
});

test("a link opens the status again and again; the first look is audited", async () => {
  const email = somebody();
  const { id } = await watched(email);
  const token = await viewerToken(app, email);
  const { accessToken, viewer, envelope, expiresAt } = await exchangeViewer(app, token);
  expect({ envelope, expiresAt }).toEqual({ envelope: id, expiresAt: new Date(clock.now() + 3_600_000).toISOString() });
  expect((await exchangeViewer(app, token)).accessToken).not.toBe(accessToken);
  const status = await statusFor(app, accessToken);
  expect(status).toMatchObject({
    envelope: { id, title: "Flat 12", status: "sent", seal: "not_started", testMode: false },
    sender: { organization: "Example Ltd" },
    viewer: { id: viewer, name: "Lea Muster", email, locale: "en" },
    recipients: [
      { role: "Tenant", status: "sent", order: 1, completedAt: null },
      { role: "Landlord", status: "pending", order: 2 },
    ],
    document: { available: false, version: null },
  });
  expect(JSON.stringify(status)).not.toContain("ben@example.com");
  clock.advance(2 * minuteMs);
  await statusFor(app, accessToken);
  const looks = (await auditOf(app, id)).data.filter(({ type }) => type === "viewer.viewed");
  expect(looks.map(({ actor, data }) => ({ actor, data }))).toEqual([
    { actor: { type: "viewer", id: viewer, name: "Lea Muster", email }, data: { viewer } },
  ]);
  const seen = (await envelopeOf(app, id)).viewers?.[0];
  expect(Date.parse(seen?.lastViewedAt ?? "") - Date.parse(seen?.firstViewedAt ?? "")).toBe(2 * minuteMs);
});

test("who is revoked while the status is loading has not looked: nothing is on record behind the revocation", async () => {
  const email = somebody();
  const { id } = await watched(email);
  const bearer = await enterAsViewer(app, email);
  const caller = await authenticateViewer(app.deps, bearer);
  const revoke = () => app.call(`/v1/envelopes/${id}/viewers/${caller.viewer}`, { method: "DELETE" });
  const racing = interrupted(app.deps, revoke);
  await expect(viewerEnvelope(racing, caller, visitor)).rejects.toMatchObject({ code: "token-invalid" });
  const trail = (await auditOf(app, id)).data;
  expect(trail.at(-1)?.type).toBe("viewer.revoked");
  expect(trail.map(({ type }) => type)).not.toContain("viewer.viewed");
  const row = app.deps.db.read.selectFrom("viewers").select(["first_viewed_at", "last_viewed_at"]);
  expect(await row.where("id", "=", caller.viewer).execute()).toEqual([
    { first_viewed_at: null, last_viewed_at: null },
  ]);
});

test("tokens are kept as hashes only", async () => {
  const email = somebody();
  await watched(email);
  const token = await viewerToken(app, email);
  const { accessToken } = await exchangeViewer(app, token);
  const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
  const links = await app.deps.db.read.selectFrom("viewer_links").selectAll().execute();
  const accesses = await app.deps.db.read.selectFrom("viewer_accesses").selectAll().execute();
  expect(links.map((row) => row.sha256)).toContain(sha256(token));
  expect(accesses.map((row) => row.sha256)).toContain(sha256(accessToken));
  expect(JSON.stringify([links, accesses])).not.toContain("svcv");
});

test("the document is shown where the sender allows it, the sealed one once it is sealed", async () => {
  const [email, other] = [somebody(), somebody()];
  const open = await watched(email, { viewerDocumentAccess: true });
  const closed = await watched(other);
  const bearer = await enterAsViewer(app, email);
  const document = async () => {
    const response = await app.call("/v1/viewer/document", { key: { bearer } });
    const bytes = Buffer.from(await response.arrayBuffer());
    return { status: response.status, sha256: createHash("sha256").update(bytes).digest("hex") };
  };
  expect(await document()).toEqual({ status: 200, sha256: open.documentSha256 });
  expect((await statusFor(app, bearer)).document).toEqual({ available: true, version: "original" });
  const denied = await enterAsViewer(app, other);
  expect(await refusal(app, "/v1/viewer/document", { key: { bearer: denied } })).toMatchObject({
    status: 403,
    code: "document-access-denied",
  });
  for (const signer of [open.tenant, "ben@example.com"]) {
    clock.advance(1000);
    const key = { bearer: await enter(app, signer) };
    await ok(app, 200, "/v1/signing/submit", { key, json: await submission(app, key.bearer) });
    await app.jobs.idle();
  }
  const { sealedSha256 } = await envelopeOf(app, open.id);
  expect(await document()).toEqual({ status: 200, sha256: sealedSha256 });
  expect((await statusFor(app, bearer)).document).toEqual({ available: true, version: "sealed" });
  expect((await mailsTo(email)).map(({ kind }) => kind)).toEqual(["viewer_update", "viewer_invite"]);
  expect(closed.status).toBe("sent");
});

test("before it is drawn, the document is not ready", async () => {
  const email = somebody();
  const { id } = await watched(email, { viewerDocumentAccess: true });
  const bearer = await enterAsViewer(app, email);
  await app.deps.db.tx((tx) =>
    tx
      .updateTable("envelopes")
      .set({ document_sha256: null, status: "rendering" })
      .where("id", "=", id)
      .execute()
      .then(() => undefined),
  );
  expect(await refusal(app, "/v1/viewer/document", { key: { bearer } })).toMatchObject({
    status: 409,
    code: "document-not-ready",
  });
});

test("viewers hear once how it ended, with a link that works; whoever voids quietly tells nobody", async () => {
  const [email, quiet] = [somebody(), somebody()];
  const loud = await watched(email);
  const silent = await watched(quiet);
  await voidIt(loud.id);
  await voidIt(silent.id, { notify: false });
  const [mail] = await mailsTo(email);
  expect(mail).toMatchObject({ kind: "viewer_update" });
  expect(mail?.subject.toLowerCase()).toContain("flat 12");
  const status = await statusFor(app, await enterAsViewer(app, email));
  expect(status.envelope.status).toBe("voided");
  expect((await mailsTo(quiet)).map(({ kind }) => kind)).toEqual(["viewer_invite"]);
});

test("an expiry and a refusal are told too", async () => {
  const [declined, expired] = [somebody(), somebody()];
  const first = await watched(declined);
  clock.advance(1000);
  await watched(expired, { expiresAt: new Date(clock.now() + 2 * 3_600_000).toISOString() });
  const key = { bearer: await enter(app, first.tenant) };
  await ok(app, 200, "/v1/signing/decline", { key, json: { reason: "No" } });
  clock.advance(3 * 3_600_000);
  app.jobs.wake();
  for (const email of [declined, expired]) {
    expect((await mailsTo(email)).map(({ kind }) => kind)).toEqual(["viewer_update", "viewer_invite"]);
  }
});

test("a revoked viewer's link is gone and the access with it", async () => {
  const email = somebody();
  const { id } = await watched(email);
  const token = await viewerToken(app, email);
  const { accessToken: bearer, viewer } = await exchangeViewer(app, token);
  await ok(app, 204, `/v1/envelopes/${id}/viewers/${viewer}`, { method: "DELETE" });
  const exchange = { key: null, json: { token } };
  expect(await refusal(app, "/v1/viewer/exchange", exchange)).toEqual({ status: 410, code: "link-expired" });
  for (const path of ["envelope", "document", `stream?access_token=${bearer}`]) {
    const answer = await refusal(app, `/v1/viewer/${path}`, path.includes("?") ? { key: null } : { key: { bearer } });
    expect(answer, path).toEqual({ status: 401, code: "token-invalid" });
  }
  await voidIt(id);
  expect(await mailsTo(email)).toHaveLength(1);
});

test("a link works for 90 days after the end, access for an hour that slides up to twelve", async () => {
  const email = somebody();
  const { id } = await watched(email);
  const token = await viewerToken(app, email);
  const bearer = await enterAsViewer(app, email);
  for (let hour = 0; hour < 11; hour += 1) {
    clock.advance(59 * minuteMs);
    await statusFor(app, bearer);
  }
  clock.advance(72 * minuteMs);
  const call = { key: { bearer } };
  expect(await refusal(app, "/v1/viewer/envelope", call)).toEqual({ status: 401, code: "token-expired" });
  clock.advance(200 * dayMs);
  await exchangeViewer(app, token);
  await voidIt(id);
  clock.advance(90 * dayMs - 1);
  await exchangeViewer(app, token);
  clock.advance(1);
  const exchange = { key: null, json: { token } };
  expect(await refusal(app, "/v1/viewer/exchange", exchange)).toEqual({ status: 410, code: "link-expired" });
});

test("other tokens open nothing, and a token in the query opens the stream alone", async () => {
  const email = somebody();
  await watched(email);
  const token = await viewerToken(app, email);
  const { accessToken } = await exchangeViewer(app, token);
  for (const bearer of [token, newSecret("svcva"), app.keys.live, "x"]) {
    expect((await refusal(app, "/v1/viewer/envelope", { key: { bearer } })).status, bearer).toBe(401);
  }
  for (const path of ["envelope", "document"]) {
    const answer = await refusal(app, `/v1/viewer/${path}?access_token=${accessToken}`, { key: null });
    expect(answer).toMatchObject({ status: 422, code: "validation-failed" });
  }
  const exchange = { key: null, json: { token: newSecret("svcv") } };
  expect(await refusal(app, "/v1/viewer/exchange", exchange)).toEqual({ status: 401, code: "token-invalid" });
});

test("failed exchanges are limited by address", async () => {
  const exchange = { key: null, json: { token: newSecret("svcv") } };
  const codes = new Set<number>();
  for (let call = 0; call < 31; call += 1) codes.add((await app.json("/v1/viewer/exchange", exchange)).status);
  expect([...codes]).toEqual([401, 429]);
});

test("mails of a test-mode envelope are held", async () => {
  const email = somebody();
  await send(app, template, { key: "test", envelope: { viewers: [{ email }] } });
  expect((await mailsTo(email))[0]).toMatchObject({ kind: "viewer_invite", status: "held", heldFor: "test_mode" });
});
