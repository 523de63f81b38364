import type { Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { newId } from "../../kernel/ids.ts";
import { changePerson, type Person } from "../identity/service.ts";
import { closeCodes } from "./code-store.ts";
import { queueSecurityNotice } from "./security-notice.ts";
import { revokeTokens } from "./token-store.ts";

/** Stores the new password; links and codes of before stop working and the person hears of it. */
export async function replacePassword(
  tx: Tx,
  deps: Deps,
  person: Person,
  hash: string,
  notice: "password_changed" | "password_reset",
): Promise<void> {
  await changePerson(tx, person.id, { password_hash: hash });
  await revokeTokens(tx, person.email_lower, deps.clock.ts());
  await closeCodes(tx, "sign_in", person.email_lower, deps.clock.ts());
  await queueSecurityNotice(tx, deps, person.id, notice, newId("msg"));
}
