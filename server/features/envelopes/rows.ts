import { type Ts, toTs } from "../../kernel/clock.ts";
import { chainStart } from "../../kernel/hash-chain.ts";
import { newId } from "../../kernel/ids.ts";
import type { Actor } from "../../kernel/wire.ts";
import type { VariableValue } from "../templates/contract.ts";
import type { PublishedVersion } from "../templates/service.ts";
import type { AuditDraft } from "./chain.ts";
import type { Assignment, Checked } from "./checks.ts";
import type { CreateEnvelope, PersonInput } from "./contract.ts";
import { searchText } from "./search.ts";
import type { EnvelopeRecord } from "./store.ts";
import type { CarbonCopyRow, EnvelopeRow, RecipientRow, ViewerRow } from "./tables.ts";

/** Rows of a new envelope and of people added later. Pure but for the ids. */

/** What is asked for, and by whom. */
export type Creation = {
  organization: string;
  testMode: boolean;
  actor: Actor;
  source: EnvelopeRow["source"];
  signingLink: string | null;
  ip: string | null;
  userAgent: string | null;
  input: CreateEnvelope;
};

type Person = Pick<
  RecipientRow,
  "role" | "kind" | "name" | "email" | "phone" | "locale" | "turn" | "delivery" | "verification" | "redirect_url"
>;

/** What the request says of a person, the role's settings where it is silent. */
export function personOf({ role, input }: Assignment): Person {
  if (input === undefined && role.countersigner === null) throw new Error(`role ${role.name} names no countersigner`);
  return {
    role: role.name,
    kind: role.kind,
    name: input?.name ?? role.countersigner?.name ?? "",
    email: input?.email ?? role.countersigner?.email ?? "",
    phone: input?.phone ?? null,
    locale: input?.locale ?? null,
    turn: input?.order ?? role.order,
    delivery: input?.delivery ?? "email",
    verification: input?.verification ?? role.verification,
    redirect_url: input?.redirectUrl ?? null,
  };
}

const dayMs = 86_400_000;

/** The rows of a new envelope, its audit chain still to be begun with `drafts`. */
export function rowsOf(
  creation: Creation,
  version: PublishedVersion,
  checked: Checked,
  now: Ts,
): { record: EnvelopeRecord; drafts: AuditDraft[] } {
  const { input, actor, ip, userAgent } = creation;
  const id = newId("env");
  const recipients = checked.assignments.map((assignment, position) =>
    recipientRow(id, position, personOf(assignment)),
  );
  const cc = input.cc.map((person, position) => copyRow(id, position, person));
  const viewers = input.viewers.map((person, position) => viewerRow(id, position, person, now));
  const envelope = envelopeRow(id, now, creation, version, checked.variables, recipients);
  const created = {
    title: envelope.title,
    template: envelope.template,
    templateVersion: envelope.template_version,
    source: envelope.source,
    recipients: recipients.map(({ id: recipient, role, name, email, turn }) => ({
      recipient,
      role,
      name,
      email,
      order: turn,
    })),
  };
  const drafts: AuditDraft[] = [
    { type: "envelope.created", actor, ip, userAgent, data: created },
    ...viewers.map((viewer) => viewerAdded(viewer, { actor, ip, userAgent })),
  ];
  return { record: { envelope, recipients, cc, viewers, revisions: [] }, drafts };
}

function envelopeRow(
  id: string,
  now: Ts,
  creation: Creation,
  version: PublishedVersion,
  variables: Record<string, VariableValue>,
  recipients: readonly RecipientRow[],
): EnvelopeRow {
  const { input } = creation;
  const title = input.title ?? version.template.name;
  const reminders = input.reminders === undefined ? version.settings.reminders : input.reminders;
  return {
    id,
    organization: creation.organization,
    test_mode: creation.testMode ? 1 : 0,
    status: "rendering",
    seal: "not_started",
    title,
    message: input.message ?? null,
    template: version.template.id,
    template_version: version.version,
    locale: input.locale ?? version.settings.locale,
    external_id: input.externalId ?? null,
    metadata: JSON.stringify(input.metadata),
    variables: JSON.stringify(variables),
    prefilled: JSON.stringify(input.values),
    reminders: reminders === null ? null : JSON.stringify(reminders),
    expires_at: expiryOf(input.expiresAt, version.settings.expiresInDays, now),
    viewer_document_access: input.viewerDocumentAccess ? 1 : 0,
    source: creation.source,
    signing_link: creation.signingLink,
    created_by: JSON.stringify(creation.actor),
    search: searchText([title, input.externalId, ...recipients.flatMap(({ name, email }) => [name, email])]),
    page_count: null,
    document_sha256: null,
    sealed_sha256: null,
    certificate_sha256: null,
    seal_level: null,
    anchor_sequence: null,
    void_reason: null,
    declined_by: null,
    declined_reason: null,
    failure: null,
    audit_length: 0,
    audit_head: chainStart,
    created_at: now,
    updated_at: now,
    sent_at: null,
    completed_at: null,
    declined_at: null,
    voided_at: null,
    expired_at: null,
    sealed_at: null,
    legal_hold: null,
    documents_deleted_at: null,
  };
}

function expiryOf(asked: Ts | undefined, days: number | null, now: Ts): Ts | null {
  if (asked !== undefined) return toTs(Date.parse(asked));
  return days === null ? null : toTs(Date.parse(now) + days * dayMs);
}

function recipientRow(envelope: string, position: number, person: Person): RecipientRow {
  return {
    id: newId("rcp"),
    envelope,
    position,
    ...person,
    status: "pending",
    sent_at: null,
    last_sent_at: null,
    viewed_at: null,
    verified_at: null,
    completed_at: null,
    declined_at: null,
    decline_reason: null,
    delivery_error: null,
    submission: null,
    values: null,
  };
}

function copyRow(envelope: string, position: number, { email, name, locale }: PersonInput): CarbonCopyRow {
  return {
    id: newId("ccr"),
    envelope,
    position,
    email,
    name: name ?? null,
    locale: locale ?? null,
    notified_at: null,
  };
}

export function viewerRow(
  envelope: string,
  position: number,
  { email, name, locale }: PersonInput,
  now: Ts,
): ViewerRow {
  return {
    id: newId("vwr"),
    envelope,
    position,
    email,
    name: name ?? null,
    locale: locale ?? null,
    invited_at: null,
    first_viewed_at: null,
    last_viewed_at: null,
    revoked_at: null,
    created_at: now,
  };
}

export function viewerAdded(
  viewer: ViewerRow,
  by: { actor: Actor; ip: string | null; userAgent: string | null },
): AuditDraft {
  return { type: "viewer.added", ...by, data: { viewer: viewer.id, email: viewer.email } };
}
