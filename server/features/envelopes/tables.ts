import type { Ts } from "../../kernel/clock.ts";
import type { RecipientKind, Verification } from "../templates/contract.ts";
import type { AuditType } from "./audit-contract.ts";
import type { Delivery, EnvelopeStatus, RecipientStatus, SealStatus, sealLevels, sources } from "./contract.ts";

/** Rows as they are stored: JSON as text, booleans as 0 and 1. */

export type EnvelopeRow = {
  id: string;
  organization: string;
  test_mode: number;
  status: EnvelopeStatus;
  seal: SealStatus;
  title: string;
  message: string | null;
  template: string;
  template_version: number;
  locale: string;
  external_id: string | null;
  /** JSON: Metadata */
  metadata: string;
  /** JSON: every variable with its value, defaults filled in */
  variables: string;
  /** JSON: role → field id → FieldInput */
  prefilled: string;
  /** JSON: ReminderSettings */
  reminders: string | null;
  expires_at: Ts | null;
  viewer_document_access: number;
  source: (typeof sources)[number];
  signing_link: string | null;
  /** JSON: Actor */
  created_by: string;
  /** Lower-case text that the list's `q` looks into. */
  search: string;
  page_count: number | null;
  document_sha256: string | null;
  sealed_sha256: string | null;
  certificate_sha256: string | null;
  seal_level: (typeof sealLevels)[number] | null;
  anchor_sequence: number | null;
  void_reason: string | null;
  declined_by: string | null;
  declined_reason: string | null;
  /** JSON: Failure */
  failure: string | null;
  /** Where the audit chain ends, so that an append need not read it. */
  audit_length: number;
  audit_head: string;
  created_at: Ts;
  updated_at: Ts;
  sent_at: Ts | null;
  completed_at: Ts | null;
  declined_at: Ts | null;
  voided_at: Ts | null;
  expired_at: Ts | null;
  sealed_at: Ts | null;
  /** JSON: LegalHold; while it stands nothing of the envelope is deleted. */
  legal_hold: string | null;
  /** Since when only hashes are left of its documents, values and mails. */
  documents_deleted_at: Ts | null;
};

export type RecipientRow = {
  id: string;
  envelope: string;
  /** Place in the request, 0-based. */
  position: number;
  role: string;
  kind: RecipientKind;
  name: string;
  email: string;
  phone: string | null;
  locale: string | null;
  /** `order` on the wire. */
  turn: number;
  delivery: Delivery;
  verification: Verification;
  redirect_url: string | null;
  status: RecipientStatus;
  sent_at: Ts | null;
  last_sent_at: Ts | null;
  viewed_at: Ts | null;
  verified_at: Ts | null;
  completed_at: Ts | null;
  declined_at: Ts | null;
  decline_reason: string | null;
  /** JSON */
  delivery_error: string | null;
  /** k of the k-th submission of the envelope, which revision k shows; null until this recipient finished. */
  submission: number | null;
  /** JSON: field id → FieldValue; null until this recipient finished. */
  values: string | null;
};

export type CarbonCopyRow = {
  id: string;
  envelope: string;
  position: number;
  email: string;
  name: string | null;
  locale: string | null;
  notified_at: Ts | null;
};

export type ViewerRow = {
  id: string;
  envelope: string;
  position: number;
  email: string;
  name: string | null;
  locale: string | null;
  invited_at: Ts | null;
  first_viewed_at: Ts | null;
  last_viewed_at: Ts | null;
  revoked_at: Ts | null;
  created_at: Ts;
};

export type DedupeRow = { organization: string; test_mode: number; external_id: string; envelope: string };

export type AuditRow = {
  envelope: string;
  seq: number;
  id: string;
  type: AuditType;
  at: Ts;
  actor: string;
  ip: string | null;
  user_agent: string | null;
  data: string;
  prev_hash: string;
  hash: string;
};

/** The document after the k-th submission; 0 is the rendered original. */
export type RevisionRow = {
  envelope: string;
  number: number;
  sha256: string;
  size: number;
  recipient: string | null;
  created_at: Ts;
  /** Of revision 0: where its fields lie, as `storedBoxes` writes it. null in revisions from before these were stored. */
  field_boxes: string | null;
};

export type Revision = Omit<RevisionRow, "field_boxes">;

/** Which row of the index of texts is of which envelope; both are kept by triggers. */
export type NumberRow = { number: number; id: string };

declare module "../../kernel/db.ts" {
  interface Tables {
    envelopes: EnvelopeRow;
    envelope_numbers: NumberRow;
    envelope_search: { rowid: number };
    recipients: RecipientRow;
    carbon_copies: CarbonCopyRow;
    viewers: ViewerRow;
    envelope_dedupe: DedupeRow;
    audit_entries: AuditRow;
    revisions: RevisionRow;
  }
}
