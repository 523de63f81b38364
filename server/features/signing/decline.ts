import type { SignerCaller } from "../../kernel/caller.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError } from "../../kernel/errors.ts";
import type { RequestInfo } from "../../kernel/request.ts";
import { declineRecipient } from "../envelopes/progress.ts";
import { versionOf } from "../envelopes/service.ts";
import type { SigningResult } from "./contract.ts";
import { loadSigner, redirectOf, requireTurn, requireVerified } from "./signer.ts";

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
  const signer = await loadSigner(deps.db.read, caller);
  requireVerified(signer);
  requireTurn(signer, deps.clock.ts());
  const { settings } = await versionOf(deps, deps.db.read, signer.record.envelope);
  if (!settings.allowDecline) {
    throw new AppError("feature-disabled", { detail: "The sender does not offer to decline this document here." });
  }
  const { envelope, recipient } = caller;
  const { ip, userAgent } = request;
  await deps.db.tx((tx) => declineRecipient(tx, deps, { envelope, recipient, reason, ip, userAgent }));
  return {
    status: "declined",
    envelope: { id: envelope, status: "declined" },
    at: deps.clock.ts(),
    redirectUrl: redirectOf(signer, "declined"),
  };
}
