import type { Reader } from "./db.ts";

/**
 * The same read, made once for all who ask the same of one database in one turn of the event loop: an entry wakes every stream of its
 * envelope, and all that have seen as much ask alike. The read begins after the last of them has asked, so nobody is told
 * what was true before.
 */
export function shareReads<Asked extends readonly (string | number)[], T>(
  read: (reader: Reader, ...asked: Asked) => Promise<T>,
): (reader: Reader, ...asked: Asked) => Promise<T> {
  const gathering = new WeakMap<Reader, Map<string, Promise<T>>>();
  return (reader, ...asked) => {
    const ofReader = gathering.get(reader) ?? new Map<string, Promise<T>>();
    gathering.set(reader, ofReader);
    const key = JSON.stringify(asked);
    const known = ofReader.get(key);
    if (known) return known;
    const made = new Promise((resolve) => setImmediate(resolve)).then(() => {
      ofReader.delete(key);
      return read(reader, ...asked);
    });
    ofReader.set(key, made);
    return made;
  };
}
