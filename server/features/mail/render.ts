import type { MailContent } from "./contract.ts";
import { type MessageContext, messageOf, oneLine, textOf } from "./messages.ts";

export type RenderedMail = { subject: string; html: string; text: string; language: string };

/** A mail in both its forms. React is loaded with the first mail, not with the service. */
export async function renderMail(content: MailContent, context: MessageContext): Promise<RenderedMail> {
  const { htmlOf } = await import("./layout.ts");
  const message = messageOf(content, context);
  return {
    subject: message.subject,
    html: htmlOf(message, oneLine(context.organization)),
    text: textOf(message),
    language: message.language,
  };
}
