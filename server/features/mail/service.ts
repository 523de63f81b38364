import { createHash } from "node:crypto";
import { isLoopback } from "../../config.ts";
import { toTs } from "../../kernel/clock.ts";
import type { Reader, Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { newId } from "../../kernel/ids.ts";
import { enqueue } from "../../kernel/jobs.ts";
import { isMemberAddress, organizationById } from "../identity/service.ts";
import { type HeldFor, MailContent, type MailKind, type MailRecord } from "./contract.ts";
import { accountQueue, codeQueue, sendMail } from "./jobs.ts";
import { messageOf, subjectOf, textOf } from "./messages.ts";
import * as store from "./store.ts";

export type { OutlivedCheck } from "./outlived.ts";

export type MailRequest = {
  /** Stable and unique per cause, for example `signing_request:rcp_…:ses_…`: the same cause never writes a second mail. */
  cause: string;
  /** Null for a mail to a person about their account, which is never a test. */
  organization: string | null;
  envelope: string | null;
  testMode: boolean;
  to: { email: string; name: string | null };
  locale: string;
  content: MailContent;
};

/** What the content of a mail is encrypted for: it cannot be moved to another row. */
const contextOf = (id: string) => `mails.content:${id}`;

/**
 * Stores a mail, its content encrypted, and queues its delivery in the caller's transaction. A second call with the same
 * cause does nothing.
 * @returns whether this is the first mail of its cause
 */
export async function queueMail(tx: Tx, deps: Deps, mail: MailRequest): Promise<boolean> {
  const { inserted } = await put(tx, deps, mail, "queued");
  return inserted;
}

/**
 * Does all that a mail takes, but that anybody gets one: it is stored, laid out and carried to the mail server's door, and is
 * then gone. Who asks in the name of others must not learn from the time of what follows whether there was a mail to send.
 */
export async function queueForNobody(tx: Tx, deps: Deps, mail: MailRequest): Promise<void> {
  const { id, heldFor } = await put(tx, deps, mail, "nobody");
  if (heldFor !== null) await store.deleteForNobody(tx, id);
}

async function put(tx: Tx, deps: Deps, mail: MailRequest, waits: "queued" | "nobody") {
  const { content } = mail;
  if ("link" in content && content.link !== null) requireOwnLink(deps, content.link);
  const id = newId("msg");
  const heldFor = await holdReason(tx, deps, mail);
  const inserted = await store.insertMail(tx, {
    id,
    cause: mail.cause,
    message_id: messageIdOf(mail.cause, deps.config.baseUrl),
    organization: mail.organization,
    envelope: mail.envelope,
    test_mode: mail.testMode ? 1 : 0,
    kind: mail.content.kind,
    to_email: mail.to.email,
    to_name: mail.to.name,
    locale: mail.locale,
    subject: subjectOf(mail.content, mail.locale),
    content: deps.secrets.seal(JSON.stringify(mail.content), contextOf(id)),
    status: heldFor === null || waits === "nobody" ? waits : "held",
    held_for: heldFor,
    error: null,
    created_at: deps.clock.ts(),
    sent_at: null,
  });
  if (inserted && heldFor === null) await enqueue(tx, sendMail, { mail: id }, { queue: queueOf(mail) });
  return { id, inserted, heldFor };
}

function queueOf({ organization, content }: MailRequest): string {
  if (organization === null) return accountQueue;
  return content.kind === "code" ? codeQueue : sendMail.queue;
}

/** The token in a link goes wherever the link leads: never to an address that a request has brought. */
function requireOwnLink({ config }: Deps, link: string): void {
  const own = [config.appUrl, config.baseUrl].some((url) => link.startsWith(`${url}/`));
  if (!own) throw new Error("a mail links to the configured URLs only");
}

/**
 * Why a mail stays here. Test mode writes to members only. A loopback base URL makes links that work on this machine
 * alone, so nothing live goes to a mail server with them.
 */
async function holdReason(reader: Reader, deps: Deps, mail: MailRequest): Promise<HeldFor | null> {
  const { organization } = mail;
  if (mail.testMode && organization !== null)
    return (await isMemberAddress(reader, organization, mail.to.email)) ? null : "test_mode";
  if (deps.config.smtpUrl === undefined) return null;
  // A code or a notice to a person about their account needs no link to be of use.
  const usable = organization === null && !("link" in mail.content);
  return isLoopback(hostOf(deps.config.baseUrl)) && !usable ? "loopback" : null;
}

function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, "");
}

/** The same for every attempt and after a restart: mail programs drop the repeat (RFC 5322 §3.6.4). */
export function messageIdOf(cause: string, baseUrl: string): string {
  const host = hostOf(baseUrl);
  // An IPv6 literal is no dot-atom; RFC 5322 §3.4.1 has brackets for it.
  const right = host.includes(":") ? `[IPv6:${host}]` : host;
  return `<${createHash("sha256").update(cause).digest("hex").slice(0, 40)}@${right}>`;
}

export function openContent(deps: Pick<Deps, "secrets">, row: store.MailRow): MailContent | null {
  if (row.content === null) return null;
  return MailContent.parse(JSON.parse(new TextDecoder().decode(deps.secrets.open(row.content, contextOf(row.id)))));
}

/** The name that a mail speaks for: the organization's, or ours in mails about a person's account. */
export async function organizationName(reader: Reader, id: string | null, known = new Map<string, string>()) {
  if (id === null) return "Signet";
  const name = known.get(id) ?? (await organizationById(reader, id)).name;
  known.set(id, name);
  return name;
}

export type MailFilter = store.MailFilter;

/** Mails newest first, with link and code readable while they were not wiped: for `signet outbox`, members and tests. */
export async function listMail(
  reader: Reader,
  deps: Pick<Deps, "secrets">,
  filter: MailFilter = {},
): Promise<MailRecord[]> {
  const rows = await store.listMails(reader, filter);
  const names = new Map<string, string>();
  const records: MailRecord[] = [];
  for (const row of rows) {
    const name = await organizationName(reader, row.organization, names);
    const content = openContent(deps, row);
    records.push({
      id: row.id,
      organization: row.organization,
      envelope: row.envelope,
      testMode: row.test_mode === 1,
      kind: row.kind,
      to: { email: row.to_email, name: row.to_name },
      subject: row.subject,
      status: row.status,
      heldFor: row.held_for,
      messageId: row.message_id,
      createdAt: row.created_at,
      sentAt: row.sent_at,
      error: row.error,
      text:
        content === null
          ? null
          : textOf(
              messageOf(content, { locale: row.locale, organization: name, address: row.to_email, attached: false }),
            ),
      link: content !== null && "link" in content ? content.link : null,
      code: content !== null && "code" in content ? content.code : null,
    });
  }
  return records;
}

const dayMs = 86_400_000;
/** How long a link or code in a mail can be of use; a day at least, in which the mail itself may be looked for. */
const usefulMs: readonly [number, readonly MailKind[]][] = [
  [dayMs, ["code", "sign_in_code", "confirm_account", "magic_link", "password_reset"]],
  [7 * dayMs, ["invitation"]],
  [30 * dayMs, ["signing_request", "reminder", "completed", "viewer_invite", "viewer_update"]],
];

/** Forgets links and codes of mails that lie here because they were held back, or went to a file (contract §0). */
export async function purgeMails(tx: Tx, { clock }: Pick<Deps, "clock">): Promise<void> {
  const now = clock.now();
  for (const [ms, kinds] of usefulMs) await store.wipeContents(tx, kinds, toTs(now - ms));
}
