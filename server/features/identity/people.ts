import type { Reader, Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { newId } from "../../kernel/ids.ts";
import * as store from "./store.ts";

/** People and their accounts, for the features in which they sign in and join organizations. */

export type Person = store.UserRow;

export async function personByEmail(reader: Reader, email: string): Promise<Person | undefined> {
  return await store.findUserByEmail(reader, email);
}

export async function personById(reader: Reader, id: string): Promise<Person | undefined> {
  return await store.findUser(reader, id);
}

/**
 * Makes an account. The caller has proof that the address is the person's.
 * @throws a unique violation when the address has an account
 */
export async function createPerson(
  tx: Tx,
  deps: Pick<Deps, "clock">,
  input: { email: string; name: string; passwordHash: string | null; locale: string | null },
): Promise<string> {
  const id = newId("usr");
  await store.insertUser(tx, {
    id,
    email: input.email,
    email_lower: input.email.toLowerCase(),
    name: input.name,
    password_hash: input.passwordHash,
    locale: input.locale,
    starting_organization: null,
    created_at: deps.clock.ts(),
  });
  return id;
}

export async function changePerson(
  tx: Tx,
  id: string,
  change: Partial<Pick<Person, "name" | "locale" | "password_hash" | "starting_organization">>,
): Promise<void> {
  if (Object.keys(change).length > 0) await store.updateUser(tx, id, change);
}

/** What mails to this person are written in: their choice, else what their page asked for, else their organization's. */
export async function localeOfPerson(
  reader: Reader,
  person: Pick<Person, "id" | "locale">,
  asked?: string | null,
): Promise<string> {
  return person.locale ?? asked ?? (await store.organizationsOf(reader, person.id))[0]?.locale ?? "en";
}
