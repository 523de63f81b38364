import type Catalogue from "../../../locales/en/mail.json";
import { locales } from "../../../locales/read.ts";
import { answeringLanguage, directionOf, type Translate, translatorOf } from "../../../locales/translate.ts";
import type { MailContent } from "./contract.ts";
import { isPersonal, personalMessage } from "./personal-messages.ts";

/** A mail before it has a form: the layouts for HTML and plain text are made from this. */
export type Message = {
  subject: string;
  heading: string;
  paragraphs: string[];
  /** Somebody's own words, set apart so that nobody takes them for ours. */
  quote: { label: string | null; text: string } | null;
  code: string | null;
  button: { label: string; url: string } | null;
  /** Small print below. */
  notes: string[];
  footer: string[];
  language: string;
  direction: "ltr" | "rtl";
};

export type MessageContext = {
  locale: string;
  organization: string;
  address: string;
  /** Whether the sealed file travels with the mail. */
  attached: boolean;
};

export type MailTranslate = Translate<typeof Catalogue>;

/** The words of the mails, in the language that answers for `locale` where it has some. */
function wordsFor(locale: string): { t: MailTranslate; language: string } {
  const language = answeringLanguage([locale], locales().languages);
  return { t: translatorOf(locales().words(language, "mail"), language), language };
}

/** The subject alone, which is stored readable: it never holds a link or code. */
export function subjectOf(content: MailContent, locale: string): string {
  const { t } = wordsFor(locale);
  return oneLine(
    t(`${groupOf(content)}.subject`, { sender: "sender" in content ? content.sender : "", ...namesOf(content) }),
  );
}

/** Where subject and heading of a mail stand in the catalogue. */
const groupOf = (content: MailContent) =>
  content.kind === "viewer_update" ? (`viewer_update.${content.status}` as const) : content.kind;

/** What a subject or heading may name. */
function namesOf(content: MailContent): Record<string, string> {
  if (content.kind === "invitation")
    return { organization: oneLine(content.organizationName), by: oneLine(content.invitedBy) };
  if (content.kind === "anchor_witness") return { sequence: String(content.sequence) };
  if (content.kind === "member_promoted" || content.kind === "webhook_failing")
    return { organization: oneLine(content.organizationName) };
  return "title" in content ? { title: oneLine(content.title) } : {};
}

/**
 * Text for one header line: control characters, which could start another header, and the marks that reverse the
 * reading direction become spaces.
 */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu, " ").trim();
}

export function messageOf(content: MailContent, context: MessageContext): Message {
  const { t, language } = wordsFor(context.locale);
  const title = "title" in content ? oneLine(content.title) : "";
  // Mails about an account come from the service itself, not on behalf of an organization.
  const personal = isPersonal(content);
  const base: Message = {
    subject: subjectOf(content, context.locale),
    heading: t(`${groupOf(content)}.heading`, namesOf(content)),
    paragraphs: [],
    quote: null,
    code: null,
    button: null,
    notes: [],
    footer: [
      personal ? t("footer.account") : t("footer.sentFor", { organization: oneLine(context.organization) }),
      t("footer.private", { address: context.address }),
    ],
    language,
    direction: directionOf(language),
  };
  if (personal) return { ...base, ...personalMessage(content, t, (at) => longDate(at, context.locale)) };
  switch (content.kind) {
    case "signing_request":
    case "reminder": {
      const date = content.expiresAt === null ? null : longDate(content.expiresAt, context.locale);
      return {
        ...base,
        paragraphs: [
          t("greeting", { name: oneLine(content.recipientName) }),
          t(`${content.kind}.body`, { sender: oneLine(content.sender) }),
          ...(date === null ? [] : [t("signing_request.deadline", { date })]),
        ],
        quote: content.message === null ? null : { label: oneLine(content.sender), text: content.message },
        button: { label: t("signing_request.button"), url: content.link },
        notes: [t("signing_request.note")],
      };
    }
    case "code":
      return {
        ...base,
        paragraphs: [t("code.body", { title })],
        code: content.code,
        notes: [t("code.note", { count: content.minutes }), t("code.ignore")],
      };
    case "completed":
      return {
        ...base,
        paragraphs: content.sealFailed
          ? [t("completed.unsealed")]
          : [t("completed.body"), ...(context.attached ? [t("completed.attached")] : [])],
        button: content.link === null ? null : { label: t("completed.button"), url: content.link },
        notes: content.link === null ? [] : [t("completed.note")],
      };
    case "voided":
      return {
        ...base,
        paragraphs: [t("voided.body", { sender: oneLine(content.sender) })],
        quote: { label: t("voided.reason"), text: content.reason },
      };
    case "declined":
      return {
        ...base,
        paragraphs: [t("declined.body", { by: oneLine(content.by) })],
        quote: { label: t("declined.reason"), text: content.reason },
      };
    case "viewer_update":
      return {
        ...base,
        paragraphs: [t(`viewer_update.${content.status}.body`)],
        button: { label: t("viewer_invite.button"), url: content.link },
        notes: [t("viewer_invite.note")],
      };
    case "invitation":
      return {
        ...base,
        paragraphs: [t("invitation.body", namesOf(content)), t(`invitation.role_${content.role}`)],
        button: { label: t("invitation.button"), url: content.link },
        notes: [t("invitation.note")],
      };
    case "viewer_invite":
      return {
        ...base,
        paragraphs: [t("viewer_invite.body", { sender: oneLine(content.sender) })],
        button: { label: t("viewer_invite.button"), url: content.link },
        notes: [t("viewer_invite.note")],
      };
    case "render_failed":
      return {
        ...base,
        paragraphs: [t("render_failed.body")],
        quote: { label: t("render_failed.reason"), text: content.message },
      };
    case "stalled":
      return {
        ...base,
        paragraphs: [t("stalled.body")],
        quote: { label: t("stalled.reason"), text: content.message },
      };
  }
}

/** UTC, and said so: the reader's time zone is not known. */
function longDate(at: string, locale: string): string {
  const options = { dateStyle: "long", timeStyle: "short", timeZone: "UTC" } as const;
  return `${new Intl.DateTimeFormat(locale, options).format(new Date(at))} UTC`;
}

/** The plain-text form, which every HTML mail carries beside it. */
export function textOf(message: Message): string {
  const quote = message.quote;
  const parts = [
    message.heading,
    ...message.paragraphs,
    ...(quote === null ? [] : [`${quote.label === null ? "" : `${quote.label}:\n`}${indent(quote.text)}`]),
    ...(message.code === null ? [] : [message.code]),
    ...(message.button === null ? [] : [`${message.button.label}:\n${message.button.url}`]),
    ...message.notes,
    // RFC 3676 §4.3: dash, dash, space begins the signature.
    `-- \n${message.footer.join("\n")}`,
  ];
  return `${parts.join("\n\n")}\n`;
}

function indent(text: string): string {
  return text
    .split(/\r\n|\r|\n/)
    .map((line) => `> ${line}`)
    .join("\n");
}
