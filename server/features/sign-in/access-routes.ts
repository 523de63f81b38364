import { type Binding, bind } from "../../kernel/binding.ts";
import * as access from "./access.ts";
import * as contract from "./access-contract.ts";

export const accessBindings: Binding[] = [
  bind(contract.listAccess)({
    handle: async (deps, { query }) => ({ status: 200, body: await access.listAccess(deps, query) }),
  }),
  bind(contract.endAnySession)({
    async handle(deps, { caller, params }) {
      await access.endSession(deps, caller.actor, params.id);
      return { status: 204 };
    },
  }),
  bind(contract.revokeAnyKey)({
    async handle(deps, { caller, params }) {
      await access.revokeKey(deps, caller.actor, params.id);
      return { status: 204 };
    },
  }),
  bind(contract.revokeAccess)({
    handle: async (deps, { caller, body }) => ({
      status: 200,
      body: await access.revokeAccess(deps, caller.actor, body),
    }),
  }),
  bind(contract.recoverOwner)({
    handle: async (deps, { caller, body }) => ({
      status: 200,
      body: await access.recoverOwner(deps, caller.actor, body.email),
    }),
  }),
];
