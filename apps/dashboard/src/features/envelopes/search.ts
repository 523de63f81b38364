import { z } from "zod";
import type { EnvelopeStatus, SealStatus } from "../../../../../server/features/envelopes/contract.ts";

/**
 * What the pages show, as it stands in the address: shareable, and the way back works. A member that is no valid filter
 * is left out, so an old or mistyped address still shows the list. Only types come from the contract: the router loads
 * this before any page.
 */

export const statuses = [
  "rendering",
  "sent",
  "completed",
  "declined",
  "voided",
  "expired",
] as const satisfies readonly EnvelopeStatus[];
export const seals = ["not_started", "pending", "sealed", "failed"] as const satisfies readonly SealStatus[];
export const maxQuery = 200;

export const EnvelopesSearch = z.object({
  status: z.enum(statuses).optional().catch(undefined),
  seal: z.enum(seals).optional().catch(undefined),
  template: z
    .string()
    .regex(/^tpl_[A-Za-z0-9]{10,40}$/)
    .optional()
    .catch(undefined),
  // The router reads digits in an address as a number.
  q: z
    .union([z.string(), z.number().transform(String)])
    .transform((text) => text.slice(0, maxQuery) || undefined)
    .optional()
    .catch(undefined),
});
export type EnvelopesSearch = z.output<typeof EnvelopesSearch>;

export const tabs = ["timeline", "document", "values", "mails"] as const;
export type Tab = (typeof tabs)[number];
export const EnvelopeSearch = z.object({ tab: z.enum(tabs).optional().catch(undefined) });

/** Whether anything is filtered out. */
export const isFiltered = ({ status, seal, template, q }: EnvelopesSearch): boolean =>
  status !== undefined || seal !== undefined || template !== undefined || q !== undefined;
