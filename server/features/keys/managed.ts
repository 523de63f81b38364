import type { Deps } from "../../kernel/deps.ts";
import { AppError } from "../../kernel/errors.ts";
import type { Actor } from "../../kernel/wire.ts";
import { recordOperatorAct } from "../operators/service.ts";
import { listKeys } from "./ceremony.ts";
import type { ManagedKeys } from "./managed-contract.ts";
import { listSlots } from "./pkcs11/token.ts";
import { inspectToken } from "./service.ts";
import { KeyUnavailable } from "./unavailable.ts";

/** The keys of the installation for who looks after it; what it does with them stands in `managed-acts.ts`. */

export async function readKeys(deps: Deps): Promise<ManagedKeys> {
  const data = await listKeys(deps);
  const { pkcs11Module: module, pkcs11Token: label } = deps.config;
  const seen = await inspectToken(deps);
  if (!seen) return { data, token: null };
  const about = { module: module ?? "", label: label ?? "" };
  return {
    data,
    token: seen.ok
      ? { ...about, found: seen.state, trouble: null }
      : { ...about, found: null, trouble: { code: seen.cause.code, message: seen.cause.message } },
  };
}

/** The tokens of the library of the settings, or of the one named. @throws AppError `conflict` when it cannot be used */
export async function slotsOf(deps: Deps, actor: Actor, named: string | undefined) {
  const module = named ?? deps.config.pkcs11Module;
  if (module === undefined)
    throw new AppError("conflict", { detail: "Name a PKCS#11 library, or set SIGNET_PKCS11_MODULE." });
  // A library runs inside of the service: who had which one loaded must be known whatever it does.
  await deps.db.tx((tx) => recordOperatorAct(tx, deps, { actor, action: "keys.library_loaded", target: module }));
  try {
    return await listSlots(module);
  } catch (error) {
    if (!(error instanceof KeyUnavailable)) throw error;
    throw new AppError("conflict", { detail: error.message, cause: error });
  }
}
