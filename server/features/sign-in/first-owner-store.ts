import type { Ts } from "../../kernel/clock.ts";
import type { Reader, Tx } from "../../kernel/db.ts";

export type FirstOwnerLinkRow = { token_sha256: string; created_at: Ts; expires_at: Ts; used_at: Ts | null };

declare module "../../kernel/db.ts" {
  interface Tables {
    first_owner_links: FirstOwnerLinkRow;
  }
}

export async function insertLink(tx: Tx, row: FirstOwnerLinkRow): Promise<void> {
  await tx.insertInto("first_owner_links").values(row).execute();
}

export async function findLink(reader: Reader, sha256: string): Promise<FirstOwnerLinkRow | undefined> {
  return await reader.selectFrom("first_owner_links").selectAll().where("token_sha256", "=", sha256).executeTakeFirst();
}

export async function markUsed(tx: Tx, sha256: string, at: Ts): Promise<void> {
  await tx.updateTable("first_owner_links").set({ used_at: at }).where("token_sha256", "=", sha256).execute();
}

/** The one that was used stays, so that whoever opens it again is told so. */
export async function deleteUnusedLinks(tx: Tx): Promise<void> {
  await tx.deleteFrom("first_owner_links").where("used_at", "is", null).execute();
}
