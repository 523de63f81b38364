import { type Binding, bind } from "../../kernel/binding.ts";
import { readMailQueue, testMail } from "./queue.ts";
import * as contract from "./queue-contract.ts";

export const bindings: Binding[] = [
  bind(contract.getMailQueue)({
    handle: async (deps, { query }) => ({ status: 200, body: await readMailQueue(deps, query.limit) }),
  }),
  bind(contract.testMail)({
    handle: async (deps, { caller, body }) => ({ status: 200, body: await testMail(deps, caller.actor, body) }),
  }),
];
