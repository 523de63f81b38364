import type { Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { localeOfPerson, personById } from "../identity/service.ts";
import type { MailContent } from "../mail/contract.ts";
import { queueMail } from "../mail/service.ts";

type Notice = Extract<MailContent, { kind: "security_notice" }>["notice"];

/**
 * Tells a person by mail that a way to sign in to their account has changed, in the transaction of the change.
 * @param cause what is unique to this change, an id for example: it is told once
 */
export async function queueSecurityNotice(
  tx: Tx,
  deps: Deps,
  user: string,
  notice: Notice,
  cause: string,
): Promise<void> {
  const person = await personById(tx, user);
  if (!person) throw new Error(`person ${user} is missing`);
  await queueMail(tx, deps, {
    cause: `security_notice:${notice}:${user}:${cause}`,
    organization: null,
    envelope: null,
    testMode: false,
    to: { email: person.email, name: person.name },
    locale: await localeOfPerson(tx, person),
    content: { kind: "security_notice", notice, at: deps.clock.ts() },
  });
}
