import type { Ts } from "../../kernel/clock.ts";
import type { Tx } from "../../kernel/db.ts";
import { enqueue } from "../../kernel/jobs.ts";
import { ReminderSettings } from "../templates/contract.ts";
import { remindRecipient } from "./jobs.ts";
import type { EnvelopeRow } from "./tables.ts";

const dayMs = 86_400_000;

export function remindersOf({ reminders }: Pick<EnvelopeRow, "reminders">): ReminderSettings | null {
  return reminders === null ? null : ReminderSettings.parse(JSON.parse(reminders));
}

/**
 * When the next reminder of a turn is due, in milliseconds: the first time of its schedule after `now`, so that what was
 * missed while the service was away is not made up for in a burst.
 * @param turn `since`: when the turn began; `sent`: reminders sent in it so far
 * @returns null when there is none any more
 */
export function nextReminderAt(
  { firstAfterDays, everyDays, max }: ReminderSettings,
  turn: { since: number; sent: number },
  now: number,
): number | null {
  if (turn.sent >= max) return null;
  const first = turn.since + firstAfterDays * dayMs;
  if (turn.sent === 0) return first;
  if (everyDays === null) return null;
  const every = everyDays * dayMs;
  return first + Math.max(1, Math.floor((now - first) / every) + 1) * every;
}

/** A recipient's turn has begun and they were asked by mail: queues the first reminder, where there are any. */
export async function startReminders(tx: Tx, envelope: EnvelopeRow, recipient: string, since: Ts): Promise<void> {
  const settings = remindersOf(envelope);
  if (settings === null) return;
  const runAt = nextReminderAt(settings, { since: Date.parse(since), sent: 0 }, Date.parse(since));
  if (runAt === null) return;
  await enqueue(tx, remindRecipient, { envelope: envelope.id, recipient, since, number: 1 }, { runAt });
}
