import { bind } from "../../kernel/binding.ts";
import { ownedEnvelope } from "../envelopes/service.ts";
import * as contract from "./contract.ts";
import * as service from "./service.ts";

export const bindings = [
  bind(contract.getEnvelopeRetention)({
    load: (deps, { caller, params }) => ownedEnvelope(deps, params.id, caller),
    async handle(deps, _, envelope) {
      return { status: 200, body: await service.envelopeRetention(deps, envelope) };
    },
  }),
  bind(contract.holdEnvelope)({
    load: (deps, { caller, params }) => ownedEnvelope(deps, params.id, caller),
    async handle(deps, { caller, params, body, request }) {
      await service.holdEnvelope(deps, caller, { id: params.id, reason: body.reason, ip: request.ip });
      return { status: 200, body: await service.envelopeRetention(deps, await ownedEnvelope(deps, params.id, caller)) };
    },
  }),
  bind(contract.releaseEnvelope)({
    load: (deps, { caller, params }) => ownedEnvelope(deps, params.id, caller),
    async handle(deps, { caller, params, request }) {
      await service.releaseEnvelope(deps, caller, params.id, request.ip);
      return { status: 200, body: await service.envelopeRetention(deps, await ownedEnvelope(deps, params.id, caller)) };
    },
  }),
  bind(contract.getRetention)({
    async handle(deps, { caller }) {
      const body = await service.retentionSettings(deps, caller.organization);
      return { status: 200, body, headers: { ETag: contract.retentionTag(body) } };
    },
  }),
  bind(contract.changeRetention)({
    async handle(deps, { caller, body, request }) {
      const ifMatch = request.header("if-match");
      const changed = await service.changeRetention(deps, caller, { ...body, ifMatch, ip: request.ip });
      return { status: 200, body: changed, headers: { ETag: contract.retentionTag(changed) } };
    },
  }),
];
