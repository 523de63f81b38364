import { changeOrganization, createManagedOrganization, listOrganizations } from "../features/organization/managed.ts";
import * as contract from "../features/organization/managed-contract.ts";
import { Email, Locale, TimeZone } from "../kernel/wire.ts";
import { type Command, type CommandContext, optional, print, required, table, UsageError } from "./command.ts";
import { entryOf } from "./list.ts";
import { size } from "./status.ts";
import { runningOrHere } from "./with-appliance.ts";

export const org: Command = {
  ...entryOf("org"),
  usage: [
    "signet org list",
    "signet org create --name NAME --email ADDRESS [--person NAME] [--locale en] [--time-zone UTC] [--plan PLAN]",
    "signet org rename ORGANIZATION --name NAME",
    "signet org plan ORGANIZATION PLAN|default",
    `ORGANIZATION is its id or its name; plans: ${contract.PlanName.options.join(", ")}`,
  ],
  run: (context) => {
    const [verb, ...rest] = context.positionals;
    if (verb === "list" && rest.length === 0) return list(context);
    if (verb === "create" && rest.length === 0) return create(context);
    if (verb === "rename" && rest.length === 1) return change(context, rest[0], { name: required(context, "name") });
    if (verb === "plan" && rest.length === 2) return change(context, rest[0], { plan: planOf(rest[1]) });
    throw new UsageError("say list, create, rename or plan");
  },
};

const read = (context: CommandContext) =>
  runningOrHere(context, {
    running: (call) => call(contract.listManagedOrganizations, {}),
    here: listOrganizations,
  });

async function list(context: CommandContext): Promise<number> {
  const found = await read(context);
  const rows = found.data.map((one) => [
    one.id,
    one.name,
    `${one.members}`,
    `${one.envelopes}`,
    size(one.documentBytes),
    one.ownPlan ?? `${one.plan} (default)`,
  ]);
  const text = table([["id", "name", "members", "envelopes", "documents", "plan"], ...rows]);
  print(context, found, rows.length === 0 ? "There is no organization yet." : text);
  return 0;
}

async function create(context: CommandContext): Promise<number> {
  const email = parsed(Email, required(context, "email"), "--email is not an e-mail address");
  const [locale, timeZone, plan] = [
    optional(context, "locale"),
    optional(context, "time-zone"),
    optional(context, "plan"),
  ];
  const input = {
    name: required(context, "name"),
    owner: { email, name: optional(context, "person") },
    ...(locale === undefined ? {} : { locale: parsed(Locale, locale, "--locale is not a language") }),
    ...(timeZone === undefined ? {} : { timeZone: parsed(TimeZone, timeZone, "--time-zone is not a time zone") }),
    ...(plan === undefined ? {} : { plan: planOf(plan) }),
  };
  const made = await runningOrHere(context, {
    running: (call) => call(contract.createManagedOrganization, { body: input }),
    here: (deps, actor) => createManagedOrganization(deps, actor, input),
    createKey: true,
  });
  const link =
    made.link === null ? "" : `\nThe owner sets a password at ${made.link}\nThe link works once and for an hour.`;
  print(context, made, `Created organization ${made.organization} with owner ${made.owner}.${link}`);
  return 0;
}

async function change(
  context: CommandContext,
  wanted: string | undefined,
  body: { name?: string; plan?: ReturnType<typeof planOf> },
): Promise<number> {
  const found = (await read(context)).data.filter(({ id, name }) => id === wanted || name === wanted);
  const [one] = found;
  if (!one) throw new UsageError(`there is no organization ${wanted}`);
  if (found.length > 1) throw new UsageError(`several organizations are called ${wanted}: say the id`);
  const changed = await runningOrHere(context, {
    running: (call) => call(contract.changeManagedOrganization, { params: { id: one.id }, body }),
    here: (deps, actor) => changeOrganization(deps, actor, one.id, body),
  });
  print(context, changed, `${changed.name}: ${changed.plan}${changed.ownPlan === null ? " (default)" : ""}`);
  return 0;
}

function planOf(text: string | undefined) {
  if (text === "default") return null;
  return parsed(contract.PlanName, text, `plans are ${contract.PlanName.options.join(", ")}, and default`);
}

function parsed<T>(
  schema: { safeParse(value: unknown): { success: true; data: T } | { success: false } },
  value: unknown,
  otherwise: string,
): T {
  const result = schema.safeParse(value);
  if (!result.success) throw new UsageError(otherwise);
  return result.data;
}
