import type { z } from "zod";
import type { PersonCaller } from "../../kernel/caller.ts";
import { type Page, type PageQuery, pageOfAll } from "../../kernel/cursor.ts";
import { isUniqueViolation, type Reader, type Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError, invalid, notFound } from "../../kernel/errors.ts";
import { checksumOk, hashSecret } from "../../kernel/ids.ts";
import type { ProblemError } from "../../kernel/problem.ts";
import type { RequestInfo } from "../../kernel/request.ts";
import { Actor } from "../../kernel/wire.ts";
import { OrgRole } from "../identity/contract.ts";
import {
  acceptOne,
  checkNewPassword,
  createPerson,
  currentPerson,
  hashPassword,
  type InvitationRow,
  openInvitationsFor,
  organizationById,
  personByEmail,
  personById,
  startSession,
  stillGranted,
  workIn,
} from "../identity/service.ts";
import { findByToken } from "./invitation-store.ts";
import type { InvitationView, OwnInvitation } from "./people-contract.ts";
import { noticePromotion } from "./promotion-notice.ts";

/** Invitations as whoever holds the mailed link meets them: the token proves that the address is theirs. */

/** @throws AppError `token-invalid`, `token-used`, `token-expired` */
async function openByToken(reader: Reader, deps: Pick<Deps, "clock">, token: string): Promise<InvitationRow> {
  const known = token.startsWith("svci_") && checksumOk(token);
  const row = known ? await findByToken(reader, hashSecret(token)) : undefined;
  if (!row)
    throw new AppError("token-invalid", { detail: "This invitation is not known, or a newer mail replaced it." });
  if (row.accepted_at !== null) throw new AppError("token-used", { detail: "This invitation was accepted: sign in." });
  if (row.revoked_at !== null) {
    throw new AppError("token-invalid", { detail: "This invitation was withdrawn, or a newer mail replaced it." });
  }
  if (row.expires_at <= deps.clock.ts()) {
    throw new AppError("token-expired", { detail: "This invitation has expired. Ask for a new one." });
  }
  if (!(await stillGranted(reader, row))) {
    throw new AppError("token-invalid", {
      detail: "Whoever made this invitation may not any more. Ask for a new one.",
    });
  }
  return row;
}

/** What the link is for. @throws AppError of the token */
export async function look(deps: Deps, token: string): Promise<z.infer<typeof InvitationView>> {
  const row = await openByToken(deps.db.read, deps, token);
  const inviter = Actor.parse(JSON.parse(row.invited_by));
  return {
    organization: (await organizationById(deps.db.read, row.organization)).name,
    email: row.email,
    role: OrgRole.parse(row.role),
    invitedBy: inviter.name ?? inviter.email ?? "",
    expiresAt: row.expires_at,
    hasAccount: (await personByEmail(deps.db.read, row.email)) !== undefined,
  };
}

type Acceptance = {
  token: string;
  name?: string | undefined;
  password?: string | undefined;
  locale?: string | undefined;
};

/**
 * Joins the organization: as the person who is signed in, or with a new account for the invited address.
 * @returns the session and, when it is a new one, its secret
 * @throws AppError of the token; `conflict` for somebody else, `unauthorized` when the address has an account
 */
export async function accept(
  deps: Deps,
  input: Acceptance,
  request: RequestInfo,
): Promise<{ session: string; secret: string | null }> {
  const invitation = await openByToken(deps.db.read, deps, input.token);
  const person = await currentPerson(deps, request);
  if (person) return { session: await acceptAs(deps, person, input.token, request.ip), secret: null };
  if (await personByEmail(deps.db.read, invitation.email)) throw signInFirst(invitation.email);
  const account = requireAccount(input);
  await checkNewPassword(deps, account.password);
  const passwordHash = await hashPassword(account.password, request.ip);
  try {
    return await deps.db.tx(async (tx) => {
      const { id, email, organization, role, locale, invited_by } = await openByToken(tx, deps, input.token);
      const { name } = account;
      const user = await createPerson(tx, deps, { email, name, passwordHash, locale: input.locale ?? locale });
      await join(tx, deps, { id, organization, role, invited_by }, { id: user, email, name }, request.ip);
      const session = await startSession(tx, deps, user, "invitation", request, organization);
      return { session: session.id, secret: session.secret };
    });
  } catch (error) {
    if (isUniqueViolation(error)) throw signInFirst(invitation.email);
    throw error;
  }
}

async function acceptAs(deps: Deps, person: PersonCaller, token: string, ip: string): Promise<string> {
  return await deps.db.tx(async (tx) => {
    const invitation = await openByToken(tx, deps, token);
    const user = await personById(tx, person.user);
    if (!user) throw new AppError("unauthorized");
    if (user.email_lower !== invitation.email_lower) {
      const detail = `You are signed in as ${user.email}, but ${invitation.email} was invited: sign out and open the link again.`;
      throw new AppError("conflict", { detail });
    }
    await join(tx, deps, invitation, user, ip);
    await workIn(tx, person.session, invitation.organization);
    return person.session;
  });
}

async function join(
  tx: Tx,
  deps: Deps,
  invitation: Pick<InvitationRow, "id" | "organization" | "role" | "invited_by">,
  user: { id: string; email: string; name: string },
  ip: string,
): Promise<void> {
  if (!(await acceptOne(tx, deps, invitation, user, ip))) return;
  const inviter = Actor.parse(JSON.parse(invitation.invited_by));
  const member = { id: user.id, email: user.email, name: user.name, role: OrgRole.parse(invitation.role) };
  await noticePromotion(tx, deps, invitation.organization, member, inviter);
}

/** What the person's own address is invited to: they are signed in with it, so that no mailed link is needed. */
export async function ownInvitations(deps: Deps, person: PersonCaller, query: PageQuery): Promise<Page<OwnInvitation>> {
  const user = await personById(deps.db.read, person.user);
  const rows = user ? await openInvitationsFor(deps.db.read, deps, user.email) : [];
  const placeOf = (row: InvitationRow) => ({ t: row.created_at, id: row.id });
  const order = { first: "oldest", placeOf } as const;
  const page = pageOfAll(deps.secrets, `own-invitations:${person.user}`, rows, query, order, (row) => row);
  const data = await Promise.all(
    page.data.map(async (row) => {
      const inviter = Actor.parse(JSON.parse(row.invited_by));
      return {
        id: row.id,
        organization: (await organizationById(deps.db.read, row.organization)).name,
        role: OrgRole.parse(row.role),
        invitedBy: inviter.name ?? inviter.email ?? "",
        expiresAt: row.expires_at,
      };
    }),
  );
  return { ...page, data };
}

/**
 * Joins by an invitation of one's own address and goes to work there.
 * @throws AppError `not-found` unless it is open and the person's own
 */
export async function acceptOwn(deps: Deps, person: PersonCaller, id: string, ip: string): Promise<void> {
  await deps.db.tx(async (tx) => {
    const user = await personById(tx, person.user);
    const open = user ? await openInvitationsFor(tx, deps, user.email) : [];
    const invitation = open.find((row) => row.id === id);
    if (!user || !invitation) throw notFound("The invitation");
    await join(tx, deps, invitation, user, ip);
    await workIn(tx, person.session, invitation.organization);
  });
}

function signInFirst(email: string): AppError {
  return new AppError("unauthorized", {
    detail: `${email} has an account: sign in with it, then open the link again.`,
  });
}

/** @throws AppError `validation-failed` */
function requireAccount({ name, password }: Acceptance): { name: string; password: string } {
  if (name !== undefined && password !== undefined) return { name, password };
  const errors: ProblemError[] = [];
  if (name === undefined) errors.push({ pointer: "#/name", code: "required", detail: "Enter your name." });
  if (password === undefined) errors.push({ pointer: "#/password", code: "required", detail: "Choose a password." });
  throw invalid(errors);
}
