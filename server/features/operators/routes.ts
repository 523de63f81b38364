import { type Binding, bind } from "../../kernel/binding.ts";
import { listOperatorAudit } from "./contract.ts";
import { checkOperatorChain, listOperatorActs } from "./service.ts";

export const bindings: Binding[] = [
  bind(listOperatorAudit)({
    async handle({ db }, { query: { before, limit } }) {
      const entries = await listOperatorActs(db.read, { before, limit: limit + 1 });
      const verification = await checkOperatorChain(db.read);
      return { status: 200, body: { data: entries.slice(0, limit), hasMore: entries.length > limit, verification } };
    },
  }),
];
