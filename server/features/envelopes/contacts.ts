import type { Reader } from "../../kernel/db.ts";
import type { Contact } from "./dashboard-contract.ts";
import { searchText } from "./search.ts";
import { readEnvelopes } from "./store.ts";

/** The address book: the people of earlier envelopes. Nothing is stored for it. */

const mostEnvelopes = 100;
const mostContacts = 10;

/**
 * People whose name or address holds `q`, those of the newest envelopes first; the same address once, with its newest name.
 * Without `q`, those of the last envelopes.
 */
export async function contactsLike(
  reader: Reader,
  { q, ...owner }: { organization: string; testMode: boolean; q: string | undefined },
): Promise<Contact[]> {
  const asked = q?.trim() ? q.trim() : undefined;
  const wanted = asked === undefined ? "" : searchText([asked]);
  const records = await readEnvelopes(reader, { ...owner, q: asked, limit: mostEnvelopes });
  const found = new Map<string, Contact>();
  for (const { recipients, cc } of records) {
    for (const { name, email } of [...recipients, ...cc]) {
      const key = email.toLowerCase();
      if (found.has(key) || !searchText([name, email]).includes(wanted)) continue;
      found.set(key, { name, email });
      if (found.size === mostContacts) return [...found.values()];
    }
  }
  return [...found.values()];
}
