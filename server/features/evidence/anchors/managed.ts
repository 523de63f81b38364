import type { Deps } from "../../../kernel/deps.ts";
import { AppError } from "../../../kernel/errors.ts";
import { RetryLater } from "../../../kernel/job-runner.ts";
import type { Actor } from "../../../kernel/wire.ts";
import { actionFor } from "../../health/service.ts";
import { KeyUnavailable } from "../../keys/service.ts";
import { recordOperatorAct } from "../../operators/service.ts";
import { AnchorsHeld, endHold } from "./hold.ts";
import type { ManagedAnchors } from "./managed-contract.ts";
import { AnchorOvertaken, scheduleAnchor, signNextAnchor } from "./signing.ts";
import { anchorHold, anchorResumption, anchorStanding, witnessesInUse } from "./standing.ts";

/** The anchors of the installation for who looks after it. */

export async function readAnchors(deps: Deps, limit: number): Promise<ManagedAnchors> {
  const { treeSize, anchors } = await anchorStanding(deps.db.read, limit);
  return {
    treeSize,
    waiting: treeSize - (anchors[0]?.treeSize ?? 0),
    held: await anchorHold(deps),
    resumed: await anchorResumption(deps),
    intervalSeconds: deps.config.anchorIntervalSeconds,
    witnesses: witnessesInUse(deps.config),
    data: anchors,
  };
}

/**
 * Signs an anchor now.
 * @returns its number; null when nothing waited, or another signer was faster
 * @throws AppError `service-unavailable` while the key cannot be used or the clock stands wrong
 */
export async function signAnchorNow(deps: Deps, actor: Actor): Promise<{ sequence: number | null }> {
  try {
    const commit = await signNextAnchor(deps);
    if (!commit) return { sequence: null };
    return await deps.db.tx(async (tx) => {
      await commit(tx);
      const [anchor] = (await anchorStanding(tx, 1)).anchors;
      const sequence = anchor?.sequence ?? null;
      await recordOperatorAct(tx, deps, { actor, action: "anchor.signed", data: { sequence } });
      return { sequence };
    });
  } catch (error) {
    if (error instanceof AnchorOvertaken) return await signAnchorNow(deps, actor);
    if (!(error instanceof KeyUnavailable || error instanceof RetryLater || error instanceof AnchorsHeld)) throw error;
    throw new AppError("service-unavailable", { detail: error.message, cause: error });
  }
}

const shownAnchors = 20;

/**
 * Lets anchors go on after a restore.
 * @throws AppError `conflict` when none are held back, or the witness holds later ones under the key that would sign
 */
export async function resumeHeldAnchors(deps: Deps, actor: Actor): Promise<ManagedAnchors> {
  const held = await anchorHold(deps);
  if (held === null) throw new AppError("conflict", { detail: "No anchors are held back." });
  if (held.later !== null) {
    const detail = `The witness holds anchor ${held.later} under the key in use. ${actionFor("anchors.later")}`;
    throw new AppError("conflict", { detail });
  }
  await deps.db.tx(async (tx) => {
    if (await endHold(tx, deps, actor)) await scheduleAnchor(tx, deps);
  });
  return await readAnchors(deps, shownAnchors);
}
