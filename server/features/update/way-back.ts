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
      `${before} must not come back: ${count(loss.anchors, "anchor", "anchors")} published since would contradict it, and the tree would fork. Go forward: with a newer release. ${told(loss)}`,
    );
  if (loss.deleted > 0)
    refuse(
      `${before} must not come back: the documents of ${count(loss.deleted, "envelope", "envelopes")} were deleted since.`,
    );
  const all = Object.values(loss).reduce((sum, number) => sum + number, 0);
  if (all > (accepted ?? 0))
    refuse(
      `${before} would take something away. ${told(loss)}\nIf all of that may be: signet update rollback --accept-loss ${all}`,
    );
  return { restore: last.snapshot, loss };
}

const words: Readonly<Record<keyof Loss, readonly [one: string, more: string]>> = {
  envelopes: ["envelope made or gone on with", "envelopes made or gone on with"],
  signatures: ["signature", "signatures"],
  leaves: ["sealed document", "sealed documents"],
  anchors: ["anchor", "anchors"],
  deleted: ["envelope whose documents were deleted", "envelopes whose documents were deleted"],
  events: ["entry in the audit trails of envelopes", "entries in the audit trails of envelopes"],
  organizations: ["organization made or changed", "organizations made or changed"],
  members: ["member who came, went or changed role", "members who came, went or changed role"],
  invitations: ["invitation", "invitations"],
  passkeys: ["passkey", "passkeys"],
  apiKeys: ["API key made or revoked", "API keys made or revoked"],
  keys: ["key that seals or anchors", "keys that seal or anchor"],
  templates: ["template made or changed", "templates made or changed"],
  acts: ["entry in the audit of organizations", "entries in the audit of organizations"],
  operatorActs: ["entry in the operators' audit", "entries in the operators' audit"],
};

/** A line for each kind of which there is something. */
const told = (loss: Loss): string => {
  const lines = Object.entries(words).flatMap(([what, [one, more]]) => {
    const number = Object.entries(loss).find(([name]) => name === what)?.[1] ?? 0;
    return number > 0 ? [`\n  ${count(number, one, more)}`] : [];
  });
  return `Lost would be:${lines.join("")}`;
};

const count = (number: number, one: string, more: string) => `${number} ${number === 1 ? one : more}`;
