import { defineRecurring } from "../../kernel/jobs.ts";

/** Makes the keys of the installation when it has none, so that the first who needs one does not wait for them. */
export const makeKeys = defineRecurring("keys.ensure");
