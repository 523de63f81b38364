import { z } from "zod";
import { AppError } from "../../kernel/errors.ts";
import { Loss } from "./contract.ts";
import type { Release } from "./installation.ts";
import type { Journal } from "./journal.ts";
import type { Site } from "./site.ts";

/** With which data the release before the last update comes back, and whether it may. Nothing signed goes unsaid. */

const Answer = z.discriminatedUnion("kept", [
  z.object({ kept: z.literal(false) }),
  z.object({ kept: z.literal(true), sameSchema: z.boolean(), loss: Loss }),
]);

type WayBack = Pick<Journal, "restore" | "loss">;
const withTodaysData: WayBack = { restore: null, loss: null };

/**
 * @param last the update that brought what is served
 * @throws AppError `conflict` when something would be lost that may not be, or was not accepted
 */
export async function wayBack(
  site: Pick<Site, "run">,
  last: Journal,
  installed: Release,
  accepted: number | null,
): Promise<WayBack> {
  if (last.snapshot === null) return withTodaysData;
  const about = ["--sha256", last.snapshot.sha256];
  const found = Answer.parse(await site.run(installed, ["update", "inner", "compare", ...about]));
  // Whether the release of before knows today's data, its trial will tell.
  if (!found.kept || found.sameSchema) return withTodaysData;
  const { loss } = found;
  const refuse = (detail: string): never => {
    throw new AppError("conflict", { detail });
  };
  const before = `Version ${last.from.version} does not know today's database, and the one of before the update (${last.startedAt})`;
  if (loss.anchors > 0)
    refuse(
      `${before} must not come back: ${count(loss.anchors, "anchor")} published since would contradict it, and the tree would fork. ${told(loss)} Go forward: with a newer release.`,
    );
  if (loss.deleted > 0)
    refuse(`${before} must not come back: the documents of ${count(loss.deleted, "envelope")} were deleted since.`);
  const something = Object.values(loss).some((number) => number !== 0);
  if (something && accepted !== loss.envelopes)
    refuse(
      `${before} would take something away. ${told(loss)} If that may be: signet update rollback --accept-loss ${loss.envelopes}`,
    );
  return { restore: last.snapshot, loss };
}

const told = ({ envelopes, signatures, leaves, acts }: Loss): string =>
  `Lost would be what became of ${count(envelopes, "envelope")}, with ${count(signatures, "signature")} and ${count(leaves, "sealed document")}, and ${count(acts, "change")} of settings, people and templates.`;

const count = (number: number, what: string) => `${number} ${what}${number === 1 ? "" : "s"}`;
