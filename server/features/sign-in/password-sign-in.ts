import type { Deps } from "../../kernel/deps.ts";
import { AppError } from "../../kernel/errors.ts";
import type { RequestInfo } from "../../kernel/request.ts";
import { changePerson, hashPassword, isOutdated, NoTurn, personByEmail, verifyPassword } from "../identity/service.ts";
import { begin, noteRefusal, type SignedIn } from "./begin.ts";
import { beginPasswordTry, forgetTry } from "./tries.ts";

/**
 * Signs in with address and password. Wrong password, unknown address and account without a password are one answer, each
 * after the work of one hash.
 * @throws AppError `unauthorized`, `rate-limited`, `service-unavailable`
 */
export async function signInWithPassword(
  deps: Deps,
  input: { email: string; password: string },
  request: RequestInfo,
): Promise<SignedIn> {
  const email = input.email.toLowerCase();
  const tried = await deps.db.tx((tx) => beginPasswordTry(tx, deps, email));
  try {
    return await compare(deps, input, tried, request);
  } catch (error) {
    // What came to no turn was not compared.
    if (error instanceof NoTurn) await deps.db.tx((tx) => forgetTry(tx, tried));
    throw error;
  }
}

async function compare(
  deps: Deps,
  input: { email: string; password: string },
  tried: string,
  request: RequestInfo,
): Promise<SignedIn> {
  const person = await personByEmail(deps.db.read, input.email);
  const hash = person?.password_hash ?? null;
  const good = await verifyPassword(input.password, hash, request.ip);
  if (!good || !person || hash === null) throw refused(deps, request);
  const better = isOutdated(hash) ? await rehash(input.password, request.ip) : null;
  return await deps.db.tx(async (tx) => {
    const now = await personByEmail(tx, input.email);
    // The password may have been changed while it was compared.
    if (now?.password_hash !== hash) throw refused(deps, request);
    await forgetTry(tx, tried);
    if (better !== null) await changePerson(tx, person.id, { password_hash: better });
    return await begin(tx, deps, person.id, "password", request);
  });
}

/** The next sign-in may do it as well. */
async function rehash(password: string, ip: string): Promise<string | null> {
  try {
    return await hashPassword(password, ip);
  } catch (error) {
    if (error instanceof NoTurn) return null;
    throw error;
  }
}

function refused(deps: Deps, request: RequestInfo): AppError {
  noteRefusal(deps, "password", request);
  return new AppError("unauthorized", { detail: "The e-mail address or the password is wrong." });
}
