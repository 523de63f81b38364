import type { Place } from "../../kernel/cursor.ts";
import type { Reader } from "../../kernel/db.ts";
import type { Contact } from "./dashboard-contract.ts";
import { searchText } from "./search.ts";
import { readEnvelopes } from "./store.ts";

/** The address book: the people of earlier envelopes. Nothing is stored for it; who only got a copy is found while little is asked for. */

/** So many envelopes are looked through, a page at a time. */
const [pageSize, mostPages] = [100, 10];
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
  const found = new Map<string, Contact>();
  let after: Place | undefined;
  for (let page = 0; page < mostPages; page += 1) {
    // Titles hold what was asked for as well as people.
    const records = await readEnvelopes(reader, { ...owner, q: asked, limit: pageSize, after });
    for (const { recipients, cc } of records) {
      for (const { name, email } of [...recipients, ...cc]) {
        const key = email.toLowerCase();
        if (found.has(key) || !searchText([name, email]).includes(wanted)) continue;
        found.set(key, { name, email });
        if (found.size === mostContacts) return [...found.values()];
      }
    }
    const last = records.at(-1)?.envelope;
    if (records.length <= pageSize || !last) break;
    after = { t: last.created_at, id: last.id };
  }
  return [...found.values()];
}
