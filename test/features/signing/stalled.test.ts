import { afterAll, beforeAll, expect, test } from "vitest";
import { countersign, inviteRecipient } from "../../../server/features/envelopes/jobs.ts";
import { handlers } from "../../../server/features/signing/handlers.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { envelopeOf, ok, publishTemplate, recipientOf, send } from "../../harness/scenario.ts";

let app: TestAppliance;
let template: string;

beforeAll(async () => {
  app = await startAppliance();
  template = await publishTemplate(app);
});
afterAll(async () => app.stop());

function bindingOf(name: string) {
  const found = handlers(app.deps).find(({ job }) => job.name === name);
  if (!found) throw new Error(`no handler for ${name}`);
  return found;
}

const stalledMails = async (id: string) =>
  (await app.mail()).filter(({ envelope, kind }) => envelope === id && kind === "stalled");

test.each([
  [inviteRecipient.name, "invite-failed"],
  [countersign.name, "countersign-failed"],
])("an envelope whose %s is dead says so, and its sender is told", async (name, code) => {
  const envelope = await send(app, template);
  const payload = { envelope: envelope.id, recipient: recipientOf(envelope, "Tenant").id };
  await app.deps.db.tx((tx) => bindingOf(name).onDead(payload, new Error("the disk is full"), tx));
  const { failure } = await envelopeOf(app, envelope.id);
  expect(failure).toMatchObject({ code });
  // What went wrong inside is for the operator.
  expect(failure?.message).not.toContain("disk");
  expect((await stalledMails(envelope.id)).map(({ to }) => to.email)).toEqual([app.owner.email]);
});

test("a link that is sent after all clears it; one of an envelope that has ended is told to nobody", async () => {
  const envelope = await send(app, template);
  const payload = { envelope: envelope.id, recipient: recipientOf(envelope, "Tenant").id };
  const invite = bindingOf(inviteRecipient.name);
  await app.deps.db.tx((tx) => invite.onDead(payload, new Error("the disk is full"), tx));
  const context = { id: "job_again", attempt: 1, last: false, signal: new AbortController().signal };
  const commit = await invite.run(payload, context);
  if (commit) await app.deps.db.tx(commit);
  expect((await envelopeOf(app, envelope.id)).failure).toBeNull();
  await ok(app, 200, `/v1/envelopes/${envelope.id}/void`, { json: { reason: "No more" } });
  await app.deps.db.tx((tx) => invite.onDead(payload, new Error("the disk is full"), tx));
  expect((await envelopeOf(app, envelope.id)).failure).toBeNull();
  expect(await stalledMails(envelope.id)).toHaveLength(1);
});
