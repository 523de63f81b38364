import { createInstance } from "i18next";
import { en } from "./catalogues/en.ts";
import type { MailContent } from "./contract.ts";

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

const i18n = createInstance({
  resources: { en: { mail: en } },
  fallbackLng: "en",
  defaultNS: "mail",
  initAsync: false,
  // React escapes the HTML, and plain text needs no escaping.
  interpolation: { escapeValue: false, skipOnVariables: true },
});
// Synchronous: the words are here already.
void i18n.init();

type Translate = (key: string, values?: Record<string, string | number>) => string;

/** The pages' catalogues type i18next's keys for the whole program; ours are another set, and a test walks through them. */
function isTranslate(value: unknown): value is Translate {
  return typeof value === "function";
}

function wordsFor(locale: string): Translate {
  const translate: unknown = i18n.getFixedT(locale);
  if (!isTranslate(translate)) throw new TypeError("i18next gave no translation function");
  return translate;
}

/** The subject alone, which is stored readable: it never holds a link or code. */
export function subjectOf(content: MailContent, locale: string): string {
  const sender = "sender" in content ? content.sender : "";
  return oneLine(wordsFor(locale)(`${content.kind}.subject`, { title: content.title, sender }));
}

/**
 * Text for one header line: control characters, which could start another header, and the marks that reverse the
 * reading direction become spaces.
 */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu, " ").trim();
}

export function messageOf(content: MailContent, context: MessageContext): Message {
  const t = wordsFor(context.locale);
  // The catalogue that answers, not the one that was asked for, decides language and direction.
  const language = i18n.hasResourceBundle(context.locale, "mail") ? context.locale : "en";
  const title = oneLine(content.title);
  const base: Message = {
    subject: subjectOf(content, context.locale),
    heading: t(`${content.kind}.heading`, { title }),
    paragraphs: [],
    quote: null,
    code: null,
    button: null,
    notes: [],
    footer: [
      t("footer.sentFor", { organization: oneLine(context.organization) }),
      t("footer.private", { address: context.address }),
    ],
    language,
    direction: i18n.dir(language),
  };
  switch (content.kind) {
    case "signing_request": {
      const date = content.expiresAt === null ? null : longDate(content.expiresAt, context.locale);
      return {
        ...base,
        paragraphs: [
          t("greeting", { name: oneLine(content.recipientName) }),
          t("signing_request.body", { sender: oneLine(content.sender) }),
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
