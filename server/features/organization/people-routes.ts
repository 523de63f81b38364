import { bind } from "../../kernel/binding.ts";
import { presentSession, sessionCookie } from "../identity/service.ts";
import * as acceptance from "./accept.ts";
import * as invitations from "./invitations.ts";
import * as members from "./members.ts";
import * as contract from "./people-contract.ts";

export const peopleBindings = [
  bind(contract.listMembers)({
    async handle(deps, { caller, query }) {
      return { status: 200, body: await members.members(deps, caller.organization, query) };
    },
  }),
  bind(contract.changeMember)({
    load: (deps, { caller, params }) => members.requireMember(deps.db.read, caller.organization, params.id),
    async handle(deps, { caller, params, body, request }) {
      const member = await members.changeMember(deps, caller, params.id, body.role, request.ip);
      return { status: 200, body: member };
    },
  }),
  bind(contract.removeMember)({
    load: (deps, { caller, params }) => members.requireMember(deps.db.read, caller.organization, params.id),
    async handle(deps, { caller, params, request }) {
      await members.removeMember(deps, caller, params.id, request.ip);
      return { status: 204 };
    },
  }),
  bind(contract.leaveOrganization)({
    async handle(deps, { caller, request }) {
      const session = await members.leave(deps, caller, request);
      return { status: 200, body: await presentSession(deps.db.read, deps, session) };
    },
  }),
  bind(contract.listInvitations)({
    async handle(deps, { caller, query }) {
      return { status: 200, body: await invitations.invitations(deps, caller.organization, query) };
    },
  }),
  bind(contract.createInvitation)({
    async handle(deps, { caller, body, request }) {
      return { status: 201, body: await invitations.invite(deps, caller, body, request.ip) };
    },
  }),
  bind(contract.resendInvitation)({
    load: (deps, { caller, params }) => invitations.requireInvitation(deps.db.read, caller.organization, params.id),
    async handle(deps, { caller, params, request }) {
      return { status: 200, body: await invitations.resend(deps, caller, params.id, request.ip) };
    },
  }),
  bind(contract.deleteInvitation)({
    load: (deps, { caller, params }) => invitations.requireInvitation(deps.db.read, caller.organization, params.id),
    async handle(deps, { caller, params, request }) {
      await invitations.revoke(deps, caller, params.id, request.ip);
      return { status: 204 };
    },
  }),
  bind(contract.readInvitation)({
    async handle(deps, { body }) {
      return { status: 200, body: await acceptance.look(deps, body.token) };
    },
  }),
  bind(contract.listOwnInvitations)({
    async handle(deps, { caller, query }) {
      return { status: 200, body: await acceptance.ownInvitations(deps, caller, query) };
    },
  }),
  bind(contract.acceptOwnInvitation)({
    async handle(deps, { caller, params, request }) {
      await acceptance.acceptOwn(deps, caller, params.id, request.ip);
      return { status: 200, body: await presentSession(deps.db.read, deps, caller.session) };
    },
  }),
  bind(contract.acceptInvitation)({
    async handle(deps, { body, request }) {
      const { session, secret } = await acceptance.accept(deps, body, request);
      const headers: Record<string, string> = secret === null ? {} : { "set-cookie": sessionCookie(secret) };
      return { status: 200, body: await presentSession(deps.db.read, deps, session), headers };
    },
  }),
];
