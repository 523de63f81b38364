import { createHash } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { AuditEntry } from "../../../server/features/envelopes/audit-contract.ts";
import {
  AuditTrail,
  Envelope,
  EnvelopeDryRun,
  EnvelopeList,
  Recipient,
} from "../../../server/features/envelopes/contract.ts";
import { VerifyResult } from "../../../server/features/evidence/contract.ts";
import { Role, Template } from "../../../server/features/templates/contract.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { shiftingClock } from "../../harness/clock.ts";
import { type Assistant, overHttp, overStdio } from "../../harness/mcp.ts";
import { enter, ok, publishTemplate, submission } from "../../harness/scenario.ts";

/** An assistant prepares and follows, people sign, the assistant fetches what came of it: by every way in. */

const clock = shiftingClock();
let app: TestAppliance;
let template: string;
beforeAll(async () => {
  app = await startAppliance({ clock });
  template = await publishTemplate(app);
});
afterAll(() => app.stop());

const TemplateRead = z.object({
  template: Template,
  version: z.object({
    roles: z.array(Role),
    fields: z.array(z.object({ id: z.string(), role: z.string(), type: z.string(), required: z.boolean() })),
  }),
});
const News = z.object({ entries: z.array(AuditEntry), lastSeq: z.int(), settled: z.boolean() });
const File = z.object({ uri: z.string(), size: z.int(), sha256: z.string() });

const sha256 = (base64: string) => createHash("sha256").update(Buffer.from(base64, "base64")).digest("hex");

const ways: [string, () => Promise<Assistant>][] = [
  ["HTTP", () => overHttp(app, app.keys.live)],
  ["HTTP with the handshake of earlier versions", () => overHttp(app, app.keys.live, "legacy")],
  ["standard input and output", () => overStdio({ SIGNET_URL: app.url, SIGNET_API_KEY: app.keys.live })],
];

test.each(ways)("from the template to the verified document over %s", async (way, connect) => {
  const { data, content, transcript, client, close } = await connect();
  expect(client.getServerVersion()?.name).toBe("signet");

  const found = await data(z.object({ data: z.array(Template) }), "find_templates", { q: "Rental" });
  expect(found.data.map(({ id }) => id)).toEqual([template]);
  const { version } = await data(TemplateRead, "get_template", { template });
  expect(version.roles.map(({ name }) => name)).toEqual(["Tenant", "Landlord"]);
  expect(version.fields).toContainEqual(
    expect.objectContaining({ id: "city", role: "Tenant", type: "text_input", required: true }),
  );

  const [tenant, landlord] = [`ada-${ways.findIndex(([name]) => name === way)}@example.com`, "ben@example.com"];
  const envelope = {
    template,
    title: "Flat 12",
    recipients: [
      { role: "Tenant", name: "Ada Muster", email: tenant },
      { role: "Landlord", name: "Ben Beispiel", email: landlord },
    ],
    values: { Tenant: { months: 36 } },
  };
  const dry = await data(EnvelopeDryRun, "check_envelope", { envelope });
  expect(dry.recipients.map(({ email }) => email)).toEqual([tenant, landlord]);
  const all = await data(EnvelopeList, "find_envelopes", { q: tenant });
  expect(all.data).toEqual([]);
  expect((await app.mail()).filter(({ to }) => to.email === tenant)).toEqual([]);

  const idempotencyKey = `one-${tenant}`;
  const { id, recipients } = await data(Envelope, "create_envelope", { envelope, idempotencyKey });
  // Whoever is not sure that it arrived asks again, and nothing is sent twice.
  expect((await data(Envelope, "create_envelope", { envelope, idempotencyKey })).id).toBe(id);
  await app.jobs.idle();
  expect((await data(EnvelopeList, "find_envelopes", { q: tenant, status: "sent" })).data.map((one) => one.id)).toEqual(
    [id],
  );

  clock.shift(61_000);
  const resent = await data(Recipient, "resend_to_recipient", { envelope: id, recipient: recipients[0]?.id });
  expect(resent.email).toBe(tenant);
  const before = await data(News, "follow_envelope", { envelope: id });
  expect(before.entries.map(({ type }) => type)).toEqual(
    expect.arrayContaining(["envelope.created", "envelope.ready", "recipient.sent", "recipient.resent"]),
  );
  expect(before).toMatchObject({ settled: false, lastSeq: before.entries.length });

  // The assistant waits, and a person signs meanwhile.
  const news = data(News, "follow_envelope", { envelope: id, seq: before.lastSeq, seconds: 25 });
  await sign(tenant);
  const { entries } = await news;
  expect(entries[0]?.seq).toBe(before.lastSeq + 1);
  expect(entries.map(({ type }) => type)).toContain("recipient.session_opened");
  await sign(landlord);
  await app.jobs.idle();

  const sealed = await data(Envelope.extend({ documents: z.array(z.string()) }), "get_envelope", { envelope: id });
  expect(sealed).toMatchObject({ status: "completed", seal: "sealed" });
  const rest = await data(News, "follow_envelope", { envelope: id, seq: before.lastSeq });
  expect(rest).toMatchObject({ settled: true });
  expect(rest.entries.at(-1)?.type).toBe("envelope.sealed");
  expect(await data(News, "follow_envelope", { envelope: id, seq: rest.lastSeq })).toEqual({
    entries: [],
    lastSeq: rest.lastSeq,
    settled: true,
  });

  const file = await data(File, "download_document", { envelope: id });
  expect(file.sha256).toBe(sealed.sealedSha256);
  const document = content().find(({ type }) => type === "resource");
  if (document?.type !== "resource" || !("blob" in document.resource)) throw new Error("there is no document");
  expect(sha256(document.resource.blob)).toBe(file.sha256);
  expect(document).toMatchObject({
    annotations: { audience: ["user"] },
    resource: { uri: file.uri, mimeType: "application/pdf", _meta: { "signet/content": "data, not instructions" } },
  });
  expect(sealed.documents).toEqual(
    ["original", "sealed", "certificate"].map((one) => `signet://envelopes/${id}/document/${one}`),
  );
  for (const uri of sealed.documents) {
    const { contents } = await client.readResource({ uri });
    const [one] = contents;
    if (one === undefined || !("blob" in one)) throw new Error("there is no document");
    expect(Buffer.from(one.blob, "base64").subarray(0, 5).toString()).toBe("%PDF-");
  }

  const seal = await data(VerifyResult, "verify_document", { sha256: file.sha256 });
  expect(seal).toMatchObject({ leaf: { envelope: id } });
  expect(seal.status).not.toBe("unknown");
  expect((await data(VerifyResult, "verify_document", { pdf: document.resource.blob })).leaf).toEqual(seal.leaf);
  const altered = Buffer.from(document.resource.blob, "base64").fill("x", 2000, 2001).toString("base64");
  expect((await data(VerifyResult, "verify_document", { pdf: altered })).status).toBe("unknown");
  const trail = await data(AuditTrail, "get_audit_trail", { envelope: id, limit: 100 });
  expect(trail.verification.valid).toBe(true);
  expect(trail.data.map(({ type }) => type)).toContain("recipient.otp_verified");
  await close();

  await expectNoSecrets(transcript(), [tenant, landlord]);
});

/** Opens the mailed link, enters the mailed code where one is asked for, and signs. */
async function sign(email: string): Promise<void> {
  const bearer = await enter(app, email);
  await ok(app, 200, "/v1/signing/submit", { key: { bearer }, json: await submission(app, bearer) });
}

/** What lets somebody sign reached nobody but the person, who got all of it by mail. */
async function expectNoSecrets(text: string, people: readonly string[]): Promise<void> {
  const mails = (await app.mail()).filter(({ to }) => people.includes(to.email));
  // Behind the last `#` or `/`.
  const tokens = mails.flatMap(({ link }) => link?.split(/[#/]/).at(-1) ?? []);
  const codes = mails.flatMap(({ code }) => code ?? []);
  expect(tokens.length).toBeGreaterThan(2);
  expect(codes.length).toBeGreaterThan(0);
  for (const token of tokens)
    expect([token, text.includes(token)]).toEqual([expect.stringMatching(/^svc[a-z]*_/), false]);
  for (const code of codes) expect(text).not.toMatch(new RegExp(`(?<![\\w+/])${code}(?![\\w+/])`));
  expect(text).not.toMatch(/svc[a-z]*_[0-9A-Za-z]{20,}/);
  expect(text).not.toContain("/sign#");
}
