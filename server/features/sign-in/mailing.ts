import type { Deps } from "../../kernel/deps.ts";
import type { Commit } from "../../kernel/job-handler.ts";
import { enqueue } from "../../kernel/jobs.ts";
import { localeOfPerson, personByEmail } from "../identity/people.ts";
import type { MailContent } from "../mail/contract.ts";
import { renderMail } from "../mail/render.ts";
import { queueMail } from "../mail/service.ts";
import { type Asked, mailNobody } from "./jobs.ts";
import { maySignUp } from "./sign-up.ts";

/** Sends what was asked for to whoever may have it, and nothing to others. */
export async function mailWhatWasAsked(deps: Deps, asked: Asked): Promise<Commit> {
  const person = await personByEmail(deps.db.read, asked.email);
  const newcomer =
    !person && asked.content.kind === "confirm_account" && (await maySignUp(deps.db.read, deps, asked.email));
  if (!person && !newcomer) return (tx) => enqueue(tx, mailNobody, asked);
  return async (tx) => {
    await queueMail(tx, deps, {
      cause: `sign-in:${asked.cause}`,
      organization: null,
      envelope: null,
      testMode: false,
      to: { email: person?.email ?? asked.email, name: person?.name ?? null },
      locale: person ? await localeOfPerson(tx, person, asked.locale) : (asked.locale ?? "en"),
      content: person ? toHolder(deps, asked.content) : asked.content,
    });
  };
}

/** What sending takes of this process, for an address that gets nothing. */
export async function layOutForNobody({ content, email, locale }: Asked): Promise<undefined> {
  await renderMail(content, { locale: locale ?? "en", organization: "Signet", address: email, attached: false });
}

/** Who has an account and is asked to confirm another one hears instead how to sign in. */
function toHolder({ config }: Deps, content: Asked["content"]): MailContent {
  return content.kind === "confirm_account" ? { kind: "account_exists", link: `${config.appUrl}/sign-in` } : content;
}
