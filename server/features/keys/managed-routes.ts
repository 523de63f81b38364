import { type Binding, bind } from "../../kernel/binding.ts";
import { readKeys, slotsOf } from "./managed.ts";
import * as acts from "./managed-acts.ts";
import * as contract from "./managed-contract.ts";

export const managedBindings: Binding[] = [
  bind(contract.listManagedKeys)({
    handle: async (deps) => ({ status: 200, body: await readKeys(deps) }),
  }),
  bind(contract.testSignKeys)({
    handle: async (deps, { caller, body }) => ({
      status: 200,
      body: { data: await acts.proveManaged(deps, caller.actor, body) },
    }),
  }),
  bind(contract.generateManagedKey)({
    handle: async (deps, { caller, body }) => ({
      status: 201,
      body: await acts.generateManaged(deps, caller.actor, body),
    }),
  }),
  bind(contract.importManagedKey)({
    handle: async (deps, { caller, body }) => ({
      status: 201,
      body: await acts.importManaged(deps, caller.actor, { ...body, file: Buffer.from(body.file, "base64") }),
    }),
  }),
  bind(contract.installKeyCertificate)({
    handle: async (deps, { caller, body }) => ({
      status: 201,
      body: await acts.installManaged(deps, caller.actor, { ...body, file: Buffer.from(body.file, "base64") }),
    }),
  }),
  bind(contract.requestKeyCertificate)({
    handle: async (deps, { caller, params, body }) => ({
      status: 200,
      body: await acts.requestManaged(deps, caller.actor, { ...params, ...body }),
    }),
  }),
  bind(contract.rotateManagedKey)({
    handle: async (deps, { caller, body }) => ({
      status: 200,
      body: await acts.rotateManaged(deps, caller.actor, body),
    }),
  }),
  bind(contract.rotateManagedAuthority)({
    handle: async (deps, { caller, body }) => ({
      status: 200,
      body: await acts.rotateManagedCa(deps, caller.actor, body),
    }),
  }),
  bind(contract.listKeyRecords)({
    handle: async (deps) => ({ status: 200, body: await acts.readRecords(deps) }),
  }),
  bind(contract.listTokenSlots)({
    handle: async (deps, { caller, body }) => ({
      status: 200,
      body: { data: await slotsOf(deps, caller.actor, body.module) },
    }),
  }),
];
