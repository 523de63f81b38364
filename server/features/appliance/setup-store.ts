import type { Ts } from "../../kernel/clock.ts";
import type { Reader, Tx } from "../../kernel/db.ts";

/** Steps of the setup that somebody decided against. */
type SkipRow = { step: string; at: Ts };

declare module "../../kernel/db.ts" {
  interface Tables {
    setup_skips: SkipRow;
  }
}

export async function listSkips(reader: Reader): Promise<string[]> {
  return (await reader.selectFrom("setup_skips").select("step").execute()).map(({ step }) => step);
}

export async function insertSkip(tx: Tx, row: SkipRow): Promise<void> {
  await tx
    .insertInto("setup_skips")
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function deleteSkip(tx: Tx, step: string): Promise<void> {
  await tx.deleteFrom("setup_skips").where("step", "=", step).execute();
}
