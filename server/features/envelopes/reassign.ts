import type { Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError } from "../../kernel/errors.ts";
import { updateRecipient } from "./people-store.ts";
import { searchText } from "./search.ts";
import type { EnvelopeRecord } from "./store.ts";
import type { RecipientRow } from "./tables.ts";

/**
 * Puts another person in a recipient's place; their turn starts afresh. The caller writes the audit entry and sends the mail.
 * @throws AppError `conflict` when the recipient was moved at the same time
 */
export async function reassignRecipient(
  tx: Tx,
  deps: Deps,
  { envelope, recipients }: EnvelopeRecord,
  recipient: RecipientRow,
  to: { name: string; email: string; locale: string | null },
): Promise<void> {
  const now = deps.clock.ts();
  const done = await updateRecipient(tx, recipient.id, recipient.status, {
    ...to,
    phone: null,
    status: "sent",
    delivery: "email",
    sent_at: now,
    last_sent_at: now,
    viewed_at: null,
    verified_at: null,
    delivery_error: null,
  });
  if (!done) throw new AppError("conflict");
  const people = recipients
    .map((one) => (one.id === recipient.id ? to : one))
    .flatMap(({ name, email }) => [name, email]);
  await tx
    .updateTable("envelopes")
    .set({ search: searchText([envelope.title, envelope.external_id, ...people]), updated_at: now })
    .where("id", "=", envelope.id)
    .execute();
}
