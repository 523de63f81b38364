import { bind } from "../../kernel/binding.ts";
import { createApiKey, deleteApiKey, listApiKeys } from "./contract.ts";
import * as service from "./service.ts";
import { requireFresh } from "./sessions.ts";

export const bindings = [
  bind(createApiKey)({
    async handle(deps, { caller, body, request }) {
      requireFresh(deps, caller);
      const { organization, actor, permissions } = caller;
      const created = await service.createApiKey(deps, organization, actor, permissions, body, request.ip, caller);
      return { status: 201, body: created };
    },
  }),
  bind(listApiKeys)({
    handle: async (deps, { caller, query }) => ({
      status: 200,
      body: await service.listApiKeys(deps, caller.organization, query),
    }),
  }),
  bind(deleteApiKey)({
    async handle(deps, { caller, params, request }) {
      await service.revokeApiKey(deps, caller.organization, params.id, { actor: caller.actor, ip: request.ip });
      return { status: 204 };
    },
  }),
];
