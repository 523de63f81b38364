import type { Ts } from "../../kernel/clock.ts";
import type { Reader, Tx } from "../../kernel/db.ts";

/** Tokens of viewers; only their hashes are kept. The viewers themselves belong to their envelope. */

export type LinkRow = { sha256: string; viewer: string; created_at: Ts };
export type AccessRow = {
  sha256: string;
  viewer: string;
  created_at: Ts;
  /** Slides with the calls. */
  expires_at: Ts;
  /** Never slides. */
  ends_at: Ts;
};

declare module "../../kernel/db.ts" {
  interface Tables {
    viewer_links: LinkRow;
    viewer_accesses: AccessRow;
  }
}

export async function insertLink(tx: Tx, row: LinkRow): Promise<void> {
  await tx.insertInto("viewer_links").values(row).execute();
}

export async function findLink(reader: Reader, sha256: string): Promise<LinkRow | undefined> {
  return await reader.selectFrom("viewer_links").selectAll().where("sha256", "=", sha256).executeTakeFirst();
}

export async function insertAccess(tx: Tx, row: AccessRow): Promise<void> {
  await tx.insertInto("viewer_accesses").values(row).execute();
}

/** With the viewer and the envelope that it opens. */
export async function findAccess(reader: Reader, sha256: string) {
  return await reader
    .selectFrom("viewer_accesses")
    .innerJoin("viewers", "viewers.id", "viewer_accesses.viewer")
    .innerJoin("envelopes", "envelopes.id", "viewers.envelope")
    .select([
      "viewer_accesses.sha256",
      "viewer_accesses.viewer",
      "viewer_accesses.expires_at",
      "viewer_accesses.ends_at",
      "viewers.envelope",
      "viewers.revoked_at",
      "envelopes.organization",
      "envelopes.test_mode",
    ])
    .where("viewer_accesses.sha256", "=", sha256)
    .executeTakeFirst();
}

export async function slideAccess(tx: Tx, sha256: string, expiresAt: Ts): Promise<void> {
  await tx.updateTable("viewer_accesses").set({ expires_at: expiresAt }).where("sha256", "=", sha256).execute();
}

/** Forgets the access tokens of this viewer that have ended. */
export async function deleteEnded(tx: Tx, viewer: string, now: Ts): Promise<void> {
  await tx.deleteFrom("viewer_accesses").where("viewer", "=", viewer).where("expires_at", "<=", now).execute();
}
