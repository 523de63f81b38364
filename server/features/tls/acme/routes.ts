import { type Binding, bind } from "../../../kernel/binding.ts";
import type { TlsKeeper } from "../keeper.ts";
import * as service from "./acts.ts";
import { getAcme, renewAcme, replaceAcmeKey, setUpAcme, turnOffAcme } from "./contract.ts";

/** @param tls what the running server shows to its clients */
export function createAcmeBindings(tls: TlsKeeper): Binding[] {
  return [
    bind(getAcme)({
      handle: async (deps) => ({ status: 200, body: await service.readAcme({ ...deps, tls }) }),
    }),
    bind(setUpAcme)({
      handle: async (deps, { caller, body }) => ({
        status: 200,
        body: await service.setUpAcme({ ...deps, tls }, caller.actor, body),
      }),
    }),
    bind(renewAcme)({
      handle: async (deps, { caller }) => ({
        status: 200,
        body: await service.renewAcme({ ...deps, tls }, caller.actor),
      }),
    }),
    bind(replaceAcmeKey)({
      handle: async (deps, { caller }) => ({
        status: 200,
        body: await service.replaceAcmeKey({ ...deps, tls }, caller.actor),
      }),
    }),
    bind(turnOffAcme)({
      handle: async (deps, { caller, body }) => ({
        status: 200,
        body: await service.turnOffAcme({ ...deps, tls }, caller.actor, body),
      }),
    }),
  ];
}
