import { createOrganization } from "../features/identity/service.ts";
import type { Deps } from "../kernel/deps.ts";
import { Email } from "../kernel/wire.ts";
import { type Command, optional, print, required, UsageError } from "./command.ts";
import { withDeps } from "./with-deps.ts";

export const init: Command = {
  name: "init",
  summary: "create an organization and its owner on this data folder",
  usage: [
    "signet init --organization NAME --email ADDRESS [--name NAME] [--locale en] [--time-zone UTC] [--password-stdin]",
  ],
  options: {
    organization: { type: "string" },
    email: { type: "string" },
    name: { type: "string" },
    locale: { type: "string" },
    "time-zone": { type: "string" },
    "password-stdin": { type: "boolean" },
  },
  async run(context) {
    const name = required(context, "organization");
    const address = Email.safeParse(required(context, "email"));
    if (!address.success) throw new UsageError("--email is not an e-mail address");
    const password = context.options["password-stdin"] ? await readLine(context.stdin) : null;
    const locale = optional(context, "locale");
    const timeZone = optional(context, "time-zone");
    const create = (deps: Deps) =>
      createOrganization(deps, {
        name,
        owner: { email: address.data, name: optional(context, "name") ?? address.data, password },
        ...(locale === undefined ? {} : { locale }),
        ...(timeZone === undefined ? {} : { timeZone }),
      });
    const made = await withDeps(context, create, { createKey: true });
    print(context, made, `Created organization ${made.organization} with owner ${made.user}.`);
    return 0;
  },
};

/** The first line of standard input, without its end. */
async function readLine(stdin: AsyncIterable<Uint8Array | string>): Promise<string> {
  let text = "";
  for await (const chunk of stdin) text += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8");
  return text.split(/\r?\n/)[0] ?? "";
}
