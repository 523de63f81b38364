import { readMailQueue, testMail } from "../features/mail/queue.ts";
import * as contract from "../features/mail/queue-contract.ts";
import { Email } from "../kernel/wire.ts";
import { type Command, type CommandContext, optional, print, required, table, UsageError } from "./command.ts";
import { entryOf } from "./list.ts";
import { readSecret } from "./secret.ts";
import { runningOrHere } from "./with-appliance.ts";

export const smtp: Command = {
  ...entryOf("smtp"),
  usage: [
    "signet smtp test --to ADDRESS [--from SENDER] [--url-stdin]   --url-stdin tries the URL on standard input instead",
    "signet smtp queue [--last N]",
  ],
  exitCodes: { 1: "the mail was not delivered" },
  run: (context) => {
    const [verb, ...more] = context.positionals;
    if (verb === "test" && more.length === 0) return tryOne(context);
    if (verb === "queue" && more.length === 0) return queue(context);
    throw new UsageError("say test or queue");
  },
};

async function tryOne(context: CommandContext): Promise<number> {
  const to = Email.safeParse(required(context, "to"));
  if (!to.success) throw new UsageError("--to is not an e-mail address");
  const from = optional(context, "from");
  const url = context.options["url-stdin"] === true ? await readSecret(context, "URL") : undefined;
  if (url !== undefined && !/^smtps?:\/\//.test(url))
    throw new UsageError("standard input is not smtp://user:password@host:port or smtps://…");
  const body = {
    to: to.data,
    ...(from === undefined ? {} : { mailFrom: from }),
    ...(url === undefined ? {} : { smtpUrl: url }),
  };
  const done = await runningOrHere(context, {
    running: (call) => call(contract.testMail, { body }),
    here: (deps, actor) => testMail(deps, actor, body),
  });
  const marks = { client: ">", server: "<", note: " " };
  const lines = done.transcript.map(({ from: side, text }) => `  ${marks[side]} ${text}`);
  const outcome = done.delivered
    ? done.by === "smtp"
      ? `Delivered in ${done.milliseconds} ms.`
      : "No mail server is set: the mail was written under outbox/ in the data folder."
    : `Not delivered: ${done.error}\n${done.action}`;
  print(context, done, [...lines, outcome].join("\n"));
  return done.delivered ? 0 : 1;
}

async function queue(context: CommandContext): Promise<number> {
  const last = optional(context, "last") ?? "50";
  if (!/^[1-9]\d{0,2}$/.test(last) || Number(last) > 500) throw new UsageError("--last takes a number from 1 to 500");
  const found = await runningOrHere(context, {
    running: (call) => call(contract.getMailQueue, { query: { limit: last } }),
    here: (deps) => readMailQueue(deps, Number(last)),
  });
  const { queued, failed, held } = found.counts;
  const rows = found.data.map((mail) => [
    mail.createdAt,
    mail.status,
    mail.to,
    mail.kind,
    `${mail.attempts}×`,
    mail.cause ?? mail.heldFor ?? "",
  ]);
  const text = rows.length === 0 ? "" : `\n\n${table([["when", "state", "to", "kind", "tries", "cause"], ...rows])}`;
  print(context, found, `${queued} waiting, ${failed} failed, ${held} held back${text}`);
  return 0;
}
