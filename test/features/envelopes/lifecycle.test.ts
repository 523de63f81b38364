import { rm } from "node:fs/promises";
import path from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { renderEnvelope } from "../../../server/features/envelopes/jobs.ts";
import {
  completeRecipient,
  declineRecipient,
  type EnvelopeRecord,
  loadEnvelope,
  markSealed,
} from "../../../server/features/envelopes/progress.ts";
import type { Tx } from "../../../server/kernel/db.ts";
import { AppError } from "../../../server/kernel/errors.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { shiftingClock } from "../../harness/clock.ts";
import {
  createEnvelope,
  type EnvelopeValue,
  getEnvelope,
  problemOf,
  publishTemplate,
  sentEnvelope,
  streamed,
  trailOf,
} from "../../harness/envelopes.ts";

const clock = shiftingClock();
let appliance: TestAppliance;
let template: string;
let parallel: string;

beforeAll(async () => {
  appliance = await startAppliance({ clock });
  template = await publishTemplate(appliance);
  parallel = await publishTemplate(appliance, { parallel: true });
});
afterAll(() => appliance.stop());

const first = (envelope: EnvelopeValue, index = 0) => envelope.recipients[index]?.id ?? "";
const post = (target: string, json: unknown = {}) => appliance.json(target, { json });

async function recordOf(tx: Tx, id: string): Promise<EnvelopeRecord> {
  const record = await loadEnvelope(tx, id);
  if (record === undefined) throw new Error(`no envelope ${id}`);
  return record;
}

/** Signs as signing does, without its checks of fields and picture. */
const sign = (envelope: string, recipient: string) =>
  appliance.deps.db.tx(async (tx) =>
    completeRecipient(tx, appliance.deps, await recordOf(tx, envelope), {
      recipient,
      consent: null,
      values: { "tenant-iban": "CH93" },
      auditData: { fieldsSha256: "0".repeat(64), signatureSha256: null, documentSha256: "1".repeat(64) },
      ip: "192.0.2.7",
      userAgent: "test",
    }),
  );

const codeOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work;
    return "done";
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
};

describe("voiding", () => {
  it("ends the envelope and tells those who were asked to sign", async () => {
    const envelope = await sentEnvelope(appliance, template);
    const { status, body } = await post(`/v1/envelopes/${envelope.id}/void`, { reason: "Wrong rent" });
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: "voided", voidReason: "Wrong rent", seal: "not_started", viewers: [] });
    const after = await getEnvelope(appliance, envelope.id);
    expect(after.recipients.map((one) => one.status)).toEqual(["canceled", "canceled"]);
    const told = (await appliance.mail()).filter((mail) => mail.envelope === envelope.id && mail.kind === "voided");
    expect(told.map(({ to }) => to.email)).toEqual(["ada@example.com"]);
    const again = await problemOf(appliance, `/v1/envelopes/${envelope.id}/void`, { json: { reason: "again" } });
    expect(again).toMatchObject({ status: 409, code: "envelope-not-in-progress" });
    expect((await trailOf(appliance, envelope.id)).data.at(-1)).toMatchObject({
      type: "envelope.voided",
      actor: { type: "api_key" },
      data: { reason: "Wrong rent" },
    });
  });

  it("works while the document is being drawn, and tells nobody when asked not to", async () => {
    const drawing = await createEnvelope(appliance, template);
    expect((await post(`/v1/envelopes/${drawing.id}/void`, { reason: "too early" })).status).toBe(200);
    const sent = await sentEnvelope(appliance, template);
    await post(`/v1/envelopes/${sent.id}/void`, { reason: "quietly", notify: false });
    const mails = (await appliance.mail()).filter(({ kind }) => kind === "voided");
    expect(mails.filter(({ envelope }) => envelope === drawing.id || envelope === sent.id)).toEqual([]);
    expect((await getEnvelope(appliance, drawing.id)).status).toBe("voided");
  });

  it("takes any reason for what it is: the sender's words", async () => {
    const envelope = await sentEnvelope(appliance, template);
    const reason = "render_failed";
    expect((await post(`/v1/envelopes/${envelope.id}/void`, { reason })).status).toBe(200);
    const told = (await appliance.mail()).filter((mail) => mail.envelope === envelope.id && mail.kind !== "code");
    expect(told.map(({ kind, to }) => [kind, to.email])).toContainEqual(["voided", "ada@example.com"]);
    expect(told.map(({ kind }) => kind)).not.toContain("render_failed");
  });

  it("never wins together with a signature", async () => {
    for (let round = 0; round < 10; round += 1) {
      const envelope = await sentEnvelope(appliance, parallel);
      await sign(envelope.id, first(envelope));
      const outcomes = await Promise.all([
        codeOf(sign(envelope.id, first(envelope, 1))),
        post(`/v1/envelopes/${envelope.id}/void`, { reason: "race" }).then(({ status }) => status),
        codeOf(sign(envelope.id, first(envelope, 1))),
      ]);
      const after = await getEnvelope(appliance, envelope.id);
      const trail = (await trailOf(appliance, envelope.id)).data.map(({ type }) => type);
      expect(trail.filter((type) => type === "envelope.completed" || type === "envelope.voided")).toHaveLength(1);
      expect(after.status).toBe(outcomes[1] === 200 ? "voided" : "completed");
      expect(outcomes.filter((outcome) => outcome === "done").length).toBe(after.status === "completed" ? 1 : 0);
    }
  });
});

describe("signing order and the end", () => {
  it("takes one signature of 200 concurrent ones and keeps the others' turn", async () => {
    const envelope = await sentEnvelope(appliance, template);
    expect(await codeOf(sign(envelope.id, first(envelope, 1)))).toBe("not-recipients-turn");
    const outcomes = await Promise.all(Array.from({ length: 200 }, () => codeOf(sign(envelope.id, first(envelope)))));
    expect(outcomes.filter((outcome) => outcome === "done")).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === "recipient-finished")).toHaveLength(199);
    const after = await getEnvelope(appliance, envelope.id);
    expect(after.values?.recipients).toEqual({ tenant: { "tenant-iban": "CH93" } });
    expect((await trailOf(appliance, envelope.id)).verification.valid).toBe(true);
  });

  it("ends with the first who declines, and tells the sender and who was asked", async () => {
    const envelope = await sentEnvelope(appliance, parallel);
    await appliance.deps.db.tx(async (tx) =>
      declineRecipient(tx, appliance.deps, await recordOf(tx, envelope.id), {
        recipient: first(envelope),
        reason: "Too expensive",
        ip: null,
        userAgent: null,
      }),
    );
    const after = await getEnvelope(appliance, envelope.id);
    expect(after).toMatchObject({ status: "declined", declinedBy: first(envelope), declinedReason: "Too expensive" });
    expect(after.recipients.map(({ status }) => status)).toEqual(["declined", "canceled"]);
    const told = (await appliance.mail()).filter((mail) => mail.envelope === envelope.id && mail.kind === "declined");
    expect(told.map(({ to }) => to.email).toSorted()).toEqual(["Ben@example.com", appliance.owner.email].toSorted());
  });

  it("tells the sender that it was declined, even if nobody else had been asked to sign", async () => {
    const envelope = await sentEnvelope(appliance, template);
    const declined = { recipient: first(envelope), reason: "Too expensive", ip: null, userAgent: null };
    await appliance.deps.db.tx(async (tx) =>
      declineRecipient(tx, appliance.deps, await recordOf(tx, envelope.id), declined),
    );
    const told = (await appliance.mail()).filter((mail) => mail.envelope === envelope.id && mail.kind === "declined");
    expect(told.map(({ to }) => to.email)).toEqual([appliance.owner.email]);
    expect(told[0]?.text).toContain("Too expensive");
  });

  it("expires by itself when its time has come", async () => {
    const expiresAt = new Date(clock.now() + 2 * 3_600_000).toISOString();
    const envelope = await sentEnvelope(appliance, template, { expiresAt });
    clock.shift(2 * 3_600_000 - 60_000);
    appliance.jobs.wake();
    await appliance.jobs.idle();
    expect((await getEnvelope(appliance, envelope.id)).status).toBe("sent");
    clock.shift(60_000);
    expect(await codeOf(sign(envelope.id, first(envelope)))).toBe("envelope-not-in-progress");
    appliance.jobs.wake();
    await appliance.jobs.idle();
    const after = await getEnvelope(appliance, envelope.id);
    expect(after.status).toBe("expired");
    expect(after.expiredAt).not.toBeNull();
    expect(after.recipients.map(({ status }) => status)).toEqual(["canceled", "canceled"]);
  });

  it("is voided by the system when the document cannot be drawn for good", async () => {
    // Nothing can be drawn on a file that is gone; blobs are shared by content, so it has a content of its own.
    const broken = await publishTemplate(appliance, { pages: 3 });
    const { sha256 } = await appliance.deps.db.read
      .selectFrom("template_files")
      .select("sha256")
      .where("template", "=", broken)
      .executeTakeFirstOrThrow();
    await rm(path.join(appliance.folder, "blobs", sha256.slice(0, 2), sha256.slice(2, 4), sha256));
    const { id } = await createEnvelope(appliance, broken);
    await appliance.jobs.idle();
    expect(await getEnvelope(appliance, id)).toMatchObject({
      status: "rendering",
      failure: { stage: "render", code: "render-delayed", message: expect.stringContaining(sha256.slice(0, 8)) },
    });
    for (let attempt = 0; attempt <= renderEnvelope.maxAttempts; attempt += 1) {
      await appliance.jobs.idle();
      clock.shift(3_600_000);
      appliance.jobs.wake();
    }
    await appliance.jobs.idle();
    const after = await getEnvelope(appliance, id);
    expect(after).toMatchObject({ status: "voided", voidReason: "render_failed", failure: { stage: "render" } });
    const mails = (await appliance.mail()).filter((mail) => mail.envelope === id);
    expect(mails.map(({ kind, to }) => `${kind} ${to.email}`)).toEqual([`render_failed ${appliance.owner.email}`]);
  });
});

describe("viewers", () => {
  it("are added once each, and revoked for good", async () => {
    const envelope = await sentEnvelope(appliance, template, { viewers: [{ email: "One@example.com" }] });
    const target = `/v1/envelopes/${envelope.id}/viewers`;
    const added = await post(target, {
      viewers: [
        { email: "one@EXAMPLE.com", name: "ignored" },
        { email: "two@example.com", name: "Two", locale: "de" },
      ],
    });
    expect(added.status).toBe(200);
    expect(added.body).toMatchObject({
      data: [
        { id: envelope.viewers?.[0]?.id, email: "One@example.com", name: null, documentAccess: false },
        { email: "two@example.com", name: "Two", locale: "de", firstViewedAt: null },
      ],
      hasMore: false,
      nextCursor: null,
    });
    const gone = `${target}/${envelope.viewers?.[0]?.id}`;
    expect((await appliance.call(gone, { method: "DELETE" })).status).toBe(204);
    expect((await appliance.call(gone, { method: "DELETE" })).status).toBe(404);
    expect((await getEnvelope(appliance, envelope.id)).viewers?.map(({ email }) => email)).toEqual(["two@example.com"]);
    expect((await trailOf(appliance, envelope.id)).data.map(({ type }) => type).slice(-2)).toEqual([
      "viewer.added",
      "viewer.revoked",
    ]);
    await post(`/v1/envelopes/${envelope.id}/void`, { reason: "over" });
    expect(await problemOf(appliance, target, { json: { viewers: [{ email: "x@example.com" }] } })).toMatchObject({
      status: 409,
    });
  });
});

describe("viewers beyond the plan", () => {
  it("are at most a hundred of one envelope, however many calls add them", async () => {
    const envelope = await sentEnvelope(appliance, template);
    const target = `/v1/envelopes/${envelope.id}/viewers`;
    const people = (from: number, count: number) => ({
      viewers: Array.from({ length: count }, (_, index) => ({ email: `viewer${from + index}@example.com` })),
    });
    expect((await post(target, people(0, 99))).status).toBe(200);
    expect(await problemOf(appliance, target, { json: people(99, 2) })).toMatchObject({
      status: 422,
      errors: [{ pointer: "#/viewers", code: "max" }],
    });
    // Who is one already does not count twice.
    expect((await post(target, people(90, 10))).status).toBe(200);
    expect((await post(target, people(100, 1))).status).toBe(422);
    expect((await post(target, people(0, 100))).status).toBe(200);
    expect((await getEnvelope(appliance, envelope.id)).viewers).toHaveLength(100);
  });
});

describe("resending", () => {
  it("sends a fresh link once a minute, during that person's turn only", async () => {
    const envelope = await sentEnvelope(appliance, template);
    const target = (index: number) => `/v1/envelopes/${envelope.id}/recipients/${first(envelope, index)}/resend`;
    const early = await problemOf(appliance, target(0), { method: "POST" });
    expect(early).toMatchObject({ status: 429, code: "rate-limited" });
    expect(Number(early.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await problemOf(appliance, target(1), { method: "POST" })).toMatchObject({
      status: 409,
      code: "not-recipients-turn",
    });
    clock.shift(60_000);
    const { status, body } = await appliance.json(target(0), { method: "POST" });
    expect(status).toBe(200);
    expect(body).toMatchObject({ id: first(envelope), status: "sent", sentAt: envelope.recipients[0]?.sentAt });
    expect((await getEnvelope(appliance, envelope.id)).recipients[0]?.lastSentAt).not.toBe(
      envelope.recipients[0]?.sentAt,
    );
    const links = (await appliance.mail()).filter(
      (mail) => mail.envelope === envelope.id && mail.kind === "signing_request",
    );
    expect(links).toHaveLength(2);
    expect(
      await problemOf(appliance, `/v1/envelopes/${envelope.id}/recipients/rcp_x/resend`, { method: "POST" }),
    ).toMatchObject({ status: 404 });
    await sign(envelope.id, first(envelope));
    expect(await problemOf(appliance, target(0), { method: "POST" })).toMatchObject({
      status: 409,
      code: "recipient-finished",
    });
  });
});

describe("the audit trail", () => {
  it("pages, and finds what was changed in the database itself", async () => {
    const { id } = await sentEnvelope(appliance, template, { viewers: [{ email: "vi@example.com" }] });
    const page = await appliance.json(`/v1/envelopes/${id}/events?limit=3`);
    expect(page.body).toMatchObject({
      hasMore: true,
      envelope: id,
      data: [{ seq: 1 }, { seq: 2 }, { seq: 3 }],
      verification: { valid: true, length: 4 },
    });
    const cursor =
      typeof page.body === "object" && page.body !== null && "nextCursor" in page.body
        ? String(page.body.nextCursor)
        : "";
    const rest = await appliance.json(`/v1/envelopes/${id}/events?limit=3&cursor=${cursor}`);
    expect(rest.body).toMatchObject({ hasMore: false, nextCursor: null, data: [{ seq: 4 }] });

    const { db } = appliance.deps;
    const change = db.tx((tx) =>
      tx.updateTable("audit_entries").set({ ip: "192.0.2.99" }).where("envelope", "=", id).execute(),
    );
    await expect(change).rejects.toThrow("append-only");
    await expect(db.tx((tx) => tx.deleteFrom("audit_entries").where("envelope", "=", id).execute())).rejects.toThrow(
      "append-only",
    );
    await db.tx(async (tx) => {
      await sql`drop trigger audit_entries_no_update`.execute(tx);
      await tx
        .updateTable("audit_entries")
        .set({ data: '{"email":"evil@example.com"}' })
        .where("envelope", "=", id)
        .where("seq", "=", 2)
        .execute();
      await sql`create trigger audit_entries_no_update before update on audit_entries begin select raise(abort, 'audit_entries is append-only'); end`.execute(
        tx,
      );
    });
    expect((await trailOf(appliance, id)).verification).toMatchObject({ valid: false, brokenAtSeq: 2, length: 4 });
  });
});

describe("the event stream", () => {
  it("sends what was, then what comes, ends with a settled envelope and resumes", async () => {
    const envelope = await createEnvelope(appliance, parallel);
    const response = await appliance.call(`/v1/envelopes/${envelope.id}/events/stream`);
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    const events = streamed(response);
    const next = async () => (await events.next()).value ?? {};
    expect(await next()).toEqual({ retry: "3000" });
    const entry = async () => {
      const event = await next();
      return `${event.id} ${JSON.parse(event.data ?? "{}").type}`;
    };
    expect([await entry(), await entry(), await entry(), await entry()]).toEqual([
      "1 envelope.created",
      "2 envelope.ready",
      "3 recipient.sent",
      "4 recipient.sent",
    ]);
    await post(`/v1/envelopes/${envelope.id}/void`, { reason: "over" });
    expect(await entry()).toBe("5 envelope.voided");
    expect(await next()).toEqual({ event: "end", data: "{}" });
    expect((await events.next()).done).toBe(true);

    const resume = (seq: string) =>
      appliance.call(`/v1/envelopes/${envelope.id}/events/stream`, { headers: { "last-event-id": seq } });
    const rest = [];
    for await (const event of streamed(await resume("4"))) rest.push(event.id ?? event.event ?? "retry");
    expect(rest).toEqual(["retry", "5", "end"]);
    expect((await resume("5")).status).toBe(204);
    expect((await resume("four")).status).toBe(422);
  });

  it("ends where the last entries of a settled envelope are missing, instead of asking for them for ever", async () => {
    const { id } = await sentEnvelope(appliance, parallel);
    await post(`/v1/envelopes/${id}/void`, { reason: "over" });
    await appliance.deps.db.tx(async (tx) => {
      await sql`drop trigger audit_entries_no_delete`.execute(tx);
      await tx.deleteFrom("audit_entries").where("envelope", "=", id).where("seq", ">", 3).execute();
      await sql`create trigger audit_entries_no_delete before delete on audit_entries begin select raise(abort, 'audit_entries is append-only'); end`.execute(
        tx,
      );
    });
    const told = [];
    const response = await appliance.call(`/v1/envelopes/${id}/events/stream`);
    for await (const event of streamed(response)) told.push(event.id ?? event.event ?? "retry");
    expect(told).toEqual(["retry", "1", "2", "3", "end"]);
  });

  it("stays open while the seal is pending", async () => {
    const envelope = await sentEnvelope(appliance, parallel);
    await sign(envelope.id, first(envelope));
    const controller = new AbortController();
    const response = await appliance.call(`/v1/envelopes/${envelope.id}/events/stream`, { signal: controller.signal });
    const types: string[] = [];
    const { deps } = appliance;
    for await (const event of streamed(response)) {
      if (event.data === undefined || event.event === "end") continue;
      const { type } = JSON.parse(event.data);
      types.push(type);
      if (types.length === 4) {
        // The second signature and the seal in one transaction, so that no job comes between.
        await deps.db.tx(async (tx) => {
          const { id } = envelope;
          await completeRecipient(tx, deps, await recordOf(tx, id), {
            recipient: first(envelope, 1),
            consent: null,
            values: {},
            auditData: {},
            ip: null,
            userAgent: null,
          });
          await markSealed(tx, deps, {
            envelope: id,
            sealedSha256: "a".repeat(64),
            certificateSha256: "b".repeat(64),
            attachments: [],
            level: "B-T",
            sealedAt: clock.ts(),
          });
        });
      }
    }
    expect(types.slice(-3)).toEqual(["recipient.signed", "envelope.completed", "envelope.sealed"]);
    expect(await getEnvelope(appliance, envelope.id)).toMatchObject({
      status: "completed",
      seal: "sealed",
      sealLevel: "B-T",
      sealedSha256: "a".repeat(64),
    });
  });
});
