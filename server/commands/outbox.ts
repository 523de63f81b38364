import type { MailRecord } from "../features/mail/contract.ts";
import { listMail } from "../features/mail/service.ts";
import { type Command, optional, print, UsageError } from "./command.ts";
import { entryOf } from "./list.ts";
import { withDeps } from "./with-deps.ts";

export const outbox: Command = {
  ...entryOf("outbox"),
  usage: ["signet outbox [--envelope ENVELOPE_ID] [--to ADDRESS] [--last N] [--full]"],
  async run(context) {
    const envelope = optional(context, "envelope");
    const to = optional(context, "to");
    const mails = await withDeps(context, (deps) =>
      listMail(deps.db.read, deps, {
        ...(envelope === undefined ? {} : { envelope }),
        ...(to === undefined ? {} : { to }),
      }),
    );
    const last = optional(context, "last");
    if (last !== undefined && !/^[1-9]\d*$/.test(last)) throw new UsageError("--last takes a number above 0");
    const chosen = last === undefined ? mails : mails.slice(0, Number(last));
    const full = context.options.full === true;
    // The newest stands at the end, where a terminal shows it.
    const text = chosen.toReversed().map((mail) => blockOf(mail, full));
    print(context, chosen, text.length === 0 ? "The outbox is empty." : text.join("\n\n"));
    return 0;
  },
};

/** One mail: when, to whom, what it is, and the link or code that it carries; all of its text when wanted. */
function blockOf(
  { createdAt, status, heldFor, to, kind, subject, error, text, link, code }: MailRecord,
  full: boolean,
) {
  const lines = [
    `${createdAt}  ${heldFor === null ? status : `${status} (${heldFor})`}  ${to.email}`,
    `    ${kind}: ${subject}`,
  ];
  if (error) lines.push(`    ${error}`);
  if (full && text) lines.push(indent(text));
  else lines.push(...[code, link].filter((value) => value !== null).map((value) => `    ${value}`));
  return lines.join("\n");
}

const indent = (text: string) => text.trimEnd().replaceAll(/^/gm, "    ");
