import { bind } from "../../kernel/binding.ts";
import { plans } from "../envelopes/plan.ts";
import { organizationById } from "../identity/service.ts";
import { getOrganizationSettings } from "./contract.ts";

export const bindings = [
  bind(getOrganizationSettings)({
    async handle(deps, { caller }) {
      const row = await organizationById(deps.db.read, caller.organization);
      const plan = plans[deps.config.plan];
      return {
        status: 200,
        body: {
          id: row.id,
          name: row.name,
          logoUrl: null,
          locale: row.locale,
          timeZone: row.time_zone,
          notifyEmail: row.notify_email,
          features: {
            smsOtp: false,
            idCheck: false,
            qesSignature: false,
            signingLinks: false,
            viewerDocumentAccess: plan.viewerDocumentAccess,
            attachmentsScanned: false,
          },
          limits: {
            pdfBytes: 25 * 1024 * 1024,
            docxBytes: 10 * 1024 * 1024,
            pages: 500,
            recipients: 20,
            cc: 20,
            viewersPerEnvelope: plan.viewersPerEnvelope,
            attachmentBytes: 10 * 1024 * 1024,
          },
        },
      };
    },
  }),
];
