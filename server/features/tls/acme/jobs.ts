import { z } from "zod";
import { defineJob, defineRecurring } from "../../../kernel/jobs.ts";

/**
 * Goes on with the certificate by ACME: asks for one, waits for the authority, or looks whether the present one is to be
 * renewed. What fails is kept in its own row with the time of the next try; the backoff here is for a death of the process.
 */
export const acmeStep = defineJob({
  name: "tls.acme",
  payload: z.object({}),
  maxAttempts: 1_000_000,
  backoffMs: (attempt) => Math.min(1000 * 2 ** Math.min(attempt - 1, 20), 600_000),
  queue: "acme",
  slots: 1,
});

/** Goes on with what was set up before this start. */
export const resumeAcmeWork = defineRecurring("tls.resume-acme");
