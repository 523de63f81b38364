import type { Ts } from "../../../kernel/clock.ts";
import type { Reader, Tx } from "../../../kernel/db.ts";

/** Notes of anchors and receipts of witnesses; both are append-only in the database too. */

export type NoteRow = { sequence: number; note: string };
export type ReceiptRow = {
  sequence: number;
  /** folder, mail, url */
  witness: string;
  at: Ts;
  /** What the witness is known to hold: a file's SHA-256, the answer of a URL, the mail's cause. */
  receipt: string;
};

declare module "../../../kernel/db.ts" {
  interface Tables {
    anchor_notes: NoteRow;
    witness_receipts: ReceiptRow;
  }
}

export async function insertNote(tx: Tx, row: NoteRow): Promise<void> {
  await tx.insertInto("anchor_notes").values(row).execute();
}

export async function findNote(reader: Reader, sequence: number): Promise<string | undefined> {
  const row = await reader
    .selectFrom("anchor_notes")
    .select("note")
    .where("sequence", "=", sequence)
    .executeTakeFirst();
  return row?.note;
}

/** The first receipt stays. */
export async function insertReceipt(tx: Tx, row: ReceiptRow): Promise<void> {
  await tx
    .insertInto("witness_receipts")
    .values(row)
    .onConflict((conflict) => conflict.columns(["sequence", "witness"]).doNothing())
    .execute();
}

export function listReceipts(reader: Reader, sequence: number): Promise<ReceiptRow[]> {
  return reader
    .selectFrom("witness_receipts")
    .selectAll()
    .where("sequence", "=", sequence)
    .orderBy("witness")
    .execute();
}

/** Receipts of anchors that are not there. */
export function listReceiptsBeyond(reader: Reader): Promise<ReceiptRow[]> {
  return reader
    .selectFrom("witness_receipts")
    .selectAll()
    .where("sequence", "not in", (eb) => eb.selectFrom("anchors").select("sequence"))
    .orderBy("sequence")
    .execute();
}

/** Whether the mail that a receipt names is one about its anchor. */
export async function wasWritten(reader: Reader, { sequence, receipt }: ReceiptRow): Promise<boolean> {
  const mail = await reader
    .selectFrom("mails")
    .select("id")
    .where("kind", "=", "anchor_witness")
    .where("message_id", "=", receipt)
    .where("cause", ">=", `anchor_witness:${sequence}:`)
    .where("cause", "<", `anchor_witness:${sequence};`)
    .executeTakeFirst();
  return mail !== undefined;
}
