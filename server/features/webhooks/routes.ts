import { bind } from "../../kernel/binding.ts";
import type { OrganizationCaller } from "../../kernel/caller.ts";
import type { Deps } from "../../kernel/deps.ts";
import { notFound } from "../../kernel/errors.ts";
import { requireFresh } from "../identity/service.ts";
import * as contract from "./contract.ts";
import * as deliveries from "./deliveries.ts";
import * as endpoints from "./endpoints.ts";
import { findEvent } from "./store.ts";

type Of = { caller: OrganizationCaller; params: { id: string } };
const load = (deps: Deps, { caller, params }: Of) => endpoints.ownEndpoint(deps, params.id, caller);

async function loadEvent(deps: Deps, { caller, params }: Of) {
  const event = await findEvent(deps.db.read, params.id, caller);
  if (event === undefined) throw notFound("The event");
  return event;
}

export const bindings = [
  bind(contract.createWebhookEndpoint)({
    async handle(deps, { caller, body, request }) {
      const by = { caller, ip: request.ip };
      return { status: 201, body: await endpoints.createEndpoint(deps, by, body, request.remember) };
    },
  }),
  bind(contract.listWebhookEndpoints)({
    handle: async (deps, { caller, query }) => ({
      status: 200,
      body: await endpoints.listEndpoints(deps, caller, query),
    }),
  }),
  bind(contract.getWebhookEndpoint)({
    load,
    handle: async (deps, _call, row) => ({ status: 200, body: await endpoints.withHealth(deps, deps.db.read, row) }),
  }),
  bind(contract.updateWebhookEndpoint)({
    load,
    async handle(deps, { caller, body, request }, row) {
      return { status: 200, body: await endpoints.changeEndpoint(deps, { caller, ip: request.ip }, row, body) };
    },
  }),
  bind(contract.deleteWebhookEndpoint)({
    load,
    async handle(deps, { caller, request }, row) {
      await endpoints.deleteEndpoint(deps, { caller, ip: request.ip }, row);
      return { status: 204 };
    },
  }),
  bind(contract.revealWebhookSecret)({
    load,
    async handle(deps, { caller, request }, row) {
      requireFresh(deps, caller);
      return { status: 200, body: await endpoints.revealSecret(deps, { caller, ip: request.ip }, row) };
    },
  }),
  bind(contract.rotateWebhookSecret)({
    load,
    async handle(deps, { caller, request }, row) {
      return { status: 200, body: await endpoints.rotateSecret(deps, { caller, ip: request.ip }, row) };
    },
  }),
  bind(contract.listWebhookDeliveries)({
    load,
    handle: async (deps, { query }, { id }) => ({
      status: 200,
      body: await deliveries.listDeliveries(deps, id, query),
    }),
  }),
  bind(contract.testWebhookEndpoint)({
    load,
    handle: async (deps, _call, row) => ({ status: 202, body: await deliveries.sendTest(deps, row) }),
  }),
  bind(contract.redeliverEvent)({
    load: loadEvent,
    async handle(deps, { caller, body, request }, event) {
      const delivery = await deliveries.redeliver(deps, event, body.endpoint, caller, request.remember);
      return { status: 202, body: delivery };
    },
  }),
  bind(contract.replayEvents)({
    load,
    async handle(deps, { caller: { actor }, body, request }, row) {
      const events = await deliveries.replay(deps, { actor, ip: request.ip }, row, body.since);
      return { status: 202, body: { events } };
    },
  }),
  bind(contract.getEvent)({
    load: loadEvent,
    handle: async (_deps, _call, event) => ({ status: 200, body: JSON.parse(event.body) }),
  }),
  bind(contract.getWebhookHours)({
    load,
    handle: async (deps, _call, { id }) => ({ status: 200, body: { hours: await deliveries.hoursOf(deps, id) } }),
  }),
];
