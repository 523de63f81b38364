import type { Callers, Credential } from "./caller.ts";
import type { Tx } from "./db.ts";
import { AppError } from "./errors.ts";
import { txScope } from "./tx.ts";

/** Whether a caller who was let in is still the one who calls: bodies arrive slowly and streams stay open for hours. */

type Caller = Callers[Credential];

/** Bodies of signers and viewers that were there sooner are not asked about again: their look-up is a read each. */
const momentMs = 100;

/** Whose call it is and for whom it acts: two callers with the same answer may stand for each other. */
export function standingOf(caller: Caller): string {
  if (caller === null) return "public";
  switch (caller.kind) {
    case "api_key":
    case "user":
      return [caller.kind, caller.id, caller.session, caller.organization, caller.testMode].join(" ");
    case "person":
      return [caller.kind, caller.user, caller.session].join(" ");
    case "signer":
      return [caller.kind, caller.session, caller.recipient, caller.envelope].join(" ");
    case "viewer":
      return [caller.kind, caller.viewer, caller.envelope].join(" ");
    case "local":
      return [caller.kind, caller.actor.name].join(" ");
  }
}

/** What holds streams open: one browser's session, one key, one viewer. */
export function holderOf(caller: Caller, network: string): string {
  if (caller === null) return `network ${network}`;
  switch (caller.kind) {
    case "api_key":
      return caller.id;
    case "user":
      return caller.session ?? caller.id;
    case "viewer":
      return caller.viewer;
    case "local":
      return "local";
    case "person":
    case "signer":
      return caller.session;
  }
}

/** Whether who calls is looked up again after a body that took so long to arrive. */
export function mustAskAgain(caller: Caller, waitedMs: number): boolean {
  if (caller === null) return false;
  return (caller.kind !== "signer" && caller.kind !== "viewer") || waitedMs > momentMs;
}

/** @throws AppError `forbidden` when the credential stands for somebody or something else by now */
export function requireSame(before: Caller, now: Caller): void {
  if (standingOf(before) === standingOf(now)) return;
  const detail = "This credential stood for something else when the call began. Send the call again.";
  throw new AppError("forbidden", { detail });
}

/** Topic of `Database.onCommitted`: a key, a session, a membership or a viewer's access has ended or changed. */
export const credentialsTopic = "credentials";

/**
 * For every transaction that takes something from somebody: once it is durable, open event streams ask again whether they may
 * go on, and what is remembered of keys is forgotten.
 */
export function announceCredentials(tx: Tx): void {
  tx[txScope].notify(credentialsTopic);
}
