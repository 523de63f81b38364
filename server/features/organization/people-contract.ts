import { z } from "zod";
import { endpoint } from "../../kernel/endpoint.ts";
import { Actor, Email, GivenLocale, Hex64, listOf, pageQuery, TimeZone, Ts } from "../../kernel/wire.ts";
import { OrgRole } from "../identity/contract.ts";
import { DashboardSession } from "../identity/session-contract.ts";
import { NewPassword, OrganizationName, PersonName } from "../sign-in/contract.ts";
import { OrganizationSettings } from "./settings-contract.ts";

/** The organization's people, their invitations, and what its administrators did (contract §15). Isomorphic. */

const common = { tag: "Members", published: false } as const;
const asMember = { ...common, credential: "dashboard" } as const;
const json = <S extends z.ZodType>(schema: S) => ({ kind: "json", schema, maxBytes: 16 * 1024 }) as const;
const noContent = { 204: { kind: "empty" } } as const;
const one = z.object({ id: z.string() });

export const Member = z.object({
  /** usr_… */
  id: z.string(),
  email: z.string(),
  name: z.string(),
  role: OrgRole,
  joinedAt: Ts,
  lastSignInAt: Ts.nullable(),
});
export type Member = z.infer<typeof Member>;

export const listMembers = endpoint({
  ...asMember,
  method: "GET",
  path: "/auth/organization/members",
  id: "listMembers",
  summary: "Members, owners first",
  permission: "member:manage",
  query: z.object(pageQuery),
  responses: { 200: { kind: "json", schema: listOf("MemberList", Member) } },
});

export const changeMember = endpoint({
  ...asMember,
  method: "PATCH",
  path: "/auth/organization/members/{id}",
  id: "changeMember",
  summary: "Change a member's role; only owners make and unmake owners",
  permission: "member:manage",
  params: one,
  body: json(z.strictObject({ role: OrgRole })),
  responses: { 200: { kind: "json", schema: Member } },
  errors: ["last-owner", "fresh-sign-in-required"],
});

export const removeMember = endpoint({
  ...asMember,
  method: "DELETE",
  path: "/auth/organization/members/{id}",
  id: "removeMember",
  summary: "Remove a member; their keys stay, their sessions leave the organization",
  permission: "member:manage",
  params: one,
  responses: noContent,
  errors: ["last-owner", "fresh-sign-in-required"],
});

export const leaveOrganization = endpoint({
  ...asMember,
  method: "POST",
  path: "/auth/organization/leave",
  id: "leaveOrganization",
  summary: "Leave the organization",
  responses: { 200: { kind: "json", schema: DashboardSession } },
  errors: ["last-owner"],
});

export const Invitation = z.object({
  id: z.string(),
  email: z.string(),
  role: OrgRole,
  invitedBy: Actor,
  createdAt: Ts,
  expiresAt: Ts,
  expired: z.boolean(),
});
export type Invitation = z.infer<typeof Invitation>;

export const listInvitations = endpoint({
  ...asMember,
  method: "GET",
  path: "/auth/organization/invitations",
  id: "listInvitations",
  summary: "Invitations that nobody has accepted or revoked, newest first",
  permission: "member:manage",
  query: z.object(pageQuery),
  responses: { 200: { kind: "json", schema: listOf("InvitationList", Invitation) } },
});

export const createInvitation = endpoint({
  ...asMember,
  method: "POST",
  path: "/auth/organization/invitations",
  id: "createInvitation",
  summary: "Invite a person by mail; an earlier open invitation of the address is replaced",
  permission: "member:manage",
  body: json(z.strictObject({ email: Email, role: OrgRole, locale: GivenLocale.optional() })),
  responses: { 201: { kind: "json", schema: Invitation } },
  errors: ["conflict", "rate-limited", "fresh-sign-in-required"],
});

export const resendInvitation = endpoint({
  ...asMember,
  method: "POST",
  path: "/auth/organization/invitations/{id}/resend",
  id: "resendInvitation",
  summary: "Mail a fresh link; the earlier one stops working",
  permission: "member:manage",
  params: one,
  responses: { 200: { kind: "json", schema: Invitation } },
  errors: ["conflict", "rate-limited", "fresh-sign-in-required"],
});

export const deleteInvitation = endpoint({
  ...asMember,
  method: "DELETE",
  path: "/auth/organization/invitations/{id}",
  id: "deleteInvitation",
  summary: "Revoke an invitation",
  permission: "member:manage",
  params: one,
  responses: noContent,
});

/** What the holder of an invitation's link may know. */
export const InvitationView = z.object({
  organization: z.string(),
  email: z.string(),
  role: OrgRole,
  invitedBy: z.string(),
  expiresAt: Ts,
  /** Whether the address has an account: then it signs in, otherwise it chooses a name and a password. */
  hasAccount: z.boolean(),
});

const tokenErrors = ["token-invalid", "token-expired", "token-used"] as const;

export const readInvitation = endpoint({
  ...common,
  credential: "public",
  method: "POST",
  path: "/auth/invitations/look",
  id: "readInvitation",
  summary: "What an invitation's link is for",
  rateLimit: { name: "invitation-look", points: 30, seconds: 60 },
  body: json(z.strictObject({ token: z.string().min(1).max(200) })),
  responses: { 200: { kind: "json", schema: InvitationView } },
  errors: tokenErrors,
});

export const acceptInvitation = endpoint({
  ...common,
  credential: "public",
  method: "POST",
  path: "/auth/invitations/accept",
  id: "acceptInvitation",
  summary: "Accept: as the person signed in with the invited address, or by creating an account for it",
  rateLimit: { name: "invitation-accept", points: 10, seconds: 60 },
  body: json(
    z.strictObject({
      token: z.string().min(1).max(200),
      name: PersonName.optional(),
      password: NewPassword.optional(),
      locale: GivenLocale.optional(),
    }),
  ),
  responses: { 200: { kind: "json", schema: DashboardSession } },
  errors: [...tokenErrors, "unauthorized", "conflict"],
});

/** An invitation of the address that somebody is signed in with. */
export const OwnInvitation = z.object({
  id: z.string(),
  /** The name of the organization. */
  organization: z.string(),
  role: OrgRole,
  invitedBy: z.string(),
  expiresAt: Ts,
});
export type OwnInvitation = z.infer<typeof OwnInvitation>;

export const listOwnInvitations = endpoint({
  ...common,
  credential: "person",
  method: "GET",
  path: "/auth/invitations",
  id: "listOwnInvitations",
  summary: "Open invitations of the person's address, oldest first",
  query: z.object(pageQuery),
  responses: { 200: { kind: "json", schema: listOf("OwnInvitationList", OwnInvitation) } },
});

export const acceptOwnInvitation = endpoint({
  ...common,
  credential: "person",
  method: "POST",
  path: "/auth/invitations/{id}/accept",
  id: "acceptOwnInvitation",
  summary: "Join by an invitation of the person's address and work there",
  params: one,
  responses: { 200: { kind: "json", schema: DashboardSession } },
});

export const switchOrganization = endpoint({
  ...common,
  credential: "person",
  method: "POST",
  path: "/auth/organization",
  id: "switchOrganization",
  summary: "Work in another organization of the person",
  body: json(z.strictObject({ organization: z.string().max(64) })),
  responses: { 200: { kind: "json", schema: DashboardSession } },
  errors: ["not-found"],
});

export const createOrganization = endpoint({
  ...common,
  credential: "person",
  method: "POST",
  path: "/auth/organizations",
  id: "createOrganization",
  summary: "Create an organization, become its owner and work in it",
  rateLimit: { name: "create-organization", points: 10, seconds: 3600 },
  body: json(z.strictObject({ name: OrganizationName, locale: GivenLocale.optional(), timeZone: TimeZone.optional() })),
  responses: { 201: { kind: "json", schema: DashboardSession } },
});

export const updateOrganization = endpoint({
  ...asMember,
  method: "PATCH",
  path: "/auth/organization",
  id: "updateOrganization",
  summary: "Change name, language, time zone or the address for notices",
  permission: "org:manage",
  body: json(
    z.strictObject({
      name: OrganizationName.optional(),
      locale: GivenLocale.optional(),
      timeZone: TimeZone.optional(),
      notifyEmail: Email.nullable().optional(),
    }),
  ),
  responses: { 200: { kind: "json", schema: OrganizationSettings } },
  errors: ["fresh-sign-in-required"],
});

/** `hash` is the SHA-256 of the RFC 8785 text of its line in the audit export without `hash`. */
export const AdminAuditEntry = z.object({
  id: z.string(),
  organization: z.string(),
  /** Its place in the organization's chain: 1, 2, 3 … */
  seq: z.int(),
  at: Ts,
  actor: Actor,
  action: z.string(),
  target: z.string().nullable(),
  ip: z.string().nullable(),
  data: z.record(z.string(), z.json()),
  prevHash: Hex64,
  hash: Hex64,
});
export type AdminAuditEntry = z.infer<typeof AdminAuditEntry>;

export const listAdminAudit = endpoint({
  ...asMember,
  method: "GET",
  path: "/auth/organization/audit",
  id: "listAdminAudit",
  summary: "What administrators did, newest first",
  permission: "org:manage",
  query: z.object(pageQuery),
  responses: { 200: { kind: "json", schema: listOf("AdminAuditList", AdminAuditEntry) } },
});

export const endpoints = [
  listMembers,
  changeMember,
  removeMember,
  leaveOrganization,
  listInvitations,
  createInvitation,
  resendInvitation,
  deleteInvitation,
  readInvitation,
  acceptInvitation,
  listOwnInvitations,
  acceptOwnInvitation,
  switchOrganization,
  createOrganization,
  updateOrganization,
  listAdminAudit,
];
