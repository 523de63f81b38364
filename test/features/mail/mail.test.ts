import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { simpleParser } from "mailparser";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import type { MailContent } from "../../../server/features/mail/contract.ts";
import { listMail, type MailRequest, purgeMails, queueMail } from "../../../server/features/mail/service.ts";
import type { Clock } from "../../../server/kernel/clock.ts";
import { toTs } from "../../../server/kernel/clock.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { type SmtpSink, startSmtpSink } from "../../harness/smtp.ts";

const publicUrl = "https://sign.example.com";
let now = Date.parse("2026-11-21T09:10:00.000Z");
const clock: Clock = { now: () => now, ts: () => toTs(now) };
afterEach(() => {
  now = Date.parse("2026-11-21T09:10:00.000Z");
});

async function start(env: Record<string, string> = {}): Promise<TestAppliance> {
  const appliance = await startAppliance({ env, clock });
  onTestFinished(() => appliance.stop());
  return appliance;
}

async function withSmtp(env: Record<string, string> = {}): Promise<{ appliance: TestAppliance; sink: SmtpSink }> {
  const sink = await startSmtpSink();
  onTestFinished(() => sink.close());
  return { appliance: await start({ SIGNET_SMTP_URL: sink.url, SIGNET_BASE_URL: publicUrl, ...env }), sink };
}

const request = (appliance: TestAppliance, content: MailContent, more: Partial<MailRequest> = {}): MailRequest => ({
  cause: `test:${content.kind}`,
  organization: appliance.organization,
  envelope: "env_test",
  testMode: false,
  to: { email: "sam@elsewhere.example", name: "Sam Signer" },
  locale: "en",
  content,
  ...more,
});
const queue = (appliance: TestAppliance, mail: MailRequest) =>
  appliance.deps.db.tx((tx) => queueMail(tx, appliance.deps, mail));
const all = (appliance: TestAppliance) => listMail(appliance.deps.db.read, appliance.deps);

const invitation = (appliance: TestAppliance): MailContent => ({
  kind: "signing_request",
  sender: "Example Ltd",
  title: "Lease",
  message: "Please have a look.\nThank you.",
  recipientName: "Sam",
  link: `${appliance.deps.config.appUrl}/sign#svcs_secret`,
  expiresAt: "2026-12-01T12:00:00.000Z",
});
const code: MailContent = { kind: "code", code: "482913", title: "Lease", minutes: 10 };

describe("with a mail server", () => {
  test("a mail arrives with both forms, and its link is wiped here", async () => {
    const { appliance, sink } = await withSmtp({ SIGNET_MAIL_FROM: "Example <post@example.com>" });
    await queue(appliance, request(appliance, invitation(appliance)));
    await appliance.jobs.idle();
    const [got] = sink.received;
    expect(got).toMatchObject({ from: "post@example.com", to: ["sam@elsewhere.example"] });
    expect(got?.mail).toMatchObject({ subject: "Example Ltd asks you to sign “Lease”", date: new Date(now) });
    expect(got?.mail.text).toContain(`${publicUrl}/sign#svcs_secret`);
    expect(got?.mail.text).toContain("> Please have a look.\n> Thank you.");
    expect(got?.mail.html).toContain(`href="${publicUrl}/sign#svcs_secret"`);
    expect(got?.mail.html).not.toMatch(/<script|<img|https?:\/\/(?!sign\.example\.com)/);
    expect(got?.mail.headers.get("auto-submitted")).toBe("auto-generated");
    const [record] = await all(appliance);
    expect(record).toMatchObject({ status: "sent", sentAt: toTs(now), text: null, link: null });
    expect(got?.mail.messageId).toBe(record?.messageId);
    expect(record?.messageId).toMatch(/^<[0-9a-f]{40}@sign\.example\.com>$/);
  });

  test("a cause writes one mail, also when it is named twice at once", async () => {
    const { appliance, sink } = await withSmtp();
    const mail = request(appliance, code);
    await Promise.all(Array.from({ length: 20 }, () => queue(appliance, mail)));
    await queue(appliance, { ...mail, cause: "another" });
    await appliance.jobs.idle();
    expect(sink.received).toHaveLength(2);
    expect(new Set(sink.received.map(({ mail }) => mail.messageId)).size).toBe(2);
    expect(sink.connections()).toBeLessThanOrEqual(2);
  });

  test("nothing is sent when the transaction is rolled back", async () => {
    const { appliance, sink } = await withSmtp();
    const failed = appliance.deps.db.tx(async (tx) => {
      await queueMail(tx, appliance.deps, request(appliance, code));
      throw new Error("no");
    });
    await expect(failed).rejects.toThrow("no");
    await appliance.jobs.idle();
    expect([sink.offered(), await all(appliance)]).toEqual([0, []]);
  });

  test.each([
    { at: "rcpt", code: 450 },
    { at: "data", code: 451 },
  ] as const)("a temporary $code at $at is tried again with the same Message-ID", async (refusal) => {
    const { appliance, sink } = await withSmtp();
    sink.refusals.push(refusal);
    await queue(appliance, request(appliance, code));
    await appliance.jobs.idle();
    expect([sink.offered(), sink.received.length]).toEqual([1, 0]);
    const [waiting] = await all(appliance);
    expect(waiting).toMatchObject({ status: "queued", code: "482913" });
    now += 60_000;
    appliance.jobs.wake();
    await appliance.jobs.idle();
    expect(sink.received.map(({ mail }) => mail.messageId)).toEqual([waiting?.messageId]);
    expect(sink.received[0]?.mail.text).toContain("482913");
    expect((await all(appliance))[0]).toMatchObject({ status: "sent", code: null });
  });

  test.each([
    { at: "rcpt", code: 550 },
    { at: "data", code: 554 },
  ] as const)("a final $code at $at is kept as failed and not tried again", async (refusal) => {
    const { appliance, sink } = await withSmtp();
    sink.refusals.push(refusal);
    await queue(appliance, request(appliance, code));
    await appliance.jobs.idle();
    now += 24 * 3_600_000;
    appliance.jobs.wake();
    await appliance.jobs.idle();
    expect(sink.offered()).toBe(1);
    const [record] = await all(appliance);
    expect(record).toMatchObject({ status: "failed", code: null, text: null, sentAt: null });
    expect(record?.error).toContain(String(refusal.code));
  });

  test("a server that is away loses nothing", async () => {
    const { appliance, sink } = await withSmtp();
    await sink.close();
    await queue(appliance, request(appliance, code));
    await appliance.jobs.idle();
    expect((await all(appliance))[0]).toMatchObject({ status: "queued" });
    const jobs = appliance.deps.db.read.selectFrom("jobs").select("status").where("name", "=", "mail.send");
    expect(await jobs.execute()).toEqual([{ status: "queued" }]);
  });

  test("names, titles and messages cannot add headers or recipients", async () => {
    const { appliance, sink } = await withSmtp();
    const nasty = `X"\r\nBcc: victim@example.net\r\n\r\n<b>body</b>\u2028Subject: other \u202eevil`;
    const content: MailContent = {
      kind: "signing_request",
      sender: nasty,
      title: nasty,
      message: nasty,
      recipientName: nasty,
      link: `${publicUrl}/sign#t`,
      expiresAt: null,
    };
    await queue(appliance, request(appliance, content, { to: { email: "sam@elsewhere.example", name: nasty } }));
    await appliance.jobs.idle();
    const [got] = sink.received;
    expect(got?.to).toEqual(["sam@elsewhere.example"]);
    expect(got?.mail.bcc).toBeUndefined();
    const head = got?.raw.slice(0, got.raw.indexOf("\r\n\r\n")) ?? "";
    expect(head).not.toMatch(/^(bcc|subject: other)/im);
    expect(got?.mail.subject).not.toMatch(/[\r\n\u2028\u202e]/);
    const to = got?.mail.to;
    expect(Array.isArray(to) ? undefined : to?.value).toMatchObject([{ address: "sam@elsewhere.example" }]);
    expect(got?.mail.html).toContain("&lt;b&gt;body&lt;/b&gt;");
    expect(got?.mail.html).not.toContain("<b>body");
  });

  test("text that looks like a translation mark stays text", async () => {
    const { appliance, sink } = await withSmtp();
    const title = "$t(code.heading) {{sender}}";
    await queue(appliance, request(appliance, { ...code, title }));
    await appliance.jobs.idle();
    expect(sink.received[0]?.mail.subject).toBe(`Your code for “${title}”`);
    expect(sink.received[0]?.mail.text).toContain(`continue with “${title}”`);
  });

  test("sealed files are attached up to 7 MB, larger ones go as a link", async () => {
    const { appliance, sink } = await withSmtp();
    const { deps } = appliance;
    const small = await deps.blobs.put(Buffer.alloc(1024, "a"));
    const large = await deps.blobs.put(Buffer.alloc(7 * 1024 * 1024 + 1, "b"));
    const completed = (sealed: string, certificate: string | null): MailContent => ({
      kind: "completed",
      title: "Lease",
      link: `${publicUrl}/v1/public/documents/svcd_x`,
      sealedSha256: sealed,
      certificateSha256: certificate,
      filename: "Lease: north/south.pdf",
      sealFailed: false,
    });
    await queue(appliance, request(appliance, completed(small.sha256, small.sha256)));
    await appliance.jobs.idle();
    await queue(appliance, request(appliance, completed(large.sha256, null), { cause: "large" }));
    await appliance.jobs.idle();
    const [first, second] = sink.received.map(({ mail }) => mail);
    expect(first?.attachments.map(({ filename, size, contentType }) => [filename, size, contentType])).toEqual([
      ["Lease: north_south.pdf", 1024, "application/pdf"],
      ["Lease: north_south - certificate.pdf", 1024, "application/pdf"],
    ]);
    expect(first?.text).toContain("attached to this e-mail");
    expect(second?.attachments).toEqual([]);
    expect(second?.text).not.toContain("attached");
    expect(second?.text).toContain("/v1/public/documents/svcd_x");
  });

  test("live mail with a loopback base URL is held back and readable", async () => {
    const sink = await startSmtpSink();
    onTestFinished(() => sink.close());
    const appliance = await start({ SIGNET_SMTP_URL: sink.url });
    await queue(appliance, request(appliance, invitation(appliance)));
    await queue(
      appliance,
      request(appliance, code, {
        testMode: true,
        to: { email: appliance.owner.email, name: null },
      }),
    );
    await appliance.jobs.idle();
    const records = await all(appliance);
    expect(records.map(({ kind, status, heldFor }) => [kind, status, heldFor]).sort()).toEqual([
      ["code", "sent", null],
      ["signing_request", "held", "loopback"],
    ]);
    expect(sink.received).toHaveLength(1);
  });
});

describe("test mode", () => {
  test("writes to members only; what is held back can be read, codes included", async () => {
    const { appliance, sink } = await withSmtp();
    await queue(appliance, request(appliance, code, { testMode: true }));
    const owner = { email: appliance.owner.email.toUpperCase(), name: null };
    await queue(appliance, request(appliance, code, { testMode: true, cause: "member", to: owner }));
    await appliance.jobs.idle();
    expect(sink.received.map(({ to }) => to)).toEqual([["OWNER@example.com"]]);
    const held = await listMail(appliance.deps.db.read, appliance.deps, { status: "held" });
    expect(held).toMatchObject([{ heldFor: "test_mode", code: "482913", to: { email: "sam@elsewhere.example" } }]);
    expect(held[0]?.text).toContain("482913");
  });
});

describe("what lies here", () => {
  test("forgets its codes after a day and its links when they have ended", async () => {
    const { appliance } = await withSmtp();
    await queue(appliance, request(appliance, code, { testMode: true, cause: "code" }));
    await queue(appliance, request(appliance, invitation(appliance), { testMode: true, cause: "link" }));
    const kept = async () =>
      (await listMail(appliance.deps.db.read, appliance.deps, {}))
        .filter(({ text }) => text !== null)
        .map(({ kind }) => kind);
    await appliance.deps.db.tx((tx) => purgeMails(tx, appliance.deps));
    expect((await kept()).toSorted()).toEqual(["code", "signing_request"]);
    now += 86_400_001;
    await appliance.deps.db.tx((tx) => purgeMails(tx, appliance.deps));
    expect(await kept()).toEqual(["signing_request"]);
    now += 30 * 86_400_000;
    await appliance.deps.db.tx((tx) => purgeMails(tx, appliance.deps));
    expect(await kept()).toEqual([]);
  });
});

describe("without a mail server", () => {
  test("each mail is a file for the operator alone, and readable in the outbox", async () => {
    const appliance = await start();
    await queue(appliance, request(appliance, invitation(appliance)));
    const [record] = await appliance.mail();
    expect(record).toMatchObject({ status: "written", link: `${appliance.url}/sign#svcs_secret` });
    const folder = path.join(appliance.folder, "outbox");
    expect(await readdir(folder)).toEqual([`${record?.id}.eml`]);
    const file = path.join(folder, `${record?.id}.eml`);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const mail = await simpleParser(await readFile(file));
    expect(mail).toMatchObject({ subject: record?.subject, messageId: record?.messageId });
    expect(mail.text).toContain(record?.link);
  });

  test("what a mail says is encrypted in the database", async () => {
    const appliance = await start();
    await queue(appliance, request(appliance, code, { testMode: true }));
    const rows = await appliance.deps.db.read.selectFrom("mails").selectAll().execute();
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain("482913");
    const [jobs] = [await appliance.deps.db.read.selectFrom("jobs").selectAll().execute()];
    expect(JSON.stringify(jobs)).not.toContain("482913");
  });

  test("a link to elsewhere is refused", async () => {
    const appliance = await start();
    const content = { ...invitation(appliance), link: "https://evil.example/sign#x" } as MailContent;
    await expect(queue(appliance, request(appliance, content))).rejects.toThrow(/configured URLs/);
    await expect(
      queue(appliance, request(appliance, { ...content, link: `${appliance.url}.evil.example/` } as MailContent)),
    ).rejects.toThrow(/configured URLs/);
  });
});
