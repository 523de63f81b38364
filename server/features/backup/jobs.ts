import { z } from "zod";
import { defineJob, defineRecurring } from "../../kernel/jobs.ts";
import { Actor } from "../../kernel/wire.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** What has failed for an hour is not mended within the next minute. */
const backoffMs = (attempt: number) => Math.min(minuteMs * 2 ** (attempt - 1), hourMs);
/** One at a time, whatever it is. */
const common = { queue: "backup", slots: 1, maxAttempts: 20, backoffMs, subject: "id" } as const;

/** Writes a backup and verifies it. A failure is recorded in its row; only a death of the process repeats it. */
export const runBackup = defineJob({ name: "backup.run", payload: z.object({ id: z.string() }), ...common });

export const runVerify = defineJob({
  name: "backup.verify",
  payload: z.object({ id: z.string(), actor: Actor }),
  ...common,
});

export const runDrill = defineJob({
  name: "backup.drill",
  payload: z.object({ id: z.string(), backup: z.string().nullable() }),
  ...common,
});

/** Begins a backup when one is due. */
export const planBackup = defineRecurring("backup.plan");
