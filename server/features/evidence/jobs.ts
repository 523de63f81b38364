import { z } from "zod";
import { defineJob, defineRecurring, exponentialBackoff } from "../../kernel/jobs.ts";

/**
 * Raises a seal to the level of the settings, or renews it before its last document timestamp ends. For as long as it
 * takes: 1 s, 2 s … then twice a day. Enqueue it with `extendDedupeKey`.
 */
export const extendSeal = defineJob({
  name: "evidence.extend",
  payload: z.object({ envelope: z.string() }),
  subject: "envelope",
  maxAttempts: 1_000_000,
  backoffMs: (attempt) => Math.min(1000 * 2 ** Math.min(attempt - 1, 30), 12 * 3_600_000),
  queue: "seal",
});

export const extendDedupeKey = (envelope: string): string => `evidence.extend:${envelope}`;

/** Looks once a day which seals are to be renewed. One at a time: enqueue it with `renewDedupeKey`. */
export const renewSeals = defineJob({
  name: "evidence.renew",
  payload: z.object({}),
  maxAttempts: 1_000_000,
  queue: "renew",
});

export const renewDedupeKey = "evidence.renew";

/**
 * Queues an extension for the next few seals below the level of the settings, those behind `after`, until none is left.
 * One at a time: enqueue it with `raiseDedupeKey`.
 */
export const raiseSeals = defineJob({
  name: "evidence.raise",
  payload: z.object({ after: z.string() }),
  maxAttempts: 1_000_000,
  queue: "renew",
});

export const raiseDedupeKey = "evidence.raise";

/** Signs an anchor over all leaves that none covers yet. One at a time: enqueue it with `anchorDedupeKey`. */
export const anchorLeaves = defineJob({
  name: "evidence.anchor",
  payload: z.object({}),
  maxAttempts: 1_000_000,
  queue: "anchor",
});

export const anchorDedupeKey = "evidence.anchor";

/** Gets the RFC 3161 token of an anchor: 1 s, 2 s … then every hour, over 40 days. */
export const stampAnchor = defineJob({
  name: "evidence.stamp-anchor",
  payload: z.object({ sequence: z.int() }),
  maxAttempts: 1000,
  backoffMs: exponentialBackoff,
});

/** Signs the notes that old anchors lack. One at a time: enqueue it with `noteDedupeKey`. */
export const noteAnchors = defineJob({
  name: "evidence.note-anchors",
  payload: z.object({ after: z.int() }),
  maxAttempts: 1000,
  backoffMs: exponentialBackoff,
});

export const noteDedupeKey = "evidence.note-anchors";

export const WitnessKind = z.enum(["folder", "url", "mail"]);
export type WitnessKind = z.infer<typeof WitnessKind>;

/** Hands an anchor to a witness: 1 s, 2 s … then every hour, over 40 days. */
export const tellWitness = defineJob({
  name: "evidence.witness",
  payload: z.object({ sequence: z.int(), witness: WitnessKind }),
  maxAttempts: 1000,
  backoffMs: exponentialBackoff,
});

/** Deletes download links that ended long ago. */
export const forgetDownloads = defineRecurring("evidence.forget-downloads");

/**
 * Queues again what looks after seals and anchors: seals may stand below a level that the settings ask for only now, or come from
 * a time before they were looked after.
 */
export const resumeWork = defineRecurring("evidence.resume");
