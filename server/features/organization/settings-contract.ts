import { z } from "zod";
import { Locale } from "../../kernel/wire.ts";

export const OrganizationSettings = z
  .object({
    id: z.string(),
    name: z.string(),
    logoUrl: z.string().nullable(),
    locale: Locale,
    timeZone: z.string(),
    notifyEmail: z.string().nullable(),
    features: z.object({
      smsOtp: z.boolean(),
      idCheck: z.boolean(),
      qesSignature: z.boolean(),
      signingLinks: z.boolean(),
      viewerDocumentAccess: z.boolean(),
      attachmentsScanned: z.boolean(),
    }),
    limits: z.object({
      pdfBytes: z.int(),
      docxBytes: z.int(),
      pages: z.int(),
      recipients: z.int(),
      cc: z.int(),
      viewersPerEnvelope: z.int().nullable(),
      attachmentBytes: z.int(),
    }),
  })
  .meta({
    id: "OrganizationSettings",
    example: {
      id: "org_000000000000000000000001",
      name: "Example Ltd",
      logoUrl: null,
      locale: "en",
      timeZone: "UTC",
      notifyEmail: null,
      features: {
        smsOtp: false,
        idCheck: false,
        qesSignature: false,
        signingLinks: false,
        viewerDocumentAccess: true,
        attachmentsScanned: false,
      },
      limits: {
        pdfBytes: 26214400,
        docxBytes: 10485760,
        pages: 500,
        recipients: 20,
        cc: 20,
        viewersPerEnvelope: null,
        attachmentBytes: 10485760,
      },
    },
  });
export type OrganizationSettings = z.infer<typeof OrganizationSettings>;
