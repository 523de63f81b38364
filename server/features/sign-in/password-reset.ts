import type { Deps } from "../../kernel/deps.ts";
import { AppError } from "../../kernel/errors.ts";
import { enqueue } from "../../kernel/jobs.ts";
import { checkNewPassword, endSessionsOf, hashPassword, personByEmail } from "../identity/service.ts";
import { mailSignIn } from "./jobs.ts";
import { resets, take } from "./limits.ts";
import { replacePassword } from "./new-password.ts";
import { consumeToken, issueToken, readToken, tokenLifeMs } from "./tokens.ts";

/**
 * Makes a reset link for the address and has it mailed if there is an account.
 * @throws AppError `rate-limited`, whether or not there is an account
 */
export async function forgotPassword(deps: Deps, input: { email: string; locale?: string | undefined }): Promise<void> {
  const email = input.email.toLowerCase();
  await take(deps, resets, email);
  await deps.db.tx(async (tx) => {
    const { id, link } = await issueToken(tx, deps, "password_reset", email, null);
    await enqueue(tx, mailSignIn, {
      cause: id,
      email: input.email,
      locale: input.locale ?? null,
      content: { kind: "password_reset", link, minutes: tokenLifeMs.password_reset / 60_000 },
    });
  });
}

/**
 * Replaces the password by the token of a reset link and signs the person out everywhere.
 * @throws AppError `token-invalid`, `token-expired`, `token-used`, `validation-failed`
 */
export async function resetPassword(deps: Deps, input: { token: string; password: string }, ip: string): Promise<void> {
  // Whoever has no token does not get the appliance to hash anything.
  await readToken(deps.db.read, deps, "password_reset", input.token);
  await checkNewPassword(deps, input.password);
  const hash = await hashPassword(input.password, ip);
  await deps.db.tx(async (tx) => {
    const row = await consumeToken(tx, deps, "password_reset", input.token);
    const person = await personByEmail(tx, row.email_lower);
    if (!person) throw new AppError("token-invalid");
    await replacePassword(tx, deps, person, hash, "password_reset");
    await endSessionsOf(tx, deps, person.id);
  });
}
