import { maskEmail } from "../../kernel/wire.ts";
import type { RecipientRow } from "../envelopes/service.ts";
import { maskPhone } from "./codes.ts";
import type { Attachment, OtpState } from "./contract.ts";
import { needsCode } from "./state.ts";
import type { AttachmentRow, SessionRow } from "./tables.ts";

/** @param sent the last code of the session, where it matters */
export function otpStateOf(
  recipient: RecipientRow,
  session: Pick<SessionRow, "verified_at">,
  sent: OtpState["sent"] = null,
): OtpState {
  const { verification } = recipient;
  const required = verification !== "none";
  const verified = !needsCode({ verification, verified: session.verified_at !== null });
  switch (verification) {
    case "email_otp":
      return { required, verified, channel: "email", destination: maskEmail(recipient.email), sent };
    case "sms_otp":
      return {
        required,
        verified,
        channel: "sms",
        destination: recipient.phone === null ? null : maskPhone(recipient.phone),
        sent,
      };
    case "none":
    case "operator_delivered":
      return { required, verified, channel: null, destination: null, sent: null };
  }
}

export function presentAttachment(row: AttachmentRow): Attachment {
  return {
    id: row.id,
    field: row.field,
    filename: row.filename,
    contentType: row.content_type,
    size: row.size,
    sha256: row.sha256,
    createdAt: row.created_at,
  };
}
