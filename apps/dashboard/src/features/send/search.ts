import { z } from "zod";

const parts = ["people", "content", "fields", "review"] as const;
/** One of the three parts of the way to an envelope. */
export type Step = (typeof parts)[number];
export const Step = z.enum(parts);

/** The parts behind the choice of a template, in their order. */
export const templateSteps: readonly Step[] = ["people", "content", "review"];
/** Those behind a document that is no template. */
export const documentSteps: readonly Step[] = ["people", "fields", "review"];

/** What the address of the page says: each part is an entry of the browser's history. */
export const SendSearch = z.object({
  template: z.string().max(64).optional().catch(undefined),
  step: Step.optional().catch(undefined),
});
