import { expect, onTestFinished, test } from "vitest";
import type { MailContent } from "../../../server/features/mail/contract.ts";
import { queueMail } from "../../../server/features/mail/service.ts";
import type { Tx } from "../../../server/kernel/db.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { shiftingClock } from "../../harness/clock.ts";
import { type SmtpSink, startSmtpSink } from "../../harness/smtp.ts";

/** In which order mails about one envelope reach an address, and what waits behind what. */

const clock = shiftingClock();

async function start(): Promise<{ app: TestAppliance; sink: SmtpSink }> {
  const sink = await startSmtpSink();
  onTestFinished(() => sink.close());
  const env = { SIGNET_SMTP_URL: sink.url, SIGNET_BASE_URL: "https://sign.example.com" };
  const app = await startAppliance({ env, clock });
  onTestFinished(() => app.stop());
  return { app, sink };
}

const person = { sender: "Example Ltd", title: "Lease", message: null, recipientName: "Sam", expiresAt: null };
const link = "https://sign.example.com/sign#svcs_secret";
const request: MailContent = { kind: "signing_request", ...person, link };
const reminder: MailContent = { kind: "reminder", ...person, link };
const code: MailContent = { kind: "code", code: "482913", title: "Lease", minutes: 10 };

type Options = { to?: string; envelope?: string };
const put = (tx: Tx, { deps, organization }: TestAppliance, content: MailContent, options: Options = {}) => {
  const { to = "sam@elsewhere.example", envelope = "env_one" } = options;
  const cause = `${content.kind}:${to}:${envelope}`;
  const mail = { cause, organization, envelope, testMode: false, to: { email: to, name: null }, locale: "en", content };
  return queueMail(tx, deps, mail);
};
const queue = (app: TestAppliance, content: MailContent, options?: Options) =>
  app.deps.db.tx((tx) => put(tx, app, content, options));

/** What arrived, in the order in which it did: to whom and its subject. */
const arrived = ({ received }: SmtpSink) => received.map(({ to, mail }) => `${to[0]?.split("@")[0]} ${mail.subject}`);
const subjects = {
  request: "Example Ltd asks you to sign “Lease”",
  reminder: "Reminder: Example Ltd asks you to sign “Lease”",
  code: "Your code for “Lease”",
};

test("a reminder waits while the request before it is tried again", async () => {
  const { app, sink } = await start();
  sink.refusals.push({ at: "data", code: 451 });
  await queue(app, request);
  await app.jobs.idle();
  await queue(app, reminder);
  await queue(app, reminder, { to: "other@elsewhere.example" });
  await queue(app, reminder, { envelope: "env_two" });
  await app.jobs.idle();
  expect(sink.received.map(({ to }) => to[0]).sort()).toEqual(["other@elsewhere.example", "sam@elsewhere.example"]);
  await arrivals(app, sink, 4);
  expect(arrived(sink).slice(2)).toEqual([`sam ${subjects.request}`, `sam ${subjects.reminder}`]);
});

/** Moves the clock on until so many mails have arrived. */
async function arrivals(app: TestAppliance, sink: SmtpSink, count: number): Promise<void> {
  await expect
    .poll(async () => {
      clock.shift(20_000);
      await app.jobs.idle();
      return sink.received.length;
    })
    .toBe(count);
}

test("a code passes a thousand requests, and takes the one to its own address along", async () => {
  const { app, sink } = await start();
  await app.deps.db.tx(async (tx) => {
    for (let n = 0; n < 1000; n += 1) await put(tx, app, request, { to: `p${n}@elsewhere.example` });
    await put(tx, app, request);
    await put(tx, app, code);
  });
  await expect.poll(() => arrived(sink).filter((line) => line.startsWith("sam "))).toHaveLength(2);
  expect(sink.received.length).toBeLessThan(500);
  expect(arrived(sink).filter((line) => line.startsWith("sam "))).toEqual([
    `sam ${subjects.request}`,
    `sam ${subjects.code}`,
  ]);
}, 30_000);

test("a code does not wait for a request that the mail server has just put off", async () => {
  const { app, sink } = await start();
  // The first attempt, and the one that the code asks for.
  sink.refusals.push({ at: "data", code: 451 }, { at: "data", code: 451 });
  await queue(app, request);
  await app.jobs.idle();
  await queue(app, code);
  await expect.poll(() => arrived(sink)).toEqual([`sam ${subjects.code}`]);
  expect(sink.offered()).toBe(3);
  await arrivals(app, sink, 2);
  expect(arrived(sink)[1]).toBe(`sam ${subjects.request}`);
});
