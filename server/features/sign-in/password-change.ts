import type { PersonCaller } from "../../kernel/caller.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError, invalid } from "../../kernel/errors.ts";
import {
  checkNewPassword,
  endSessionsOf,
  hashPassword,
  type Person,
  personById,
  presentSession,
  requireFresh,
  requireLiveSession,
  rotateSession,
  sessionCookie,
  verifyPassword,
} from "../identity/service.ts";
import type { SignedIn } from "./begin.ts";
import { counted, passwordChanges } from "./limits.ts";
import { replacePassword } from "./new-password.ts";

/**
 * Sets the first password of an account.
 * @throws AppError `fresh-sign-in-required`, `conflict`, `validation-failed`
 */
export async function setPassword(deps: Deps, caller: PersonCaller, password: string, ip: string): Promise<SignedIn> {
  requireFresh(deps, caller);
  const person = await readPerson(deps, caller);
  if (person.password_hash !== null) throw hasOne();
  return await counted(deps, passwordChanges, person.id, async () => {
    await checkNewPassword(deps, password);
    return await store(deps, caller, null, await hashPassword(password, ip));
  });
}

/** @throws AppError `conflict`, `validation-failed`, `rate-limited` */
export async function changePassword(
  deps: Deps,
  caller: PersonCaller,
  input: { currentPassword: string; password: string },
  ip: string,
): Promise<SignedIn> {
  const { password_hash: current, id } = await readPerson(deps, caller);
  if (current === null) throw new AppError("conflict", { detail: "This account has no password yet: set one first." });
  return await counted(deps, passwordChanges, id, async () => {
    if (!(await verifyPassword(input.currentPassword, current, ip))) {
      throw invalid([{ pointer: "#/currentPassword", code: "conflict", detail: "This is not your current password." }]);
    }
    await checkNewPassword(deps, input.password);
    return await store(deps, caller, current, await hashPassword(input.password, ip));
  });
}

async function readPerson(deps: Deps, caller: PersonCaller): Promise<Person> {
  const person = await personById(deps.db.read, caller.user);
  if (!person) throw new AppError("unauthorized");
  return person;
}

function hasOne(): AppError {
  return new AppError("conflict", { detail: "This account has a password already: change it with the current one." });
}

/** Ends the other sessions and gives this one a new secret. */
async function store(deps: Deps, caller: PersonCaller, before: string | null, hash: string): Promise<SignedIn> {
  return await deps.db.tx(async (tx) => {
    await requireLiveSession(tx, deps, caller);
    const person = await personById(tx, caller.user);
    if (!person || person.password_hash !== before) throw before === null ? hasOne() : new AppError("conflict");
    await replacePassword(tx, deps, person, hash, "password_changed");
    await endSessionsOf(tx, deps, person.id, caller.session);
    const secret = await rotateSession(tx, caller.session);
    return {
      session: await presentSession(tx, deps, caller.session),
      headers: { "set-cookie": sessionCookie(secret) },
    };
  });
}
