import { z } from "zod";
import { defineJob } from "../../kernel/jobs.ts";
import { viewerNews } from "../mail/contract.ts";

/** Mints a viewer's first link token and queues the mail that carries it. Does nothing for who was invited or revoked. */
export const inviteViewer = defineJob({
  name: "viewers.invite",
  payload: z.object({ envelope: z.string(), viewer: z.string() }),
  subject: "envelope",
});

/** Tells every viewer how the envelope ended, once. */
export const tellViewers = defineJob({
  name: "viewers.tell",
  payload: z.object({ envelope: z.string(), news: z.enum(viewerNews) }),
  subject: "envelope",
});

/** What the viewers are told: the first end counts, and a seal that comes after it failed is no second one. */
export type ViewerNews = z.infer<typeof tellViewers.payload>["news"];
