import type { Ts } from "../../kernel/clock.ts";
import type { InviteReason } from "../envelopes/jobs.ts";
import type { AttachmentType, Verification } from "../templates/contract.ts";

/** Rows as they are stored: JSON as text, booleans as 0 and 1. */

export type SessionRow = {
  id: string;
  organization: string;
  test_mode: number;
  envelope: string;
  recipient: string;
  /** Opened with a link from a mail, or minted by the organization. */
  source: "link" | "minted";
  verification: Verification;
  embed_origin: string | null;
  redirect_url: string | null;
  created_at: Ts;
  opened_at: Ts | null;
  /** Of the access token that authenticates this session; null until it is opened. */
  access_sha256: string | null;
  /** Slides with every call. */
  access_expires_at: Ts | null;
  /** Never slides. */
  access_ends_at: Ts | null;
  verified_at: Ts | null;
  /** Replaced by a newer session, or taken away. */
  ended_at: Ts | null;
};

export type TokenRow = {
  sha256: string;
  /** `link`: from a mail, good for many exchanges. `session`: minted, good for one. */
  kind: "link" | "session";
  envelope: string;
  recipient: string;
  /** The minted session that it opens; null for links, which open a new one each time. */
  session: string | null;
  reason: InviteReason | "minted";
  created_at: Ts;
  expires_at: Ts;
  used_at: Ts | null;
  revoked_at: Ts | null;
  /** The session that this token authenticates when it is sent as bearer itself. */
  bearer_session: string | null;
};

export type CodeRow = {
  id: string;
  session: string;
  recipient: string;
  channel: "email" | "sms";
  hmac: string;
  created_at: Ts;
  expires_at: Ts;
  attempts: number;
  /** Used, or replaced by a newer code. */
  closed_at: Ts | null;
};

export type AttachmentRow = {
  id: string;
  envelope: string;
  recipient: string;
  field: string;
  filename: string;
  content_type: AttachmentType;
  size: number;
  sha256: string;
  created_at: Ts;
  /** null while no submission refers to it. */
  submitted_at: Ts | null;
};

export type SubmissionRow = {
  recipient: string;
  envelope: string;
  /** k of the k-th submission; revision k shows it. */
  number: number;
  session: string | null;
  at: Ts;
  ip: string | null;
  user_agent: string | null;
  locale: string;
  time_zone: string;
  document_sha256: string;
  /** JSON: AcceptedConsent; null for a countersigner, who signs automatically. */
  consent: string | null;
  /** JSON: field id → FieldValue */
  values: string;
  /** JSON: StoredSignature */
  signature: string | null;
  /** JSON: StoredSignature */
  initials: string | null;
};

/** A sender's statement that somebody accepted, kept for ever: submissions and audit entries name it by its hash. */
export type ConsentTextRow = { sha256: string; text: string };

/** A code that staff printed; one at a time is open for a recipient. Who asked for it stands in the trail. */
export type HandedCodeRow = Omit<CodeRow, "session" | "channel">;

/** Somebody passed the signing on to somebody else. */
export type ReassignmentRow = {
  id: string;
  envelope: string;
  recipient: string;
  from_name: string;
  from_email: string;
  to_name: string;
  to_email: string;
  reason: string;
  at: Ts;
};

/** `content`: a SignatureInput, encrypted. */
export type SavedSignatureRow = { user: string; content: string; saved_at: Ts };

declare module "../../kernel/db.ts" {
  interface Tables {
    signing_sessions: SessionRow;
    signing_tokens: TokenRow;
    signing_codes: CodeRow;
    signing_handed_codes: HandedCodeRow;
    signing_wrong_codes: { id: string; recipient: string; at: Ts };
    signing_locks: { recipient: string; at: Ts };
    signing_served: { recipient: string; sha256: string; at: Ts };
    signing_attachments: AttachmentRow;
    signing_submissions: SubmissionRow;
    signing_reassignments: ReassignmentRow;
    consent_texts: ConsentTextRow;
    saved_signatures: SavedSignatureRow;
  }
}
