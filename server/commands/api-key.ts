import { setTimeout as delay } from "node:timers/promises";
import { keyCacheMs } from "../features/identity/authenticate.ts";
import { CreateApiKey } from "../features/identity/contract.ts";
import { allApiKeys, createApiKey, revokeApiKey } from "../features/identity/service.ts";
import { revokeAnyKey } from "../features/sign-in/access-contract.ts";
import { notFound } from "../kernel/errors.ts";
import { type Actor, administrativePermissions, permissions } from "../kernel/wire.ts";
import { type Command, type CommandContext, optional, print, required, table, UsageError } from "./command.ts";
import { entryOf } from "./list.ts";
import { runningOrHere } from "./with-appliance.ts";
import { chosenOrganization, withDeps } from "./with-deps.ts";

const operator: Actor = { type: "operator", id: null, name: "signet api-key", email: null };

export const apiKey: Command = {
  ...entryOf("api-key"),
  usage: [
    "signet api-key create --name NAME --mode test|live [--scopes a,b] [--expires-in-days N] [--organization NAME]",
    "signet api-key list [--organization NAME]",
    "signet api-key revoke KEY_ID [--organization NAME]",
    `scopes: ${permissions.join(" ")}; without --scopes all but ${administrativePermissions.join(" ")}`,
  ],
  async run(context) {
    const [verb] = context.positionals;
    if (verb === "create") return await create(context);
    if (verb === "list") return await list(context);
    if (verb === "revoke") return await revoke(context);
    throw new UsageError("say create, list or revoke");
  },
};

async function create(context: CommandContext): Promise<number> {
  const days = optional(context, "expires-in-days");
  const scopes = optional(context, "scopes")
    ?.split(",")
    .map((scope) => scope.trim());
  const parsed = CreateApiKey.safeParse({
    name: required(context, "name"),
    mode: required(context, "mode"),
    ...(days === undefined ? {} : { expiresInDays: Number(days) }),
    ...(scopes === undefined ? {} : { scopes }),
  });
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new UsageError(`--${String(issue?.path[0] ?? "name")}: ${issue?.message ?? "invalid"}`);
  }
  const key = await withDeps(context, async (deps) => {
    const { id } = await chosenOrganization(deps, optional(context, "organization"));
    return await createApiKey(deps, id, operator, new Set(permissions), parsed.data);
  });
  print(
    context,
    key,
    `${key.key}\n\n${key.name}, ${key.mode} mode, ${key.scopes.join(" ")}\nThe key is shown only now.`,
  );
  return 0;
}

async function list(context: CommandContext): Promise<number> {
  const keys = await withDeps(context, async (deps) => {
    const { id } = await chosenOrganization(deps, optional(context, "organization"));
    return await allApiKeys(deps, id);
  });
  const rows = keys.map((key) => [key.id, key.hint, key.mode, key.status, key.lastUsedAt ?? "never used", key.name]);
  print(
    context,
    keys,
    rows.length === 0
      ? "There are no API keys."
      : table([["ID", "KEY", "MODE", "STATUS", "LAST USED", "NAME"], ...rows]),
  );
  return 0;
}

async function revoke(context: CommandContext): Promise<number> {
  const id = context.positionals[1];
  if (!id) throw new UsageError("name the key's id");
  const organization = await withDeps(context, async (deps) => {
    const chosen = await chosenOrganization(deps, optional(context, "organization"));
    if (!(await allApiKeys(deps, chosen.id)).some((key) => key.id === id)) throw notFound("The API key");
    return chosen.id;
  });
  // A running server ends the key's open streams as well, which it cannot do when somebody else writes in its database.
  await runningOrHere(context, {
    running: (call) => call(revokeAnyKey, { params: { id } }),
    here: async (deps, actor) => {
      await revokeApiKey(deps, organization, id, { actor, ip: null });
      // A server whose admin socket cannot be reached may believe the key for this long.
      await delay(keyCacheMs);
    },
  });
  print(context, { revoked: id }, `Revoked ${id}.`);
  return 0;
}
