import { toTs } from "../../kernel/clock.ts";
import type { Reader, Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError } from "../../kernel/errors.ts";
import { checksumOk, hashSecret, newSecret } from "../../kernel/ids.ts";
import type { TokenPurpose, TokenRow } from "./tables.ts";
import * as store from "./token-store.ts";

/** Links that sign in or reset a password: 256 random bits, of which the database knows the hash (contract §13). */

const minuteMs = 60_000;
export const tokenLifeMs: Record<TokenPurpose, number> = { magic_link: 10 * minuteMs, password_reset: 60 * minuteMs };
const prefixes = { magic_link: "svcm", password_reset: "svcr" } as const;
const paths: Record<TokenPurpose, string> = { magic_link: "/magic", password_reset: "/password/reset" };

/** Makes a token for an address, known or not. @returns the link; the token is in its fragment, which no server's log sees */
export async function issueToken(
  tx: Tx,
  deps: Pick<Deps, "clock" | "config">,
  purpose: TokenPurpose,
  email: string,
  returnTo: string | null,
): Promise<{ link: string; id: string }> {
  const now = deps.clock.now();
  const token = newSecret(prefixes[purpose]);
  const sha256 = hashSecret(token);
  await store.insertToken(tx, {
    sha256,
    purpose,
    email_lower: email,
    return_to: returnTo,
    created_at: toTs(now),
    expires_at: toTs(now + tokenLifeMs[purpose]),
    used_at: null,
    revoked_at: null,
  });
  return { link: `${deps.config.appUrl}${paths[purpose]}#${token}`, id: sha256 };
}

/**
 * The token as it may be used now.
 * @throws AppError `token-invalid`, `token-expired`, `token-used`
 */
export async function readToken(
  reader: Reader,
  deps: Pick<Deps, "clock">,
  purpose: TokenPurpose,
  token: string,
): Promise<TokenRow> {
  if (!token.startsWith(`${prefixes[purpose]}_`) || !checksumOk(token)) throw new AppError("token-invalid");
  const row = await store.findToken(reader, purpose, hashSecret(token));
  if (!row || row.revoked_at !== null) throw new AppError("token-invalid");
  if (row.used_at !== null) throw new AppError("token-used");
  if (row.expires_at <= deps.clock.ts()) throw new AppError("token-expired");
  return row;
}

/** Uses it up. @throws what `readToken` throws */
export async function consumeToken(
  tx: Tx,
  deps: Pick<Deps, "clock">,
  purpose: TokenPurpose,
  token: string,
): Promise<TokenRow> {
  const row = await readToken(tx, deps, purpose, token);
  if (!(await store.useToken(tx, row.sha256, deps.clock.ts()))) throw new AppError("token-used");
  return row;
}
