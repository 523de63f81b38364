import type { Ts } from "../../kernel/clock.ts";
import type { Tx } from "../../kernel/db.ts";
import type { Failure } from "./envelope-contract.ts";

/** What holds an envelope up. */

/** null once it is overcome. */
export async function updateFailure(tx: Tx, id: string, failure: Failure | null, at: Ts): Promise<void> {
  const text = failure === null ? null : JSON.stringify(failure);
  await tx.updateTable("envelopes").set({ failure: text, updated_at: at }).where("id", "=", id).execute();
}

/** `failed` → `pending`; what went wrong stays until the seal is there. @returns false when it has not failed */
export async function returnSealToPending(tx: Tx, id: string, at: Ts): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("envelopes")
    .set({ seal: "pending", updated_at: at })
    .where("id", "=", id)
    .where("status", "=", "completed")
    .where("seal", "=", "failed")
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}
