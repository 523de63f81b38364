import type { Ts } from "../../kernel/clock.ts";
import type { Tx } from "../../kernel/db.ts";
import type { Recipient } from "./contract.ts";
import { updateRecipient } from "./people-store.ts";
import { wasCalled } from "./state.ts";
import { readEnvelope, touchEnvelope } from "./store.ts";

/**
 * Notes that a signing link was not delivered, with whoever has this address and was not sent another one since. Does
 * nothing for those who have finished, or whose place somebody else has taken.
 */
export async function markUndelivered(
  tx: Tx,
  failed: {
    envelope: string;
    email: string;
    code: NonNullable<Recipient["deliveryError"]>["code"];
    message: string;
    writtenAt: Ts;
    at: Ts;
  },
): Promise<void> {
  const { code, message, at } = failed;
  const record = await readEnvelope(tx, failed.envelope);
  for (const recipient of record?.recipients ?? []) {
    const { id, status, email, last_sent_at: sent } = recipient;
    const same = email.toLowerCase() === failed.email.toLowerCase();
    if (!same || status === "completed" || !wasCalled(status) || (sent !== null && sent > failed.writtenAt)) continue;
    await updateRecipient(tx, id, status, { delivery_error: JSON.stringify({ code, message, at }) });
    await touchEnvelope(tx, failed.envelope, at);
  }
}
