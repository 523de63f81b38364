import { z } from "zod";

/** The steps behind the choice of a template, in their order. */
export const steps = ["people", "content", "options", "review"] as const;
export type Step = (typeof steps)[number];

/** What the address of the page says: each step is an entry of the browser's history. */
export const SendSearch = z.object({
  template: z.string().max(64).optional().catch(undefined),
  step: z.enum(steps).optional().catch(undefined),
});
