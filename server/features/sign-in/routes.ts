import { bind } from "../../kernel/binding.ts";
import { clearedSessionCookie, hasAnyOwner, presentSession } from "../identity/service.ts";
import { requestSignInCode, signInWithCode } from "./code-sign-in.ts";
import * as contract from "./contract.ts";
import { firstOwnerBindings } from "./first-owner-routes.ts";
import { lookAtMagicLink, requestMagicLink, signInWithMagicLink } from "./magic-links.ts";
import { bindings as passkeyBindings } from "./passkeys/routes.ts";
import { changePassword, setPassword } from "./password-change.ts";
import { forgotPassword, resetPassword } from "./password-reset.ts";
import { signInWithPassword } from "./password-sign-in.ts";
import * as sessions from "./sessions.ts";
import { confirmSignUp, signUp } from "./sign-up.ts";
import { configuredProviders } from "./social/providers.ts";
import { bindings as socialBindings } from "./social/routes.ts";

const accepted = { status: 202, body: { accepted: true } } as const;
const clearCookie = { "set-cookie": clearedSessionCookie };

export const bindings = [
  bind(contract.getSignInOptions)({
    async handle(deps) {
      const social = configuredProviders(deps.config);
      const firstOwner = !(await hasAnyOwner(deps.db.read));
      return { status: 200, body: { signUp: deps.config.signUp, social, firstOwner } };
    },
  }),
  bind(contract.signUp)({
    async handle(deps, { body, request }) {
      const { cookie } = await signUp(deps, body, request.ip);
      return { ...accepted, headers: { "set-cookie": cookie } };
    },
  }),
  bind(contract.confirmSignUp)({
    async handle(deps, { body, request }) {
      const { session, headers } = await confirmSignUp(deps, body, request);
      return { status: 200, body: session, headers };
    },
  }),
  bind(contract.signInWithPassword)({
    async handle(deps, { body, request }) {
      const { session, headers } = await signInWithPassword(deps, body, request);
      return { status: 200, body: session, headers };
    },
  }),
  bind(contract.requestSignInCode)({
    async handle(deps, { body }) {
      await requestSignInCode(deps, body);
      return accepted;
    },
  }),
  bind(contract.signInWithCode)({
    async handle(deps, { body, request }) {
      const { session, headers } = await signInWithCode(deps, body, request);
      return { status: 200, body: session, headers };
    },
  }),
  bind(contract.requestMagicLink)({
    async handle(deps, { body }) {
      await requestMagicLink(deps, body);
      return accepted;
    },
  }),
  bind(contract.lookAtMagicLink)({
    async handle(deps, { body, request }) {
      return { status: 200, body: await lookAtMagicLink(deps, body.token, request) };
    },
  }),
  bind(contract.signInWithMagicLink)({
    async handle(deps, { body, request }) {
      const { session, returnTo, headers } = await signInWithMagicLink(deps, body.token, request);
      return { status: 200, body: { session, returnTo }, headers };
    },
  }),
  bind(contract.forgotPassword)({
    async handle(deps, { body }) {
      await forgotPassword(deps, body);
      return accepted;
    },
  }),
  bind(contract.resetPassword)({
    async handle(deps, { body, request }) {
      await resetPassword(deps, body, request.ip);
      return { status: 204 };
    },
  }),
  bind(contract.setPassword)({
    async handle(deps, { caller, body, request }) {
      const { session, headers } = await setPassword(deps, caller, body.password, request.ip);
      return { status: 200, body: session, headers };
    },
  }),
  bind(contract.changePassword)({
    async handle(deps, { caller, body, request }) {
      const { session, headers } = await changePassword(deps, caller, body, request.ip);
      return { status: 200, body: session, headers };
    },
  }),
  bind(contract.getSession)({
    async handle(deps, { caller }) {
      return { status: 200, body: await presentSession(deps.db.read, deps, caller.session) };
    },
  }),
  bind(contract.signOut)({
    async handle(deps, { request }) {
      await sessions.signOut(deps, request);
      return { status: 204, headers: clearCookie };
    },
  }),
  bind(contract.updateProfile)({
    async handle(deps, { caller, body }) {
      return { status: 200, body: await sessions.updateProfile(deps, caller, body) };
    },
  }),
  bind(contract.listSessions)({
    async handle(deps, { caller, query }) {
      return { status: 200, body: await sessions.listSessions(deps, caller, query) };
    },
  }),
  bind(contract.deleteSession)({
    async handle(deps, { caller, params }) {
      await sessions.endSession(deps, caller, params.id);
      return { status: 204, ...(params.id === caller.session ? { headers: clearCookie } : {}) };
    },
  }),
  bind(contract.deleteSessions)({
    async handle(deps, { caller, query }) {
      const keep = query.keep === "current";
      await sessions.endSessions(deps, caller, keep);
      return { status: 204, ...(keep ? {} : { headers: clearCookie }) };
    },
  }),
  ...passkeyBindings,
  ...socialBindings,
  ...firstOwnerBindings,
];
