import { defineRecurring } from "../../kernel/jobs.ts";

/** Deletes templates that were made for one envelope, and of which none came within a day. */
export const sweepUnlisted = defineRecurring("templates.sweep");
