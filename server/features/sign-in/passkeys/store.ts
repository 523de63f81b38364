import type { Ts } from "../../../kernel/clock.ts";
import type { Reader, Tx } from "../../../kernel/db.ts";

export type PasskeyRow = {
  id: string;
  user: string;
  /** base64url, as the authenticator chose it. */
  credential_id: string;
  /** base64url of the COSE key. */
  public_key: string;
  /** Signatures that the authenticator says it made; 0 for those that do not count. */
  counter: number;
  /** JSON array of how the authenticator is reached. */
  transports: string;
  backed_up: number;
  name: string;
  created_at: Ts;
  last_used_at: Ts | null;
};
export type ChallengePurpose = "sign_in" | "register";
export type ChallengeRow = {
  id: string;
  purpose: ChallengePurpose;
  /** Who registers; null for a sign-in, where nobody is known yet. */
  user: string | null;
  challenge_sha256: string;
  expires_at: Ts;
};

declare module "../../../kernel/db.ts" {
  interface Tables {
    passkeys: PasskeyRow;
    passkey_challenges: ChallengeRow;
  }
}

/** Stores a challenge, and forgets those that have expired. */
export async function insertChallenge(tx: Tx, row: ChallengeRow, now: Ts): Promise<void> {
  await tx.deleteFrom("passkey_challenges").where("expires_at", "<=", now).execute();
  await tx.insertInto("passkey_challenges").values(row).execute();
}

/** Takes a challenge away, so that it serves once. @returns it when it was still good */
export async function takeChallenge(
  tx: Tx,
  wanted: { id: string; purpose: ChallengePurpose; user: string | null; now: Ts },
): Promise<ChallengeRow | undefined> {
  const row = await tx
    .deleteFrom("passkey_challenges")
    .where("id", "=", wanted.id)
    .where("purpose", "=", wanted.purpose)
    .where("user", "is", wanted.user)
    .returningAll()
    .executeTakeFirst();
  return row && row.expires_at > wanted.now ? row : undefined;
}

export async function insertPasskey(tx: Tx, row: PasskeyRow): Promise<void> {
  await tx.insertInto("passkeys").values(row).execute();
}

export async function findByCredential(reader: Reader, credential: string): Promise<PasskeyRow | undefined> {
  return await reader.selectFrom("passkeys").selectAll().where("credential_id", "=", credential).executeTakeFirst();
}

/** Newest first. */
export async function passkeysOf(reader: Reader, user: string): Promise<PasskeyRow[]> {
  return await reader
    .selectFrom("passkeys")
    .selectAll()
    .where("user", "=", user)
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .execute();
}

/**
 * Notes a use, if no other has gone further meanwhile.
 * @returns whether the passkey is still there and its counter where it was seen
 */
export async function noteUse(
  tx: Tx,
  seen: Pick<PasskeyRow, "id" | "counter">,
  use: { counter: number; backedUp: boolean; at: Ts },
): Promise<boolean> {
  const done = await tx
    .updateTable("passkeys")
    .set({ counter: use.counter, backed_up: use.backedUp ? 1 : 0, last_used_at: use.at })
    .where("id", "=", seen.id)
    .where("counter", "=", seen.counter)
    .executeTakeFirst();
  return done.numUpdatedRows > 0n;
}

export async function renamePasskey(tx: Tx, user: string, id: string, name: string): Promise<PasskeyRow | undefined> {
  return await tx
    .updateTable("passkeys")
    .set({ name })
    .where("id", "=", id)
    .where("user", "=", user)
    .returningAll()
    .executeTakeFirst();
}

/** @returns whether the person had it */
export async function deletePasskey(tx: Tx, user: string, id: string): Promise<boolean> {
  const done = await tx.deleteFrom("passkeys").where("id", "=", id).where("user", "=", user).executeTakeFirst();
  return done.numDeletedRows > 0n;
}
