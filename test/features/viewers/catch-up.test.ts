import { expect, test } from "vitest";
import { catchUp } from "../../../server/migrations/0015-viewers.ts";
import { startAppliance } from "../../harness/appliance.ts";
import { movableClock } from "../../harness/clock.ts";
import { publishTemplate, send } from "../../harness/scenario.ts";

test("envelopes that were sent before there were reminders and viewers' mails get theirs", async () => {
  const clock = movableClock();
  const app = await startAppliance({ clock });
  try {
    const template = await publishTemplate(app);
    const viewers = [{ email: "lea@example.org" }];
    const reminders = { firstAfterDays: 2, everyDays: 1, max: 3 };
    await send(app, template, { envelope: { viewers, reminders } });
    const over = await send(app, template, {
      envelope: { viewers: [{ email: "kim@example.org" }], reminders },
      tenant: { email: "cleo@example.com" },
    });
    // As an earlier release left them: nobody invited, nothing queued.
    await app.deps.db.tx(async (tx) => {
      await tx.updateTable("viewers").set({ invited_at: null }).execute();
      await tx.deleteFrom("viewer_links").execute();
      await tx.deleteFrom("mails").where("kind", "=", "viewer_invite").execute();
      await tx.deleteFrom("jobs").execute();
      await tx.updateTable("envelopes").set({ status: "voided" }).where("id", "=", over.id).execute();
    });
    await app.deps.db.tx((tx) => catchUp(tx));
    app.jobs.wake();
    const kinds = async () => (await app.mail()).map(({ kind, to }) => `${kind} ${to.email}`);
    expect((await kinds()).filter((line) => line.startsWith("viewer"))).toEqual(["viewer_invite lea@example.org"]);
    clock.advance(2 * 86_400_000);
    app.jobs.wake();
    expect((await kinds()).filter((line) => line.startsWith("reminder"))).toEqual(["reminder ada@example.com"]);
  } finally {
    await app.stop();
  }
});
