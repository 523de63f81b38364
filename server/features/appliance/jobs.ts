import { defineRecurring } from "../../kernel/jobs.ts";

/** Notes how large the data is today. */
export const noteSize = defineRecurring("appliance.sample-storage");
