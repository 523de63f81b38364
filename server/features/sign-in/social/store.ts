import type { Ts } from "../../../kernel/clock.ts";
import type { Reader, Tx } from "../../../kernel/db.ts";
import type { SocialProvider } from "./contract.ts";

export type SocialIdentityRow = {
  provider: SocialProvider;
  issuer: string;
  subject: string;
  user: string;
  /** As the provider last told it, for people to recognize the account; nothing is decided by it. */
  email: string | null;
  created_at: Ts;
  last_used_at: Ts | null;
};
export type SocialStateRow = {
  state_sha256: string;
  /** Of the cookie of the browser that began. */
  browser_sha256: string;
  provider: SocialProvider;
  /** Sealed JSON of the code verifier and the nonce. */
  secrets: string;
  return_to: string | null;
  /** Whom the account is to be connected to; null for a sign-in. */
  user: string | null;
  expires_at: Ts;
};

declare module "../../../kernel/db.ts" {
  interface Tables {
    social_identities: SocialIdentityRow;
    social_states: SocialStateRow;
  }
}

/** Stores what the way to a provider must remember, and forgets what has expired. */
export async function insertState(tx: Tx, row: SocialStateRow, now: Ts): Promise<void> {
  await tx.deleteFrom("social_states").where("expires_at", "<=", now).execute();
  await tx.insertInto("social_states").values(row).execute();
}

/** Takes a state away, so that it serves once. */
export async function takeState(tx: Tx, sha256: string): Promise<SocialStateRow | undefined> {
  return await tx.deleteFrom("social_states").where("state_sha256", "=", sha256).returningAll().executeTakeFirst();
}

type IdentityKey = Pick<SocialIdentityRow, "provider" | "issuer" | "subject">;

export async function findIdentity(reader: Reader, key: IdentityKey): Promise<SocialIdentityRow | undefined> {
  return await reader
    .selectFrom("social_identities")
    .selectAll()
    .where("provider", "=", key.provider)
    .where("issuer", "=", key.issuer)
    .where("subject", "=", key.subject)
    .executeTakeFirst();
}

export async function insertIdentity(tx: Tx, row: SocialIdentityRow): Promise<void> {
  await tx.insertInto("social_identities").values(row).execute();
}

export async function touchIdentity(tx: Tx, key: IdentityKey, use: { email: string | null; at: Ts }): Promise<void> {
  await tx
    .updateTable("social_identities")
    .set({ last_used_at: use.at, ...(use.email === null ? {} : { email: use.email }) })
    .where("provider", "=", key.provider)
    .where("issuer", "=", key.issuer)
    .where("subject", "=", key.subject)
    .execute();
}

/** Oldest first. */
export async function identitiesOf(reader: Reader, user: string): Promise<SocialIdentityRow[]> {
  return await reader
    .selectFrom("social_identities")
    .selectAll()
    .where("user", "=", user)
    .orderBy("created_at")
    .orderBy("subject")
    .execute();
}

/** Disconnects every account of that provider. @returns whether there was one */
export async function deleteIdentities(tx: Tx, user: string, provider: SocialProvider): Promise<boolean> {
  const done = await tx
    .deleteFrom("social_identities")
    .where("user", "=", user)
    .where("provider", "=", provider)
    .executeTakeFirst();
  return done.numDeletedRows > 0n;
}
