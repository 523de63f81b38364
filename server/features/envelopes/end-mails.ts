import type { Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { organizationById, senderAddresses } from "../identity/service.ts";
import { queueMail } from "../mail/service.ts";
import { Failure } from "./envelope-contract.ts";
import type { AuditObserver } from "./observers.ts";
import { actorOf, mailHead } from "./sender.ts";
import type { EnvelopeRecord } from "./store.ts";
import type { RecipientRow } from "./tables.ts";

/** Mails about an envelope that ended without a document: to those who were asked to sign it, and to its sender. */
export const mailAboutEnd: AuditObserver = async (tx, deps, { entries, beside, record }) => {
  if (!beside.notify) return;
  for (const { type, actor, data } of entries) {
    // Only a rendering that failed has a code; the reason alone is whatever a sender writes.
    if (type === "envelope.voided" && data.code !== undefined) await tellRenderFailed(tx, deps, await record());
    else if (type === "envelope.voided") await tellVoided(tx, deps, await record());
    if (type === "envelope.declined") await tellDeclined(tx, deps, await record(), actor.name ?? "");
  }
};

/** People who were asked to sign before the end, except the one who declined. */
const wasAsked = ({ kind, status, sent_at: sentAt }: RecipientRow): boolean =>
  kind === "signer" && (status === "completed" || (status === "canceled" && sentAt !== null));

async function tellVoided(tx: Tx, deps: Deps, record: EnvelopeRecord): Promise<void> {
  const { envelope } = record;
  const told = record.recipients.filter(wasAsked);
  if (told.length === 0) return;
  const sender = (await organizationById(tx, envelope.organization)).name;
  const content = { kind: "voided" as const, title: envelope.title, reason: envelope.void_reason ?? "", sender };
  for (const recipient of told) {
    await queueMail(tx, deps, {
      ...mailHead(envelope),
      cause: `voided:${envelope.id}:${recipient.id}`,
      to: { email: recipient.email, name: recipient.name },
      locale: recipient.locale ?? envelope.locale,
      content,
    });
  }
}

async function tellRenderFailed(tx: Tx, deps: Deps, { envelope }: EnvelopeRecord): Promise<void> {
  const { message } = Failure.parse(JSON.parse(envelope.failure ?? ""));
  for (const to of await senderAddresses(tx, envelope.organization, actorOf(envelope))) {
    await queueMail(tx, deps, {
      ...mailHead(envelope),
      cause: `render_failed:${envelope.id}:${to.email.toLowerCase()}`,
      to,
      locale: envelope.locale,
      content: { kind: "render_failed", title: envelope.title, message },
    });
  }
}

async function tellDeclined(tx: Tx, deps: Deps, record: EnvelopeRecord, by: string): Promise<void> {
  const { envelope } = record;
  const content = { kind: "declined" as const, title: envelope.title, by, reason: envelope.declined_reason ?? "" };
  for (const to of await senderAddresses(tx, envelope.organization, actorOf(envelope))) {
    const cause = `declined:${envelope.id}:sender:${to.email.toLowerCase()}`;
    await queueMail(tx, deps, { ...mailHead(envelope), cause, to, locale: envelope.locale, content });
  }
  for (const recipient of record.recipients.filter(wasAsked)) {
    await queueMail(tx, deps, {
      ...mailHead(envelope),
      cause: `declined:${envelope.id}:${recipient.id}`,
      to: { email: recipient.email, name: recipient.name },
      locale: recipient.locale ?? envelope.locale,
      content,
    });
  }
}
