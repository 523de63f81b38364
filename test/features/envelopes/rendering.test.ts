import { expect, onTestFinished, test } from "vitest";
import {
  countersign,
  expireEnvelope,
  inviteRecipient,
  renderEnvelope,
  storeRevision,
} from "../../../server/features/envelopes/jobs.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { shiftingClock } from "../../harness/clock.ts";
import { createEnvelope, getEnvelope, publishTemplate } from "../../harness/envelopes.ts";

const hourMs = 3_600_000;

/** As when the disk cannot be read: every blob is gone. @returns what brings them back */
async function loseBlobs({ deps: { blobs } }: TestAppliance): Promise<() => Promise<void>> {
  const lost: Uint8Array[] = [];
  for await (const sha256 of blobs.list()) {
    lost.push(await blobs.get(sha256));
    await blobs.removeUnused(sha256, Number.POSITIVE_INFINITY);
  }
  return async () => {
    for (const content of lost) await blobs.put(content);
  };
}

test("an envelope whose document cannot be drawn for a day is drawn once that passes, and voided only after", async () => {
  const clock = shiftingClock();
  const appliance = await startAppliance({ clock });
  onTestFinished(() => appliance.stop());
  const template = await publishTemplate(appliance);
  const bringBack = await loseBlobs(appliance);
  const { id } = await createEnvelope(appliance, template);
  for (let hours = 0; hours < 23; hours += 1) {
    await appliance.jobs.idle();
    clock.shift(hourMs);
  }
  expect((await getEnvelope(appliance, id)).status).toBe("rendering");
  await bringBack();
  await appliance.jobs.idle();
  expect((await getEnvelope(appliance, id)).status).toBe("sent");

  await loseBlobs(appliance);
  const gone = await createEnvelope(appliance, template);
  for (let attempt = 0; attempt <= renderEnvelope.maxAttempts; attempt += 1) {
    await appliance.jobs.idle();
    clock.shift(hourMs);
  }
  expect((await getEnvelope(appliance, gone.id)).status).toBe("voided");
});

test("rendering is tried for a day, not for minutes and not for a week", () => {
  let waited = 0;
  for (let attempt = 1; attempt < renderEnvelope.maxAttempts; attempt += 1) waited += renderEnvelope.backoffMs(attempt);
  expect(waited / hourMs).toBeGreaterThan(24);
  expect(waited / hourMs).toBeLessThan(26);
});

test("drawing, which takes seconds, does not hold up links, countersignatures and ends", () => {
  const drawing = new Set([renderEnvelope.queue, storeRevision.queue]);
  for (const { name, queue } of [inviteRecipient, countersign, expireEnvelope]) {
    expect(drawing, name).not.toContain(queue);
  }
});
