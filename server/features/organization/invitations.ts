import type { OrganizationCaller } from "../../kernel/caller.ts";
import { toTs } from "../../kernel/clock.ts";
import { type Page, type PageQuery, pageOfAll } from "../../kernel/cursor.ts";
import type { Reader, Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError, notFound } from "../../kernel/errors.ts";
import { hashSecret, newId, newSecret } from "../../kernel/ids.ts";
import { OrgRole } from "../identity/contract.ts";
import {
  type InvitationRow,
  isMemberAddress,
  openInvitationsIn,
  organizationById,
  personByEmail,
  recordAdminAct,
  requireFresh,
  revokeInvitation,
} from "../identity/service.ts";
import { queueMail } from "../mail/service.ts";
import { takeInvitationMail } from "./invitation-limits.ts";
import * as store from "./invitation-store.ts";
import { requireManager, requireOwnerFor } from "./members.ts";
import type { Invitation } from "./people-contract.ts";
import { presentInvitation } from "./present.ts";

/** Invitations as whoever manages members sees them. */

const lifeMs = 7 * 24 * 60 * 60 * 1000;
const mostOpen = 100;

/** Newest first. */
export async function invitations(deps: Deps, organization: string, query: PageQuery): Promise<Page<Invitation>> {
  const now = deps.clock.ts();
  const rows = await openInvitationsIn(deps.db.read, organization);
  const placeOf = (row: InvitationRow) => ({ t: row.created_at, id: row.id });
  const order = { first: "newest", placeOf } as const;
  return pageOfAll(deps.secrets, `invitations:${organization}`, rows, query, order, (row) =>
    presentInvitation(row, now),
  );
}

/** @throws AppError `forbidden`, `conflict`, `rate-limited`, `fresh-sign-in-required` */
export async function invite(
  deps: Deps,
  caller: OrganizationCaller,
  input: { email: string; role: OrgRole; locale?: string | undefined },
  ip: string,
): Promise<Invitation> {
  const { organization, actor } = caller;
  const token = newSecret("svci");
  return await deps.db.tx(async (tx) => {
    const acting = await requireManager(tx, caller);
    requireOwnerFor(acting, input.role);
    if (input.role !== "member") requireFresh(deps, caller);
    if (await isMemberAddress(tx, organization, input.email)) {
      throw new AppError("conflict", { detail: `${input.email} is a member already.` });
    }
    const now = deps.clock.now();
    const open = await openInvitationsIn(tx, organization);
    const earlier = open.filter((row) => row.email_lower === input.email.toLowerCase());
    if (open.length - earlier.length >= mostOpen) {
      const detail = `An organization has at most ${mostOpen} open invitations: revoke one that nobody accepts.`;
      throw new AppError("conflict", { detail });
    }
    for (const row of earlier) {
      requireOwnerFor(acting, OrgRole.parse(row.role));
      await revokeInvitation(tx, row.id, toTs(now));
    }
    await takeInvitationMail(tx, deps, { organization, email: input.email, inviter: caller.id });
    const person = await personByEmail(tx, input.email);
    const row: InvitationRow = {
      id: newId("inv"),
      organization,
      email: input.email,
      email_lower: input.email.toLowerCase(),
      role: input.role,
      token_sha256: hashSecret(token),
      invited_by: JSON.stringify(actor),
      locale: input.locale ?? person?.locale ?? (await organizationById(tx, organization)).locale,
      created_at: toTs(now),
      expires_at: toTs(now + lifeMs),
      last_sent_at: toTs(now),
      accepted_at: null,
      accepted_by: null,
      revoked_at: null,
    };
    await store.insertInvitation(tx, row);
    await sendInvitation(tx, deps, row, actor.name ?? actor.email ?? "", token);
    const data = { email: row.email, role: input.role };
    await recordAdminAct(tx, deps, organization, { actor, action: "invitation.created", target: row.id, ip, data });
    return presentInvitation(row, toTs(now));
  });
}

async function sendInvitation(tx: Tx, deps: Deps, row: InvitationRow, invitedBy: string, token: string): Promise<void> {
  await queueMail(tx, deps, {
    cause: `invitation:${row.id}:${hashSecret(token)}`,
    organization: row.organization,
    envelope: null,
    testMode: false,
    to: { email: row.email, name: null },
    locale: row.locale,
    content: {
      kind: "invitation",
      organizationName: (await organizationById(tx, row.organization)).name,
      invitedBy,
      role: OrgRole.parse(row.role),
      // In the fragment, which no server's log sees.
      link: `${deps.config.appUrl}/invite#${token}`,
    },
  });
}

/** @throws AppError `not-found` */
export async function requireInvitation(reader: Reader, organization: string, id: string): Promise<void> {
  if (!(await store.findOpen(reader, organization, id))) throw notFound("The invitation");
}

/** The invitation, as far as the caller may act on it. @throws AppError `forbidden`, `not-found` */
async function openInvitation(tx: Tx, caller: OrganizationCaller, id: string): Promise<InvitationRow> {
  const acting = await requireManager(tx, caller);
  const row = await store.findOpen(tx, caller.organization, id);
  if (!row) throw notFound("The invitation");
  requireOwnerFor(acting, OrgRole.parse(row.role));
  return row;
}

/** @throws AppError `forbidden`, `not-found`, `conflict`, `rate-limited`, `fresh-sign-in-required` */
export async function resend(deps: Deps, caller: OrganizationCaller, id: string, ip: string): Promise<Invitation> {
  const { organization, actor } = caller;
  const token = newSecret("svci");
  return await deps.db.tx(async (tx) => {
    const row = await openInvitation(tx, caller, id);
    if (row.role !== "member") requireFresh(deps, caller);
    const now = deps.clock.now();
    if (await isMemberAddress(tx, organization, row.email)) {
      throw new AppError("conflict", { detail: `${row.email} is a member already.` });
    }
    await takeInvitationMail(tx, deps, { organization, email: row.email, inviter: caller.id });
    // Whoever mails it again stands for it from now on.
    const invited_by = JSON.stringify(actor);
    const renewed = { ...row, invited_by, last_sent_at: toTs(now), expires_at: toTs(now + lifeMs) };
    await store.renew(tx, renewed, hashSecret(token));
    await sendInvitation(tx, deps, row, actor.name ?? actor.email ?? "", token);
    const data = { email: row.email, role: row.role };
    await recordAdminAct(tx, deps, organization, { actor, action: "invitation.resent", target: id, ip, data });
    return presentInvitation(renewed, toTs(now));
  });
}

/** @throws AppError `forbidden`, `not-found` */
export async function revoke(deps: Deps, caller: OrganizationCaller, id: string, ip: string): Promise<void> {
  const { organization, actor } = caller;
  await deps.db.tx(async (tx) => {
    const row = await openInvitation(tx, caller, id);
    await revokeInvitation(tx, id, deps.clock.ts());
    const data = { email: row.email, role: row.role };
    await recordAdminAct(tx, deps, organization, { actor, action: "invitation.revoked", target: id, ip, data });
  });
}
