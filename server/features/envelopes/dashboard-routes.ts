import { bind } from "../../kernel/binding.ts";
import { uploadWarnings } from "../templates/service.ts";
import { followChanges } from "./changes.ts";
import { contactsLike } from "./contacts.ts";
import * as contract from "./dashboard-contract.ts";
import { presentWithValues } from "./present.ts";
import { retryEnvelope } from "./retry.ts";
import { ownedEnvelope } from "./service.ts";
import { listTestMails } from "./test-mails.ts";

export const bindings = [
  bind(contract.streamChanges)({
    async handle(deps, { caller, request }) {
      return { status: 200, events: followChanges(deps, caller.organization, request) };
    },
  }),
  bind(contract.listTestMails)({
    async handle(deps, { caller, query }) {
      return { status: 200, body: await listTestMails(deps, caller.organization, query) };
    },
  }),
  bind(contract.listContacts)({
    async handle(deps, { caller, query }) {
      const { q, testMode = false } = query;
      const data = await contactsLike(deps.db.read, { organization: caller.organization, testMode, q });
      return { status: 200, body: { data } };
    },
  }),
  bind(contract.retryEnvelope)({
    load: (deps, { caller, params }) => ownedEnvelope(deps, params.id, caller),
    async handle(deps, { caller, params, request }) {
      await retryEnvelope(deps, caller, params.id, request.ip);
      const record = await ownedEnvelope(deps, params.id, caller);
      const warnings = await uploadWarnings(deps, deps.db.read, record.envelope);
      return { status: 200, body: presentWithValues(record, warnings) };
    },
  }),
];
