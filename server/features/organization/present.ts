import type { Ts } from "../../kernel/clock.ts";
import { Actor } from "../../kernel/wire.ts";
import type { Plan } from "../envelopes/service.ts";
import { OrgRole } from "../identity/contract.ts";
import type { AdminAuditRow, InvitationRow, Membership } from "../identity/service.ts";
import type { Preferences } from "./contract.ts";
import type { MemberRow } from "./members-store.ts";
import { AdminAuditEntry, type Invitation, type Member } from "./people-contract.ts";
import type { OrganizationSettings } from "./settings-contract.ts";

const megabyte = 1024 * 1024;

export function presentSettings(row: Omit<Membership, "role">, plan: Plan): OrganizationSettings {
  return {
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
      pdfBytes: 25 * megabyte,
      docxBytes: 10 * megabyte,
      pages: 500,
      recipients: 20,
      cc: 20,
      viewersPerEnvelope: plan.viewersPerEnvelope,
      attachmentBytes: 10 * megabyte,
    },
  };
}

export function presentMember(row: MemberRow): Member {
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    role: OrgRole.parse(row.role),
    joinedAt: row.joined_at,
    lastSignInAt: row.last_sign_in_at,
  };
}

export function presentInvitation(row: InvitationRow, now: Ts): Invitation {
  return {
    id: row.id,
    email: row.email,
    role: OrgRole.parse(row.role),
    invitedBy: Actor.parse(JSON.parse(row.invited_by)),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    expired: row.expires_at <= now,
  };
}

export function presentAdminAct(row: AdminAuditRow): AdminAuditEntry {
  return {
    id: row.id,
    organization: row.organization,
    seq: row.seq,
    at: row.at,
    actor: Actor.parse(JSON.parse(row.actor)),
    action: row.action,
    target: row.target,
    ip: row.ip,
    data: AdminAuditEntry.shape.data.parse(JSON.parse(row.data)),
    prevHash: row.prev_hash,
    hash: row.hash,
  };
}

export function presentPreferences(starting: string | null, organizations: readonly Membership[]): Preferences {
  return {
    // One that the person has left meanwhile is nobody's choice any more.
    startingOrganization: organizations.some(({ id }) => id === starting) ? starting : null,
    organizations: organizations.map(({ id, name, role }) => ({ id, name, role, logoUrl: null })),
  };
}
