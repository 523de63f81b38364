import { defineRecurring } from "../../kernel/jobs.ts";

/** Deletes the database kept from before the last update once its time is over. */
export const dropKept = defineRecurring("update.forget-kept");
