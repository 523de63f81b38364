import { recoverOwner as recover } from "../features/sign-in/access.ts";
import * as contract from "../features/sign-in/access-contract.ts";
import { Email } from "../kernel/wire.ts";
import { type Command, print, required, UsageError } from "./command.ts";
import { entryOf } from "./list.ts";
import { runningOrHere } from "./with-appliance.ts";

export const recoverOwner: Command = {
  ...entryOf("recover-owner"),
  usage: [
    "signet recover-owner --email ADDRESS",
    "The link works once and for an hour; links made before stop working.",
  ],
  async run(context) {
    const email = emailOf(required(context, "email"));
    const done = await runningOrHere(context, {
      running: (call) => call(contract.recoverOwner, { body: { email } }),
      here: (deps, actor) => recover(deps, actor, email),
    });
    const ended = done.sessionsEnded === 1 ? "1 session was" : `${done.sessionsEnded} sessions were`;
    print(
      context,
      done,
      `${ended} ended. A new password is set at ${done.link}\nThe link works once, until ${done.expiresAt}.`,
    );
    return 0;
  },
};

/** @throws UsageError */
export function emailOf(text: string): string {
  const parsed = Email.safeParse(text);
  if (!parsed.success) throw new UsageError("--email is not an e-mail address");
  return parsed.data;
}
