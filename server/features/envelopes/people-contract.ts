import { z } from "zod";
import { Email, GivenLocale, Line, Ts } from "../../kernel/wire.ts";
import { RecipientKind, Verification } from "../templates/contract.ts";

/** People of an envelope: who signs, who gets a copy, who may watch (contract §3). Isomorphic. */

export const recipientStatuses = ["pending", "sent", "viewed", "completed", "declined", "canceled"] as const;
export const RecipientStatus = z.enum(recipientStatuses).meta({ id: "RecipientStatus" });
export type RecipientStatus = z.infer<typeof RecipientStatus>;

export const Delivery = z.enum(["email", "embedded"]).meta({
  id: "Delivery",
  description:
    "`embedded`: no signing request by mail; sign through sessions made with POST /v1/envelopes/{id}/sessions",
});
export type Delivery = z.infer<typeof Delivery>;

export const maxRecipients = 20;
export const maxCarbonCopies = 20;
export const maxViewers = 100;

const personName = Line(200);

export const RecipientInput = z
  .strictObject({
    // Compared with the version's roles: whatever they were called when they were saved can be named here.
    role: z.string().min(1).max(64).meta({ description: "Role of the template version" }),
    name: personName,
    email: Email,
    phone: z
      .string()
      .regex(/^\+[1-9]\d{6,14}$/, "Use the international form, for example +41441234567.")
      .optional(),
    locale: GivenLocale.optional(),
    order: z
      .int()
      .min(1)
      .max(100)
      .optional()
      .meta({ description: "Turn; equal numbers sign at the same time. Default: the role's" }),
    delivery: Delivery.default("email"),
    verification: Verification.optional().meta({ description: "Default: the role's" }),
    redirectUrl: z.string().max(2048).meta({ format: "uri" }).optional(),
  })
  .meta({ id: "RecipientInput" });
export type RecipientInput = z.output<typeof RecipientInput>;

export const PersonInput = z
  .strictObject({ email: Email, name: personName.optional(), locale: GivenLocale.optional() })
  .meta({ id: "PersonInput" });
export type PersonInput = z.output<typeof PersonInput>;

export const Recipient = z
  .object({
    id: z.string(),
    role: z.string(),
    kind: RecipientKind,
    status: RecipientStatus,
    locale: z.string().nullable(),
    name: z.string(),
    email: z.string(),
    phone: z.string().nullable(),
    order: z.int(),
    delivery: Delivery,
    verification: Verification,
    redirectUrl: z.string().nullable(),
    sentAt: Ts.nullable(),
    lastSentAt: Ts.nullable(),
    viewedAt: Ts.nullable(),
    verifiedAt: Ts.nullable(),
    completedAt: Ts.nullable(),
    declinedAt: Ts.nullable(),
    declineReason: z.string().nullable(),
    deliveryError: z
      .object({ code: z.enum(["bounced", "rejected", "unreachable"]), message: z.string(), at: Ts })
      .nullable(),
  })
  .meta({ id: "Recipient" });
export type Recipient = z.infer<typeof Recipient>;

export const CarbonCopy = z
  .object({
    id: z.string(),
    email: z.string(),
    name: z.string().nullable(),
    locale: z.string().nullable(),
    notifiedAt: Ts.nullable(),
  })
  .meta({ id: "CarbonCopy" });
export type CarbonCopy = z.infer<typeof CarbonCopy>;

export const Viewer = z
  .object({
    id: z.string(),
    email: z.string(),
    name: z.string().nullable(),
    locale: z.string().nullable(),
    documentAccess: z.boolean(),
    invitedAt: Ts.nullable(),
    firstViewedAt: Ts.nullable(),
    lastViewedAt: Ts.nullable(),
    createdAt: Ts,
  })
  .meta({ id: "Viewer" });
export type Viewer = z.infer<typeof Viewer>;
