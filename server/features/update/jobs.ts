import { defineUpkeep } from "../../kernel/jobs.ts";

/** Deletes the database of before the last update, once it was kept long enough. */
export const dropKept = defineUpkeep("update.forget-kept");
