import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import path from "node:path";
import type { Deps } from "../../kernel/deps.ts";
import { writeDurably } from "../../kernel/durable.ts";
import { AppError } from "../../kernel/errors.ts";
import type { Actor } from "../../kernel/wire.ts";
import type { PinGiven } from "../keys/managed-contract.ts";
import { tryPin, usable } from "../keys/service.ts";
import { recordOperatorAct } from "../operators/service.ts";
import { changeSettings, differingSettings, readSettings } from "./settings.ts";

/** The PIN of a token from the hand of an operator: tried once, kept only when the token took it. */

/** Beside the other things that nobody but the appliance reads. */
const usualFile = "token.pin";

/**
 * Tries a PIN exactly once. An accepted one is written into the PIN file, where the server finds it at its next try; another
 * library or token than that of the settings is written into the settings.
 * @throws AppError `conflict` before any try, when no token is named, the environment names another one or the PIN could not
 * be kept; `service-unavailable` while the token is away or locked
 */
export async function givePin(
  deps: Deps,
  actor: Actor,
  given: { module?: string | undefined; token?: string | undefined; pin: string },
): Promise<PinGiven> {
  const { config } = deps;
  const { module, label } = tokenOf(deps, given);
  const pinFile = config.pkcs11PinFile ?? path.join(config.dataDir, usualFile);
  const changes = differingSettings(config, { pkcs11Module: module, pkcs11Token: label, pkcs11PinFile: pinFile });
  const fixed = Object.keys(changes).find((key) => key in config.given.environment);
  if (fixed !== undefined)
    throw new AppError("conflict", {
      detail: `${fixed} is set in the environment of the service, which names another token: change it there.`,
    });
  await tryFolder(pinFile);
  await deps.db.tx((tx) =>
    recordOperatorAct(tx, deps, { actor, action: "keys.pin_tried", target: label, data: { module } }),
  );
  const { accepted, tries } = await usable(tryPin({ module, label }, given.pin));
  if (!accepted) return { accepted, tries, pinFile: null, restartNeeded: false };
  await writeDurably(pinFile, `${given.pin}\n`);
  if (Object.keys(changes).length > 0) await changeSettings(deps, actor, changes);
  return { accepted, tries, pinFile, restartNeeded: readSettings(config).restartNeeded };
}

/** A PIN that cannot be kept must not cost a try; one that was not accepted yet lies in no file. @throws AppError `conflict` */
async function tryFolder(pinFile: string): Promise<void> {
  const probe = `${pinFile}.${randomUUID()}`;
  try {
    await writeDurably(probe, "\n");
  } catch (cause) {
    const detail = `${pinFile} cannot be written here: put the PIN into its first line yourself. It was not tried.`;
    throw new AppError("conflict", { detail, cause });
  } finally {
    await rm(probe, { force: true });
  }
}

/** What the next start uses, unless the operator names something else. */
function tokenOf({ config }: Deps, given: { module?: string | undefined; token?: string | undefined }) {
  const set = new Map(readSettings(config).data.map(({ key, value }) => [key, value]));
  const module = given.module ?? set.get("pkcs11Module");
  const label = given.token ?? set.get("pkcs11Token");
  if (!module || !label)
    throw new AppError("conflict", { detail: "Name the PKCS#11 library and the token: none is set." });
  return { module, label };
}
