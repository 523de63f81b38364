import { bind } from "../../../kernel/binding.ts";
import {
  deletePasskey,
  listPasskeys,
  passkeyRegistrationOptions,
  passkeySignInOptions,
  registerPasskey,
  renamePasskey,
  signInWithPasskey,
} from "./contract.ts";
import * as passkeys from "./passkeys.ts";

export const bindings = [
  bind(passkeySignInOptions)({
    async handle(deps) {
      return { status: 200, body: await passkeys.beginSignIn(deps) };
    },
  }),
  bind(signInWithPasskey)({
    async handle(deps, { body, request }) {
      const { session, headers } = await passkeys.finishSignIn(deps, body, request);
      return { status: 200, body: session, headers };
    },
  }),
  bind(passkeyRegistrationOptions)({
    async handle(deps, { caller }) {
      return { status: 200, body: await passkeys.beginRegistration(deps, caller) };
    },
  }),
  bind(registerPasskey)({
    async handle(deps, { caller, body }) {
      return { status: 201, body: await passkeys.finishRegistration(deps, caller, body) };
    },
  }),
  bind(listPasskeys)({
    async handle(deps, { caller, query }) {
      return { status: 200, body: await passkeys.listPasskeys(deps, caller.user, query) };
    },
  }),
  bind(renamePasskey)({
    load: (deps, { caller, params }) => passkeys.requirePasskey(deps, caller.user, params.id),
    async handle(deps, { caller, params, body }) {
      return { status: 200, body: await passkeys.renamePasskey(deps, caller.user, params.id, body.name) };
    },
  }),
  bind(deletePasskey)({
    async handle(deps, { caller, params }) {
      await passkeys.removePasskey(deps, caller, params.id);
      return { status: 204 };
    },
  }),
];
