import type { Reader, Tx } from "../../kernel/db.ts";

/** How large the data folder was, a number a day. */
export type StorageSampleRow = { day: string; bytes: number };

declare module "../../kernel/db.ts" {
  interface Tables {
    storage_samples: StorageSampleRow;
  }
}

/** The first of a day stays; those before `oldest` go. */
export async function insertSample(tx: Tx, row: StorageSampleRow, oldest: string): Promise<void> {
  await tx
    .insertInto("storage_samples")
    .values(row)
    .onConflict((conflict) => conflict.column("day").doNothing())
    .execute();
  await tx.deleteFrom("storage_samples").where("day", "<", oldest).execute();
}

/** The oldest that is not before this day. */
export async function firstSample(reader: Reader, from: string): Promise<StorageSampleRow | undefined> {
  return await reader
    .selectFrom("storage_samples")
    .selectAll()
    .where("day", ">=", from)
    .orderBy("day")
    .limit(1)
    .executeTakeFirst();
}
