import { defineRecurring } from "../../kernel/jobs.ts";

/** Deletes the database of before the last update, once it was kept long enough. */
export const dropKept = defineRecurring("update.forget-kept");
