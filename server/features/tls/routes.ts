import { type Binding, bind } from "../../kernel/binding.ts";
import {
  getOwnAuthority,
  getTls,
  installCertificate,
  reloadCertificate,
  renewOwnCertificate,
  requestCertificate,
  rollBackCertificate,
} from "./contract.ts";
import type { TlsKeeper } from "./keeper.ts";
import * as service from "./service.ts";

/** @param tls what the running server shows to its clients */
export function createTlsBindings(tls: TlsKeeper): Binding[] {
  return [
    bind(getTls)({
      handle: async (deps) => ({ status: 200, body: await service.readTls({ ...deps, tls }) }),
    }),
    bind(requestCertificate)({
      handle: async (deps, { caller, body }) => ({
        status: 200,
        body: await service.requestCertificate({ ...deps, tls }, caller.actor, body),
      }),
    }),
    bind(installCertificate)({
      handle: async (deps, { caller, body }) => ({
        status: 200,
        body: await service.installCertificate({ ...deps, tls }, caller.actor, body),
      }),
    }),
    bind(renewOwnCertificate)({
      handle: async (deps, { caller }) => ({
        status: 200,
        body: await service.renewOwnCertificate({ ...deps, tls }, caller.actor),
      }),
    }),
    bind(rollBackCertificate)({
      handle: async (deps, { caller }) => ({
        status: 200,
        body: await service.rollBackCertificate({ ...deps, tls }, caller.actor),
      }),
    }),
    bind(reloadCertificate)({
      handle: async (deps, { caller }) => ({
        status: 200,
        body: await service.reloadCertificate({ ...deps, tls }, caller.actor),
      }),
    }),
    bind(getOwnAuthority)({
      handle: async (deps) => ({ status: 200, body: await service.readOwnAuthority({ ...deps, tls }) }),
    }),
  ];
}
