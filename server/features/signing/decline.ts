import type { SignerCaller } from "../../kernel/caller.ts";
import type { Reader } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError } from "../../kernel/errors.ts";
import type { RequestInfo } from "../../kernel/request.ts";
import { declineRecipient, versionOf } from "../envelopes/service.ts";
import type { SigningResult } from "./contract.ts";
import { loadSigner, redirectOf, requireTurn, requireVerified, type Signer } from "./signer.ts";

/**
 * Declines, which ends the envelope.
 * @throws AppError `otp-required`, `feature-disabled`, and what `requireTurn` throws
 */
export async function decline(
  deps: Deps,
  caller: SignerCaller,
  reason: string,
  request: RequestInfo,
): Promise<SigningResult> {
  const { record } = await allowed(deps, deps.db.read, caller);
  const { settings } = await versionOf(deps, deps.db.read, record.envelope);
  if (!settings.allowDecline) {
    throw new AppError("feature-disabled", { detail: "The sender does not offer to decline this document here." });
  }
  const { envelope, recipient } = caller;
  const { ip, userAgent } = request;
  return await deps.db.tx(async (tx) => {
    // Looked at again in here: the signing may have been passed on since.
    const signer = await allowed(deps, tx, caller);
    await declineRecipient(tx, deps, signer.record, { recipient, reason, ip, userAgent });
    return {
      status: "declined",
      envelope: { id: envelope, status: "declined" },
      at: deps.clock.ts(),
      redirectUrl: redirectOf(signer, "declined"),
    };
  });
}

/** @throws AppError `token-invalid`, `otp-required`, and what `requireTurn` throws */
async function allowed(deps: Deps, reader: Reader, caller: SignerCaller): Promise<Signer> {
  const signer = await loadSigner(reader, caller, deps.clock.ts());
  requireVerified(signer);
  requireTurn(signer, deps.clock.ts());
  return signer;
}
