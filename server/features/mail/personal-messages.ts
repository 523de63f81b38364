import type { MailContent } from "./contract.ts";
import type { MailTranslate, Message } from "./messages.ts";

/** Mails from the service itself: to people about their account, and to a witness. */

const kinds = [
  "sign_in_code",
  "confirm_account",
  "magic_link",
  "password_reset",
  "account_exists",
  "security_notice",
  "member_promoted",
  "webhook_failing",
  "anchor_witness",
] as const;
type PersonalContent = Extract<MailContent, { kind: (typeof kinds)[number] }>;

export function isPersonal(content: MailContent): content is PersonalContent {
  return kinds.some((kind) => kind === content.kind);
}

/** What this mail says beyond its subject and heading. */
export function personalMessage(
  content: PersonalContent,
  t: MailTranslate,
  dateOf: (at: string) => string,
): Pick<Message, "paragraphs"> & Partial<Pick<Message, "code" | "button" | "notes" | "quote">> {
  switch (content.kind) {
    case "sign_in_code":
    case "confirm_account":
      return {
        paragraphs: [t(`${content.kind}.body`)],
        code: content.code,
        notes: [lifeOfCode(t, content.minutes), t(`${content.kind}.ignore`)],
      };
    case "magic_link":
    case "password_reset":
      return {
        paragraphs: [t(`${content.kind}.body`)],
        button: { label: t(`${content.kind}.button`), url: content.link },
        notes: [t("link.note", { count: content.minutes }), t(`${content.kind}.ignore`)],
      };
    case "account_exists":
      return {
        paragraphs: [t("account_exists.body")],
        button: { label: t("account_exists.button"), url: content.link },
        notes: [t("account_exists.ignore")],
      };
    case "security_notice":
      return {
        paragraphs: [t(`security_notice.${content.notice}`, { date: dateOf(content.at) })],
        notes: [t("security_notice.help")],
      };
    case "anchor_witness":
      return {
        paragraphs: [t("anchor_witness.body", { sequence: content.sequence })],
        quote: { label: t("anchor_witness.checkpoint"), text: content.checkpoint },
        notes: [t("anchor_witness.note")],
      };
    case "member_promoted":
      return {
        paragraphs: [
          t(`member_promoted.${content.role}`, {
            name: content.name,
            email: content.email,
            by: content.by,
            date: dateOf(content.at),
            organization: content.organizationName,
          }),
        ],
        notes: [t("member_promoted.help")],
      };
    case "webhook_failing": {
      const { url, statusCode } = content;
      const last =
        statusCode === null
          ? t("webhook_failing.unanswered")
          : t("webhook_failing.answered", { status: String(statusCode) });
      return {
        paragraphs: [t("webhook_failing.body", { url, date: dateOf(content.since) }), last],
        button: { label: t("webhook_failing.button"), url: content.link },
        notes: [t("webhook_failing.help")],
      };
    }
  }
}

/** A code that confirms an address lives for a day, which nobody wants to read in minutes. */
function lifeOfCode(t: MailTranslate, minutes: number): string {
  const hours = minutes / 60;
  return Number.isInteger(hours) ? t("code.hours", { count: hours }) : t("code.note", { count: minutes });
}
