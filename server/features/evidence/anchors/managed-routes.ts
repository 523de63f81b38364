import { type Binding, bind } from "../../../kernel/binding.ts";
import { readAnchors, resumeHeldAnchors, signAnchorNow } from "./managed.ts";
import * as contract from "./managed-contract.ts";

export const anchorsBindings: Binding[] = [
  bind(contract.listManagedAnchors)({
    handle: async (deps, { query }) => ({ status: 200, body: await readAnchors(deps, query.limit) }),
  }),
  bind(contract.anchorNow)({
    handle: async (deps, { caller }) => ({ status: 200, body: await signAnchorNow(deps, caller.actor) }),
  }),
  bind(contract.resumeAnchors)({
    handle: async (deps, { caller }) => ({ status: 200, body: await resumeHeldAnchors(deps, caller.actor) }),
  }),
];
