/** Storage of the browser, which a person or their administrator may have forbidden: then nothing is kept. */

type Kind = "local" | "session";
const storageOf = (kind: Kind): Storage => (kind === "local" ? window.localStorage : window.sessionStorage);

export function stored(kind: Kind, key: string): string | null {
  try {
    return storageOf(kind).getItem(key);
  } catch {
    return null;
  }
}

/** Keeps the value, or forgets the key for null. */
export function store(kind: Kind, key: string, value: string | null): void {
  try {
    if (value === null) storageOf(kind).removeItem(key);
    else storageOf(kind).setItem(key, value);
  } catch {
    // The page works without; it only forgets.
  }
}

/** The token of a mailed link, which follows `#` in the address; null for any other fragment, which names a place in the page. */
export function tokenInFragment(prefix: string): string | null {
  const text = fragment();
  return text.startsWith(`${prefix}_`) ? text : null;
}

/** What follows `#`, as it was meant; as it stands when it is not well-formed. */
function fragment(): string {
  const text = window.location.hash.slice(1);
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
