import { endSession, listAccess, revokeAccess, revokeKey } from "../features/sign-in/access.ts";
import * as contract from "../features/sign-in/access-contract.ts";
import { type Command, type CommandContext, optional, print, required, table, UsageError } from "./command.ts";
import { entryOf } from "./list.ts";
import { emailOf } from "./recover-owner.ts";
import { runningOrHere } from "./with-appliance.ts";

export const access: Command = {
  ...entryOf("access"),
  usage: [
    "signet access list [--email ADDRESS] [--organization ID]",
    "signet access end-session SESSION_ID",
    "signet access revoke-key KEY_ID",
    "signet access revoke --email ADDRESS [--keys]   every session of a person; with --keys the API keys they made too",
  ],
  run: (context) => {
    const [verb, id, ...more] = context.positionals;
    if (verb === "list" && id === undefined) return list(context);
    if (verb === "revoke" && id === undefined) return revoke(context);
    if (verb === "end-session" && id !== undefined && more.length === 0) return endOne(context, id);
    if (verb === "revoke-key" && id !== undefined && more.length === 0) return revokeOne(context, id);
    throw new UsageError("say list, end-session, revoke-key or revoke");
  },
};

async function list(context: CommandContext): Promise<number> {
  const organization = optional(context, "organization");
  const email = optional(context, "email");
  const query = {
    ...(email === undefined ? {} : { email: emailOf(email) }),
    ...(organization === undefined ? {} : { organization }),
  };
  const found = await runningOrHere(context, {
    running: (call) => call(contract.listAccess, { query }),
    here: (deps) => listAccess(deps, query),
  });
  const sessions = found.sessions.map((row) => [
    row.id,
    row.person.email,
    row.organization?.name ?? "",
    row.method,
    row.ip,
    row.lastSeenAt,
  ]);
  const keys = found.keys.map((row) => [
    row.id,
    row.hint,
    row.organization.name,
    row.mode,
    row.name,
    row.lastUsedAt ?? "never used",
  ]);
  const parts = [
    sessions.length === 0
      ? "Nobody is signed in."
      : table([["session", "person", "organization", "by", "from", "last seen"], ...sessions]),
    keys.length === 0
      ? "There are no API keys."
      : table([["key", "secret", "organization", "mode", "name", "last used"], ...keys]),
  ];
  print(context, found, parts.join("\n\n"));
  return 0;
}

async function endOne(context: CommandContext, id: string): Promise<number> {
  await runningOrHere(context, {
    running: (call) => call(contract.endAnySession, { params: { id } }),
    here: (deps, actor) => endSession(deps, actor, id),
  });
  print(context, { ended: id }, `Ended ${id}.`);
  return 0;
}

async function revokeOne(context: CommandContext, id: string): Promise<number> {
  await runningOrHere(context, {
    running: (call) => call(contract.revokeAnyKey, { params: { id } }),
    here: (deps, actor) => revokeKey(deps, actor, id),
  });
  print(context, { revoked: id }, `Revoked ${id}.`);
  return 0;
}

async function revoke(context: CommandContext): Promise<number> {
  const body = { email: emailOf(required(context, "email")), keys: context.options.keys === true };
  const done = await runningOrHere(context, {
    running: (call) => call(contract.revokeAccess, { body }),
    here: (deps, actor) => revokeAccess(deps, actor, body),
  });
  print(context, done, `Ended ${done.sessions} sessions, revoked ${done.keys} API keys.`);
  return 0;
}
