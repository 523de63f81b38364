import type { Deps } from "../../kernel/deps.ts";
import { AppError } from "../../kernel/errors.ts";
import { enqueue } from "../../kernel/jobs.ts";
import type { RequestInfo } from "../../kernel/request.ts";
import { maskEmail } from "../../kernel/wire.ts";
import { currentPerson, personByEmail } from "../identity/service.ts";
import { begin, noteRefusal, type SignedIn } from "./begin.ts";
import { mailSignIn } from "./jobs.ts";
import { magicLinks, take } from "./limits.ts";
import { consumeToken, issueToken, readToken, tokenLifeMs } from "./tokens.ts";

/**
 * Makes a link for the address and has it mailed if there is an account.
 * @throws AppError `rate-limited`, whether or not there is an account
 */
export async function requestMagicLink(
  deps: Deps,
  input: { email: string; locale?: string | undefined; returnTo?: string | undefined },
): Promise<void> {
  const email = input.email.toLowerCase();
  await take(deps, magicLinks, email);
  await deps.db.tx(async (tx) => {
    const { id, link } = await issueToken(tx, deps, "magic_link", email, input.returnTo ?? null);
    await enqueue(tx, mailSignIn, {
      cause: id,
      email: input.email,
      locale: input.locale ?? null,
      content: { kind: "magic_link", link, minutes: tokenLifeMs.magic_link / 60_000 },
    });
  });
}

/**
 * Whose account the link opens, before it does. Uses nothing up.
 * @throws AppError `token-invalid`, `token-expired`, `token-used`
 */
export async function lookAtMagicLink(
  deps: Deps,
  token: string,
  request: RequestInfo,
): Promise<{ email: string; replacesSession: boolean }> {
  const row = await readToken(deps.db.read, deps, "magic_link", token);
  const person = await personByEmail(deps.db.read, row.email_lower);
  if (!person) throw new AppError("token-invalid");
  const here = await currentPerson(deps, request);
  return { email: maskEmail(person.email), replacesSession: here !== null && here.user !== person.id };
}

/** @throws AppError `token-invalid`, `token-expired`, `token-used` */
export async function signInWithMagicLink(
  deps: Deps,
  token: string,
  request: RequestInfo,
): Promise<SignedIn & { returnTo: string | null }> {
  try {
    return await deps.db.tx(async (tx) => {
      const row = await consumeToken(tx, deps, "magic_link", token);
      const person = await personByEmail(tx, row.email_lower);
      if (!person) throw new AppError("token-invalid");
      return { ...(await begin(tx, deps, person.id, "magic_link", request)), returnTo: row.return_to };
    });
  } catch (error) {
    if (error instanceof AppError) noteRefusal(deps, "magic_link", request);
    throw error;
  }
}
