import type { Deps } from "../../kernel/deps.ts";
import type { Commit } from "../../kernel/job-handler.ts";
import { localeOfPerson, personByEmail } from "../identity/service.ts";
import type { MailContent } from "../mail/contract.ts";
import { queueForNobody, queueMail } from "../mail/service.ts";
import type { Asked } from "./jobs.ts";
import { maySignUp } from "./sign-up.ts";

/** In the place of a person where there is none. */
const nobody = { id: "", locale: null };

/**
 * Sends what was asked for to whoever may have it. For everybody else the same is done with a mail that goes nowhere, look-ups
 * included: who sends the next requests finds this process as busy for the one as for the other.
 */
export async function mailWhatWasAsked(deps: Deps, asked: Asked): Promise<Commit> {
  const person = await personByEmail(deps.db.read, asked.email);
  const welcome = asked.content.kind === "confirm_account" && (await maySignUp(deps.db.read, deps, asked.email));
  const isNewcomer = !person && welcome;
  const queue = person || isNewcomer ? queueMail : queueForNobody;
  return async (tx) => {
    await queue(tx, deps, {
      cause: `sign-in:${asked.cause}`,
      organization: null,
      envelope: null,
      testMode: false,
      to: { email: person?.email ?? asked.email, name: person?.name ?? null },
      locale: await localeOfPerson(tx, person ?? nobody, asked.locale),
      content: isNewcomer ? asked.content : toHolder(deps, asked.content),
    });
  };
}

/** Who has an account and is asked to confirm another one hears instead how to sign in. */
function toHolder({ config }: Deps, content: Asked["content"]): MailContent {
  return content.kind === "confirm_account" ? { kind: "account_exists", link: `${config.appUrl}/sign-in` } : content;
}
