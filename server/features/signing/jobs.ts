import { z } from "zod";
import { defineJob } from "../../kernel/jobs.ts";

/** Removes an uploaded attachment that no submission refers to, 24 hours after the upload. */
export const purgeAttachment = defineJob({
  name: "signing.purge-attachment",
  payload: z.object({ attachment: z.string() }),
});
