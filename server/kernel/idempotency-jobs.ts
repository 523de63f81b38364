import { defineRecurring } from "./jobs.ts";

/** Deletes the replies that are kept for a repeated call no longer. */
export const forgetReplies = defineRecurring("kernel.forget-replies");
