import { defineUpkeep } from "../../kernel/jobs.ts";

/** Notes how large the data is today. */
export const noteSize = defineUpkeep("appliance.sample-storage");
