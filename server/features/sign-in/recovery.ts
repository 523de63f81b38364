import type { Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { Person } from "../identity/service.ts";
import { closeCodes } from "./code-store.ts";
import { revokeTokens } from "./token-store.ts";

/** Withdraws every link and code that could still sign this person in or set their password. */
export async function withdrawTokens(
  tx: Tx,
  deps: Pick<Deps, "clock">,
  { email_lower: email }: Pick<Person, "email_lower">,
): Promise<void> {
  const now = deps.clock.ts();
  await revokeTokens(tx, email, now);
  await closeCodes(tx, "sign_in", email, now);
}
