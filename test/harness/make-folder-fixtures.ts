import { movableClock } from "./clock.ts";
import "../../server/node-version.ts";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { z } from "zod";
import { anchorNow } from "../../server/features/evidence/anchors/signing.ts";
import { startAppliance } from "./appliance.ts";
import { sealedEnvelope } from "./bundles.ts";
import { png } from "./pictures.ts";
import { enter, ok, publishTemplate, type SentOptions, send, submission } from "./scenario.ts";
import { startSmtpSink } from "./smtp.ts";

/**
 * Leaves a data folder in the middle of its work, with what a client needs to go on in it, to be taken over by every later
 * version: `node test/harness/make-folder-fixtures.ts COMMIT`, in a checkout of that commit. A folder that exists stays as it
 * is for ever.
 */

const target = path.join(import.meta.dirname, "../fixtures/folders", process.argv[2] ?? "");
mkdirSync(target, { recursive: true });
const folder = mkdtempSync(path.join(tmpdir(), "signet-fixture-"));
const clock = movableClock("2026-11-23T03:00:00.000Z");
const minute = 60_000;
const [ada, ben] = ["ada@example.com", "ben@example.com"];

let app = await startAppliance({ folder, clock });
const { keys, organization, owner } = app;

/** Each mail a moment of its own, so that the newest is the one that was asked for last. */
const sendNext = async (template: string, options?: SentOptions) => {
  clock.advance(minute);
  return (await send(app, template, options)).id;
};
const enterAs = async (email: string) => {
  clock.advance(minute);
  return await enter(app, email);
};
const signAs = async (email: string) => {
  const bearer = await enterAs(email);
  await ok(app, 200, "/v1/signing/submit", { key: { bearer }, json: await submission(app, bearer) });
  await app.jobs.idle();
};

const plain = await publishTemplate(app, { settings: { allowReassign: true } });
const consentText = "Mit meiner Unterschrift nehme ich die Hausordnung an.";
const own = await publishTemplate(app, { settings: { locale: "de", consentText } });

const envelopes: Record<string, string> = {};
const bearers: Record<string, string> = {};

envelopes.sealed = await sealedEnvelope(app, clock, plain);
envelopes.sealedOwnConsent = await sealedEnvelope(app, clock, own);
await anchorNow(app.deps);

const expiresAt = new Date(clock.now() + 2 * 3_600_000).toISOString();
envelopes.expired = await sendNext(plain, { envelope: { expiresAt } });
clock.advance(3 * 3_600_000);
app.jobs.wake();
await app.jobs.idle();

envelopes.voided = await sendNext(plain);
await ok(app, 200, `/v1/envelopes/${envelopes.voided}/void`, { json: { reason: "Sent by mistake" } });

envelopes.declined = await sendNext(plain);
const refusing = { bearer: await enterAs(ada) };
await ok(app, 200, "/v1/signing/decline", { key: refusing, json: { reason: "Too expensive" } });

/** The first person has signed, the second has been asked. */
envelopes.half = await sendNext(plain);
await signAs(ada);
bearers.half = await enterAs(ben);

envelopes.halfOwnConsent = await sendNext(own);
await signAs(ada);
bearers.halfOwnConsent = await enterAs(ben);

/** In test mode nothing is sealed for good. */
envelopes.test = await sendNext(plain, { key: "test" });
bearers.test = await enterAs(ada);

/** The first person has looked, entered the code and added a file. */
envelopes.opened = await sendNext(plain, { envelope: { viewers: [{ email: "lea@example.com", name: "Lea" }] } });
bearers.opened = await enterAs(ada);
const form = new FormData();
form.set("field", "card");
form.set("file", new Blob([Uint8Array.from(png(40, 40))], { type: "image/png" }), "passport.png");
const added = await ok(app, 201, "/v1/signing/attachments", { key: { bearer: bearers.opened }, body: form });
const attachment = z.object({ id: z.string() }).parse(added.body).id;

/** Passed on to somebody who has not looked yet. */
envelopes.reassigned = await sendNext(plain);
const passing = { bearer: await enterAs(ada) };
const cara = { name: "Cara Neu", email: "cara@example.com", reason: "On leave" };
await ok(app, 200, "/v1/signing/reassign", { key: passing, json: cara });
await app.jobs.idle();

/** Signed by both below, while no job runs. */
envelopes.closing = await sendNext(plain);
await signAs(ada);
bearers.closing = await enterAs(ben);
await app.stop();

// A mail server that refuses the first letter for good; afterwards nothing is worked off any more.
clock.advance(minute);
const sink = await startSmtpSink();
sink.refusals.push({ at: "rcpt", code: 550 });
const baseUrl = "https://sign.example.com";
const port = "18993";
// Mails that lead to a loopback address would be held back.
const env = { SIGNET_SMTP_URL: sink.url, SIGNET_BASE_URL: baseUrl, SIGNET_PORT: port };
const direct = globalThis.fetch;
globalThis.fetch = (to, init) => direct(String(to).replace(baseUrl, `http://127.0.0.1:${port}`), init);
app = await startAppliance({ folder, clock, env, owner: "second@example.com" });
const create = async (template: string, title: string) => {
  const recipients = [
    { role: "Tenant", name: "Ada Muster", email: ada },
    { role: "Landlord", name: "Ben Beispiel", email: ben },
  ];
  const json = { template, title, recipients };
  const { body } = await ok(app, 201, "/v1/envelopes", { key: { bearer: keys.live }, json });
  return z.object({ id: z.string() }).parse(body).id;
};
envelopes.rejected = await create(plain, "Refused by the mail server");
await app.jobs.idle();
await app.jobs.stop(1000);
envelopes.queued = await create(own, "Created last");
const last = { bearer: bearers.closing };
await ok(app, 200, "/v1/signing/submit", { key: last, json: await submission(app, last.bearer) });
const link = await app.json("/auth/magic-links", {
  key: null,
  json: { email: owner.email },
  headers: { origin: baseUrl },
});
if (link.status !== 202) throw new Error(`the link was answered with ${link.status}: ${JSON.stringify(link.body)}`);
const jobs = await app.deps.db.read.selectFrom("jobs").select(["name", "status"]).execute();
console.log(jobs.map(({ name, status }) => `${status} ${name}`).join("\n"));
await app.stop();
await sink.close();

const about = { at: clock.ts(), baseUrl, organization, owner, keys, envelopes, bearers, attachment, consentText };
writeFileSync(path.join(target, "about.json"), `${JSON.stringify(about, null, 2)}\n`);
// Locks that each start makes anew, and copies of mails that no mail server took.
for (const made of ["run", "outbox"]) rmSync(path.join(folder, made), { recursive: true });
cpSync(folder, path.join(target, "folder"), { recursive: true });
rmSync(folder, { recursive: true });
