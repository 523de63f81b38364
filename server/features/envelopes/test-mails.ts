import { decodeCursor, pageOf } from "../../kernel/cursor.ts";
import type { Deps } from "../../kernel/deps.ts";
import { notFound } from "../../kernel/errors.ts";
import type { MailRecord } from "../mail/contract.ts";
import { listMail } from "../mail/service.ts";
import type { TestMail } from "./dashboard-contract.ts";
import { ownedEnvelope } from "./owned.ts";

/**
 * Mails of test-mode envelopes as members read them, codes included: most of them go nowhere else (contract §3).
 * Live mail is never among them.
 * @throws AppError not-found for an envelope of another organization or of live mode
 */
export async function listTestMails(
  deps: Deps,
  organization: string,
  query: { envelope?: string | undefined; limit: number; cursor?: string | undefined },
): Promise<{ data: TestMail[]; hasMore: boolean; nextCursor: string | null }> {
  const { envelope, limit, cursor } = query;
  const after = cursor === undefined ? undefined : decodeCursor(deps.secrets, "test-mails", cursor);
  if (envelope !== undefined) {
    const owned = await ownedEnvelope(deps, envelope, { organization, testMode: null });
    if (owned.envelope.test_mode !== 1) throw notFound("A test-mode envelope of this id");
  }
  const filter = { organization, envelope, testMode: true, after, limit: limit + 1 };
  const mails = await listMail(deps.db.read, deps, filter);
  return pageOf(deps.secrets, "test-mails", mails, limit, ({ createdAt, id }) => ({ t: createdAt, id }), present);
}

function present(mail: MailRecord): TestMail {
  return {
    id: mail.id,
    envelope: mail.envelope,
    kind: mail.kind,
    to: mail.to,
    subject: mail.subject,
    status: mail.status,
    heldFor: mail.heldFor,
    createdAt: mail.createdAt,
    sentAt: mail.sentAt,
    error: mail.error,
    text: mail.text,
    link: mail.link,
    code: mail.code,
  };
}
