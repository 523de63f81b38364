import type { Deps } from "../../kernel/deps.ts";
import { AppError } from "../../kernel/errors.ts";
import { enqueue } from "../../kernel/jobs.ts";
import type { RequestInfo } from "../../kernel/request.ts";
import { personByEmail } from "../identity/service.ts";
import { begin, noteRefusal, type SignedIn } from "./begin.ts";
import { closeCode } from "./code-store.ts";
import { codeLifeMs, issueCode, matchCode, refuseCode } from "./codes.ts";
import { mailSignIn } from "./jobs.ts";
import { requireFewWrongCodes } from "./tries.ts";

/**
 * Makes a code for the address and has it mailed if there is an account. The one before stops working.
 * @throws AppError `rate-limited`, whether or not there is an account
 */
export async function requestSignInCode(
  deps: Deps,
  input: { email: string; locale?: string | undefined },
): Promise<void> {
  await deps.db.tx(async (tx) => {
    const { id, code } = await issueCode(tx, deps, "sign_in", input.email.toLowerCase());
    await enqueue(tx, mailSignIn, {
      cause: id,
      email: input.email,
      locale: input.locale ?? null,
      content: { kind: "sign_in_code", code, minutes: codeLifeMs.sign_in / 60_000 },
    });
  });
}

/**
 * Signs in with a mailed code. Every wrong one is counted before it is answered; an unknown address has codes that nobody got.
 * @throws AppError `otp-invalid`, `otp-expired`, `otp-exhausted`, `rate-limited`
 */
export async function signInWithCode(
  deps: Deps,
  input: { email: string; code: string },
  request: RequestInfo,
): Promise<SignedIn> {
  const email = input.email.toLowerCase();
  // A refusal is returned and thrown outside, since throwing in the transaction would undo the count.
  const outcome = await deps.db.tx(async (tx) => {
    await requireFewWrongCodes(tx, deps, "sign_in", email);
    const matched = await matchCode(tx, deps, "sign_in", email, input.code);
    const person = await personByEmail(tx, email);
    if (!matched.row || !person) return await refuseCode(tx, deps, "sign_in", email, matched);
    await closeCode(tx, matched.row.id, deps.clock.ts());
    return await begin(tx, deps, person.id, "code", request);
  });
  if (!(outcome instanceof AppError)) return outcome;
  noteRefusal(deps, "code", request);
  throw outcome;
}
