import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { submissionsOf } from "../../../server/features/signing/service.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { png } from "../../harness/pictures.ts";
import {
  auditOf,
  drawn,
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
  typed,
  viewOf,
} from "../../harness/scenario.ts";

let app: TestAppliance;
let template: string;

beforeAll(async () => {
  app = await startAppliance();
  template = await publishTemplate(app);
});
afterAll(async () => app.stop());

describe("two people sign", () => {
  test("from the mailed links to the completed envelope, each seeing what the other filled in", async () => {
    const { id, ...sent } = await send(app, template);
    expect(sent.status).toBe("sent");
    expect(recipientOf({ id, ...sent }, "Tenant").status).toBe("sent");
    expect(recipientOf({ id, ...sent }, "Landlord").status).toBe("pending");

    const opened = await exchange(app, await linkTokenOf(app, "ada@example.com"));
    expect(opened).toMatchObject({ envelope: id, embedOrigin: null, locale: "en" });
    expect(opened.otp).toEqual({
      required: true,
      verified: false,
      channel: "email",
      destination: "a***@example.com",
      sent: null,
    });
    const bearer = opened.accessToken;
    const locked = await viewOf(app, bearer);
    expect(locked).toMatchObject({
      state: "otp_required",
      document: null,
      fields: [],
      recipient: { status: "viewed", email: "a***@example.com" },
    });
    expect(JSON.stringify([opened, locked])).not.toContain("ada@example.com");
    await enterCode(app, bearer, "ada@example.com");

    const view = await viewOf(app, bearer);
    expect(view).toMatchObject({
      state: "ready",
      envelope: { id, title: "Flat 12", status: "sent", testMode: false },
      sender: { organization: "Example Ltd" },
      recipient: { role: "Tenant", name: "Ada Muster", email: "ada@example.com", status: "viewed" },
      parties: [
        { role: "Tenant", status: "viewed", order: 1 },
        { role: "Landlord", status: "pending", order: 2 },
      ],
    });
    expect(view.document?.pageCount).toBe(2);
    expect(view.fields.map(({ id: field, editable }) => [field, editable])).toEqual([
      ["city", true],
      ["months", true],
      ["pets", true],
      ["card", true],
      ["stamp", true],
      ["tenant-name", false],
      ["tenant-day", false],
      ["tenant-sign", true],
    ]);
    expect(view.fields.find(({ id: field }) => field === "months")?.value).toBe(12);

    const first = await readDocument(app, bearer);
    expect(first.sha256).toBe(view.document?.sha256);
    expect(createHash("sha256").update(first.bytes).digest("hex")).toBe(first.sha256);
    const result = await ok(app, 200, "/v1/signing/submit", { key: { bearer }, json: await submission(app, bearer) });
    expect(result.body).toMatchObject({ status: "completed", envelope: { id, status: "sent" }, redirectUrl: null });

    const landlord = await enter(app, "ben@example.com");
    const second = await viewOf(app, landlord);
    expect(second.state).toBe("ready");
    expect(second.fields.filter(({ role }) => role === "Tenant").every(({ editable }) => !editable)).toBe(true);
    expect(second.fields.find(({ id: field }) => field === "city")?.value).toBe("Zürich");
    const shown = await readDocument(app, landlord);
    expect(shown.sha256).not.toBe(first.sha256);
    expect(shown.bytes.subarray(0, first.bytes.length).equals(first.bytes)).toBe(true);

    const last = await ok(app, 200, "/v1/signing/submit", {
      key: { bearer: landlord },
      json: await submission(app, landlord),
    });
    expect(last.body).toMatchObject({ status: "completed", envelope: { status: "completed" } });
    await app.jobs.idle();

    const done = await envelopeOf(app, id);
    expect(done.status).toBe("completed");
    expect(done.values?.recipients).toMatchObject({
      Tenant: {
        city: "Zürich",
        months: 24,
        pets: true,
        "tenant-name": "Ada Muster",
        "tenant-sign": { method: "draw" },
      },
      Landlord: { "landlord-sign": { method: "type" } },
    });
    // Once it is sealed, those who signed read the sealed file, with the access they have or the mailed link.
    expect(done.seal).toBe("sealed");
    expect((await readDocument(app, bearer)).sha256).toBe(done.sealedSha256);
    const again = await exchange(app, await linkTokenOf(app, "ben@example.com"));
    expect((await readDocument(app, again.accessToken)).sha256).toBe(done.sealedSha256);
    expect((await viewOf(app, again.accessToken)).document?.sha256).toBe(done.sealedSha256);
    // The link alone was not enough before and is not now; reading does not change when she was verified.
    const reader = await exchange(app, await linkTokenOf(app, "ada@example.com"));
    expect(await viewOf(app, reader.accessToken)).toMatchObject({ state: "otp_required", document: null });
    await enterCode(app, reader.accessToken, "ada@example.com");
    expect((await readDocument(app, reader.accessToken)).sha256).toBe(done.sealedSha256);
    expect(recipientOf(await envelopeOf(app, id), "Tenant").verifiedAt).toBe(recipientOf(done, "Tenant").verifiedAt);

    const trail = await auditOf(app, id);
    expect(trail.verification.valid).toBe(true);
    const types = trail.data.map(({ type }) => type);
    for (const type of ["recipient.otp_sent", "recipient.otp_verified", "recipient.session_opened"]) {
      expect(types).toContain(type);
    }
    const consented = trail.data.filter(({ type }) => type === "recipient.consented");
    expect(consented).toHaveLength(2);
    expect(consented[0]?.data).toMatchObject({ version: "1", locale: "en", documentSha256: first.sha256 });
    const signed = trail.data.filter(({ type }) => type === "recipient.signed");
    expect(signed[1]?.data).toMatchObject({ documentSha256: shown.sha256 });
    expect(types.indexOf("recipient.consented")).toBe(types.indexOf("recipient.signed") - 1);
    // No token and no code stands in the trail.
    expect(JSON.stringify(trail)).not.toMatch(/svc[sa]_/);
  });

  test("after signing, the session and the mailed link stay good for reading only", async () => {
    const { id } = await send(app, template, { tenant: { verification: "none" } });
    const bearer = await enter(app, "ada@example.com");
    const token = await linkTokenOf(app, "ada@example.com");
    const body = await submission(app, bearer);
    await ok(app, 200, "/v1/signing/submit", { key: { bearer }, json: body });
    await app.jobs.idle();
    const again = await exchange(app, token);
    for (const access of [bearer, again.accessToken]) {
      const view = await viewOf(app, access);
      expect(view).toMatchObject({ state: "completed", envelope: { id } });
      expect(view.fields.every(({ editable }) => !editable)).toBe(true);
      await readDocument(app, access);
      const refused = { status: 409, code: "recipient-finished" };
      const key = { bearer: access };
      expect(await refusal(app, "/v1/signing/submit", { key, json: body })).toEqual(refused);
      expect(await refusal(app, "/v1/signing/decline", { key, json: { reason: "no" } })).toEqual(refused);
    }
  });

  test("two at the same time: what each was shown stays good while the other finishes", async () => {
    const together = await publishTemplate(app, {
      roles: [
        { name: "Tenant", order: 1, verification: "none" },
        { name: "Landlord", order: 1, verification: "none" },
      ],
    });
    const people = [
      { role: "Tenant", name: "Ada Muster", email: "ada1@example.com" },
      { role: "Landlord", name: "Ben Beispiel", email: "ben1@example.com" },
    ];
    const { id } = await send(app, together, { envelope: { recipients: people } });
    const bearers = await Promise.all(people.map(({ email }) => enter(app, email)));
    const bodies = await Promise.all(bearers.map((bearer) => submission(app, bearer)));
    expect(new Set(bodies.map(({ documentSha256 }) => documentSha256)).size).toBe(1);
    const replies = await Promise.all(
      bearers.map((bearer, index) => app.json("/v1/signing/submit", { key: { bearer }, json: bodies[index] })),
    );
    expect(replies.map(({ status }) => status)).toEqual([200, 200]);
    await app.jobs.idle();
    const done = await envelopeOf(app, id);
    expect(done).toMatchObject({ status: "completed", seal: "sealed" });
    const record = await submissionsOf(app.deps.db.read, id);
    expect(record.map(({ number }) => number)).toEqual([1, 2]);
    expect((await auditOf(app, id)).verification.valid).toBe(true);
  });

  test("of 200 submissions at once exactly one is taken", async () => {
    const { id } = await send(app, template, { tenant: { verification: "none" } });
    const bearer = await enter(app, "ada@example.com");
    const body = await submission(app, bearer);
    const replies = await Promise.all(
      Array.from({ length: 200 }, () => app.json("/v1/signing/submit", { key: { bearer }, json: body })),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    const others = replies.filter(({ status }) => status !== 200);
    expect(others.every(({ status, body: problem }) => status === 409 && isFinished(problem))).toBe(true);
    await app.jobs.idle();
    const types = (await auditOf(app, id)).data.map(({ type }) => type);
    expect(types.filter((type) => type === "recipient.signed")).toHaveLength(1);
    expect(types.filter((type) => type === "recipient.consented")).toHaveLength(1);
    expect(recipientOf(await envelopeOf(app, id), "Landlord").status).toBe("sent");
  });
});

const isFinished = (problem: unknown) => JSON.stringify(problem).includes('"recipient-finished"');

test("the document is cached by its hash and named after the envelope", async () => {
  await send(app, template, { tenant: { verification: "none" } });
  const bearer = await enter(app, "ada@example.com");
  const first = await app.call("/v1/signing/document", { key: { bearer } });
  const etag = first.headers.get("etag") ?? "";
  expect(first.headers.get("content-type")).toBe("application/pdf");
  expect(first.headers.get("content-disposition")).toMatch(/^inline; filename="Flat 12\.pdf"/);
  await first.arrayBuffer();
  const again = await app.call("/v1/signing/document", { key: { bearer }, headers: { "if-none-match": etag } });
  expect([again.status, await again.text()]).toEqual([304, ""]);
  const head = await app.call("/v1/signing/document", { key: { bearer }, method: "HEAD" });
  expect([head.status, head.headers.get("etag")]).toEqual([200, etag]);
});

describe("before the code", () => {
  test("everything but session and code is refused", async () => {
    await send(app, template);
    const { accessToken: bearer } = await exchange(app, await linkTokenOf(app, "ada@example.com"));
    const key = { bearer };
    const required = { status: 403, code: "otp-required" };
    expect(await refusal(app, "/v1/signing/document", { key })).toEqual(required);
    const json = {
      documentSha256: "0".repeat(64),
      fields: {},
      signature: typed,
      consent: { accepted: true, version: "1", locale: "en" },
    };
    expect(await refusal(app, "/v1/signing/submit", { key, json })).toEqual(required);
    expect(await refusal(app, "/v1/signing/decline", { key, json: { reason: "no" } })).toEqual(required);
    const other = { name: "Eve", email: "eve@example.com", reason: "no" };
    expect(await refusal(app, "/v1/signing/reassign", { key, json: other })).toEqual(required);
    const form = new FormData();
    form.append("field", "card");
    form.append("file", new Blob([new Uint8Array(png(2, 2))], { type: "image/png" }), "a.png");
    expect(await refusal(app, "/v1/signing/attachments", { key, body: form })).toEqual(required);
    await viewOf(app, bearer);
  });

  test("wrong codes are counted; the sixth try is refused even when right", async () => {
    await send(app, template);
    const { accessToken: bearer } = await exchange(app, await linkTokenOf(app, "ada@example.com"));
    const key = { bearer };
    expect(await refusal(app, "/v1/signing/otp/verify", { key, json: { code: "000000" } })).toMatchObject({
      code: "otp-expired",
    });
    const sent = await ok(app, 202, "/v1/signing/otp", { key, json: { channel: "email" } });
    expect(sent.body).toMatchObject({ channel: "email", destination: "a***@example.com", codeLength: 6 });
    const mails = await app.mail();
    const code = mails.find(({ kind }) => kind === "code")?.code ?? "";
    const wrong = code === "000000" ? "000001" : "000000";
    for (const attemptsRemaining of [4, 3, 2, 1, 0]) {
      expect(await refusal(app, "/v1/signing/otp/verify", { key, json: { code: wrong } })).toEqual({
        status: 422,
        code: "otp-invalid",
        attemptsRemaining,
      });
    }
    const exhausted = { status: 422, code: "otp-exhausted" };
    expect(await refusal(app, "/v1/signing/otp/verify", { key, json: { code } })).toEqual(exhausted);
    // Another session starts afresh: no pause of this one holds it up.
    const fresh = await enter(app, "ada@example.com");
    expect((await viewOf(app, fresh)).otp.verified).toBe(true);
    expect(await refusal(app, "/v1/signing/otp", { key: { bearer: fresh }, method: "POST" })).toMatchObject({
      code: "conflict",
    });
  });

  test("codes by SMS are not set up; malformed codes are 422", async () => {
    await send(app, template);
    const { accessToken: bearer } = await exchange(app, await linkTokenOf(app, "ada@example.com"));
    expect(await refusal(app, "/v1/signing/otp", { key: { bearer }, json: { channel: "sms" } })).toMatchObject({
      status: 403,
      code: "feature-disabled",
    });
    expect(await refusal(app, "/v1/signing/otp/verify", { key: { bearer }, json: { code: "12345" } })).toEqual({
      status: 422,
      code: "validation-failed",
      at: ["#/code"],
    });
  });
});

describe("submit", () => {
  test("points at every wrong member and changes nothing", async () => {
    await send(app, template, { tenant: { verification: "none" } });
    const bearer = await enter(app, "ada@example.com");
    const key = { bearer };
    const body = await submission(app, bearer);
    const wrong = {
      ...body,
      fields: { city: "x".repeat(41), months: 0, nobody: 1 },
      signature: { method: "draw", image: "data:image/png;base64,iVBORw0KGgo=" },
      consent: { accepted: true, version: "99", locale: "en" },
    };
    expect(await refusal(app, "/v1/signing/submit", { key, json: wrong })).toEqual({
      status: 422,
      code: "validation-failed",
      at: ["#/fields/nobody", "#/fields/city", "#/fields/months", "#/signature/image", "#/consent/version"],
    });
    const unseen = { ...body, documentSha256: "1".repeat(64) };
    expect(await refusal(app, "/v1/signing/submit", { key, json: unseen })).toMatchObject({
      status: 422,
      code: "document-changed",
    });
    const unknown = { ...body, extra: 1 };
    expect(await refusal(app, "/v1/signing/submit", { key, json: unknown })).toMatchObject({ at: ["#/extra"] });
    const refusedConsent = { ...body, consent: { accepted: false, version: "1", locale: "en" } };
    expect(await refusal(app, "/v1/signing/submit", { key, json: refusedConsent })).toMatchObject({
      at: ["#/consent/accepted"],
    });
    expect((await viewOf(app, bearer)).state).toBe("ready");
  });

  test("takes attachments and pictures, and the organization can download what was submitted", async () => {
    const { id } = await send(app, template, { tenant: { verification: "none" } });
    const bearer = await enter(app, "ada@example.com");
    const key = { bearer };
    const upload = (field: string, bytes: Uint8Array, type: string, name = "file.bin", extra = false) => {
      const form = new FormData();
      form.append("field", field);
      form.append("file", new Blob([new Uint8Array(bytes)], { type }), name);
      if (extra) form.append("file", new Blob([new Uint8Array(bytes)], { type }), name);
      return { key, body: form };
    };
    const path = "/v1/signing/attachments";
    const card = await ok(app, 201, path, upload("card", png(30, 20), "image/png", "Ausweis Zürich.png"));
    expect(card.body).toMatchObject({ field: "card", filename: "Ausweis Zürich.png", contentType: "image/png" });
    const cardId = String(Object(card.body).id);
    const stampId = String(Object((await ok(app, 201, path, upload("stamp", png(9, 9), "image/png"))).body).id);
    expect(await refusal(app, path, upload("city", png(2, 2), "image/png"))).toMatchObject({ at: ["#/field"] });
    expect(await refusal(app, path, upload("landlord-sign", png(2, 2), "image/png"))).toMatchObject({
      at: ["#/field"],
    });
    expect(await refusal(app, path, upload("card", png(2, 2), "image/jpeg"))).toMatchObject({
      status: 422,
      code: "attachment-rejected",
    });
    expect(await refusal(app, path, upload("card", Buffer.from("MZ"), "application/x-msdownload"))).toMatchObject({
      status: 415,
    });
    expect(await refusal(app, path, upload("stamp", png(4, 4).subarray(0, 50), "image/png"))).toMatchObject({
      code: "attachment-rejected",
    });
    expect(await refusal(app, path, upload("card", png(2, 2), "image/png", "a.png", true))).toMatchObject({
      at: ["#/file"],
    });
    expect(await refusal(app, path, upload("card", Buffer.alloc(11 * 1024 * 1024), "image/png"))).toMatchObject({
      status: 413,
    });
    expect((await viewOf(app, bearer)).attachments.map((one) => one.field)).toEqual(["card", "stamp"]);
    expect(await refusal(app, `/v1/envelopes/${id}/attachments/${cardId}`)).toMatchObject({ status: 404 });

    const body = await submission(app, bearer, { fields: { city: "Bern", card: [cardId], stamp: [stampId] } });
    await ok(app, 200, "/v1/signing/submit", { key, json: body });
    await app.jobs.idle();
    const file = await app.call(`/v1/envelopes/${id}/attachments/${cardId}`);
    expect(file.headers.get("content-type")).toBe("image/png");
    expect(Buffer.from(await file.arrayBuffer()).equals(png(30, 20))).toBe(true);
    expect(await refusal(app, `/v1/envelopes/${id}/attachments/${cardId}`, { key: "test" })).toMatchObject({
      status: 404,
    });
    expect((await envelopeOf(app, id)).values?.recipients.Tenant?.card).toMatchObject([{ id: cardId }]);
    // The stamp can be drawn: the next revision is there and the landlord's turn has begun.
    expect(recipientOf(await envelopeOf(app, id), "Landlord").status).toBe("sent");
  });
});

describe("decline", () => {
  test("ends the envelope; links stop working, the page says so", async () => {
    const { id } = await send(app, template, {
      tenant: { verification: "none", redirectUrl: "https://a.example/x?y=1" },
    });
    const bearer = await enter(app, "ada@example.com");
    const token = await linkTokenOf(app, "ada@example.com");
    const key = { bearer };
    expect(await refusal(app, "/v1/signing/decline", { key, json: { reason: " " } })).toMatchObject({ status: 422 });
    const declined = await ok(app, 200, "/v1/signing/decline", { key, json: { reason: "The rent is too high." } });
    expect(declined.body).toMatchObject({ status: "declined", envelope: { status: "declined" } });
    const redirect = new URL(String(Object(declined.body).redirectUrl));
    expect(Object.fromEntries(redirect.searchParams)).toMatchObject({ y: "1", event: "declined", envelope: id });
    expect(await viewOf(app, bearer)).toMatchObject({ state: "declined", document: null });
    expect(await refusal(app, "/v1/signing/exchange", { key: null, json: { token } })).toMatchObject({
      status: 401,
      code: "token-expired",
    });
    expect(await refusal(app, "/v1/signing/decline", { key, json: { reason: "again" } })).toMatchObject({
      code: "recipient-finished",
    });
    const done = await envelopeOf(app, id);
    expect(done).toMatchObject({ status: "declined", declinedReason: "The rent is too high." });
    expect(recipientOf(done, "Landlord").status).toBe("canceled");
  });

  test("is refused where the template does not offer it", async () => {
    const strict = await publishTemplate(app, { settings: { allowDecline: false, signatureMethods: ["type"] } });
    await send(app, strict, { tenant: { verification: "none" } });
    const bearer = await enter(app, "ada@example.com");
    const key = { bearer };
    expect(await viewOf(app, bearer)).toMatchObject({ allowDecline: false, signature: { methods: ["type"] } });
    expect(await refusal(app, "/v1/signing/decline", { key, json: { reason: "no" } })).toMatchObject({
      status: 403,
      code: "feature-disabled",
    });
    const json = await submission(app, bearer, { signature: drawn });
    expect(await refusal(app, "/v1/signing/submit", { key, json })).toMatchObject({ at: ["#/signature/method"] });
  });
});
