import { listMail } from "../features/mail/service.ts";
import { type Command, optional, print } from "./command.ts";
import { withDeps } from "./with-deps.ts";

export const outbox: Command = {
  name: "outbox",
  summary: "show the mail that was written, sent, held back or refused",
  usage: ["signet outbox [--envelope ENVELOPE_ID] [--to ADDRESS]"],
  options: { envelope: { type: "string" }, to: { type: "string" } },
  async run(context) {
    const envelope = optional(context, "envelope");
    const to = optional(context, "to");
    const mails = await withDeps(context, (deps) =>
      listMail(deps.db.read, deps, {
        ...(envelope === undefined ? {} : { envelope }),
        ...(to === undefined ? {} : { to }),
      }),
    );
    const text = mails.map(
      (mail) =>
        `${mail.createdAt}  ${mail.status.padEnd(6)}  ${mail.to.email}  ${mail.subject}${mail.error ? `\n  ${mail.error}` : ""}${mail.text ? `\n${indent(mail.text)}` : ""}`,
    );
    print(context, mails, text.length === 0 ? "The outbox is empty." : text.join("\n\n"));
    return 0;
  },
};

const indent = (text: string) => text.trimEnd().replaceAll(/^/gm, "    ");
