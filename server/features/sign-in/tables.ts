import type { Ts } from "../../kernel/clock.ts";

export type CodePurpose = "sign_in" | "sign_up";
export type CodeRow = {
  id: string;
  purpose: CodePurpose;
  email_lower: string;
  hmac: string;
  created_at: Ts;
  expires_at: Ts;
  /** Wrong codes that were compared with this one. */
  wrong: number;
  /** Used, replaced or withdrawn. */
  closed_at: Ts | null;
};

export type TryPurpose = "password" | CodePurpose;
/** A wrong password or code, or a password that is being compared. */
export type TryRow = { id: string; purpose: TryPurpose; email_lower: string; at: Ts };

export type TokenPurpose = "magic_link" | "password_reset";
export type TokenRow = {
  sha256: string;
  purpose: TokenPurpose;
  email_lower: string;
  /** Where the dashboard goes on to after a magic link. */
  return_to: string | null;
  created_at: Ts;
  expires_at: Ts;
  used_at: Ts | null;
  revoked_at: Ts | null;
};

/** An account that waits for its code. */
export type SignUpRow = {
  /** The code that confirms it. */
  code: string;
  email: string;
  email_lower: string;
  name: string;
  password_hash: string;
  locale: string | null;
  created_at: Ts;
  expires_at: Ts;
  /** Hash of the cookie of the browser that asked. */
  browser_sha256: string | null;
};

declare module "../../kernel/db.ts" {
  interface Tables {
    sign_in_codes: CodeRow;
    sign_in_tokens: TokenRow;
    sign_ups: SignUpRow;
    sign_in_tries: TryRow;
  }
}
