import { type Binding, bind } from "../../kernel/binding.ts";
import * as organizations from "./managed.ts";
import * as contract from "./managed-contract.ts";

export const managedBindings: Binding[] = [
  bind(contract.listManagedOrganizations)({
    handle: async (deps) => ({ status: 200, body: await organizations.listOrganizations(deps) }),
  }),
  bind(contract.createManagedOrganization)({
    handle: async (deps, { caller, body }) => ({
      status: 201,
      body: await organizations.createManagedOrganization(deps, caller.actor, body),
    }),
  }),
  bind(contract.changeManagedOrganization)({
    handle: async (deps, { caller, params, body }) => ({
      status: 200,
      body: await organizations.changeOrganization(deps, caller.actor, params.id, body),
    }),
  }),
];
