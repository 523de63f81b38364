import { allOrganizations, createOrganization } from "../features/identity/service.ts";
import type { Deps } from "../kernel/deps.ts";
import { AppError } from "../kernel/errors.ts";
import { Email } from "../kernel/wire.ts";
import { type Command, optional, print, required, UsageError } from "./command.ts";
import { entryOf } from "./list.ts";
import { readSecret } from "./secret.ts";
import { withDeps } from "./with-deps.ts";

export const init: Command = {
  ...entryOf("init"),
  usage: [
    "signet init --organization NAME --email ADDRESS [--name NAME] [--locale en] [--time-zone UTC] [--password-stdin]",
    "signet init --additional …   where there is an organization already",
  ],
  async run(context) {
    const name = required(context, "organization");
    const address = Email.safeParse(required(context, "email"));
    if (!address.success) throw new UsageError("--email is not an e-mail address");
    const password = context.options["password-stdin"] ? await readSecret(context, "Password") : null;
    const locale = optional(context, "locale");
    const timeZone = optional(context, "time-zone");
    const create = async (deps: Deps) => {
      const [known] = await allOrganizations(deps.db.read);
      // A second one by mistake would own nothing, and every later command would have to name which one it means.
      if (known && context.options.additional !== true)
        throw new AppError("conflict", {
          detail: `There is an organization already: ${known.name}. Say --additional to create another.`,
        });
      return await createOrganization(deps, {
        name,
        owner: { email: address.data, name: optional(context, "name") ?? address.data, password },
        ...(locale === undefined ? {} : { locale }),
        ...(timeZone === undefined ? {} : { timeZone }),
      });
    };
    const made = await withDeps(context, create, { createKey: true });
    print(context, made, `Created organization ${made.organization} with owner ${made.user}.`);
    return 0;
  },
};
