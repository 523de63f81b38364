import { z } from "zod";
import { store, stored } from "../../../../shared/storage.ts";

/**
 * What this browser keeps of a session that a mailed link opened, so that the same link opens it again without another code.
 * It is encrypted under a key that only the link yields: a different link, or nobody's, finds nothing that it can read.
 */

/** Whom this person passed the signing on to. */
export const Passed = z.object({ name: z.string(), email: z.string(), title: z.string(), organization: z.string() });
export type Passed = z.infer<typeof Passed>;

const Kept = z.object({
  /** null once the signing was passed on: what it was good for has ended. */
  access: z.string().nullable(),
  locale: z.string().nullable(),
  passed: Passed.nullable(),
});
type Kept = z.infer<typeof Kept>;

/** Where a link's session is kept, and the key to it (base64); neither yields the link. */
export const Place = z.object({ id: z.string(), key: z.string() });
export type Place = z.infer<typeof Place>;

const prefix = "signet.sign.kept.";
const Sealed = z.object({ until: z.number(), iv: z.string(), data: z.string() });

/** null where the browser offers no cryptography: on pages that are not served securely. */
export async function placeOf(link: string): Promise<Place | null> {
  if (!("crypto" in globalThis) || globalThis.crypto.subtle === undefined) return null;
  const { subtle } = globalThis.crypto;
  const text = new TextEncoder();
  const secret = await subtle.importKey("raw", text.encode(link), "HKDF", false, ["deriveBits"]);
  const derived = await subtle.deriveBits(
    { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info: text.encode("signet.sign.kept") },
    secret,
    384,
  );
  const id = Array.from(new Uint8Array(derived, 0, 16), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return { id, key: toBase64(new Uint8Array(derived, 16)) };
}

/** @param lifeMs how long it may be of use */
export async function keep({ id, key }: Place, kept: Kept, lifeMs: number): Promise<void> {
  const iv = crypto.getRandomValues(new Uint8Array(12));
  const text = new TextEncoder().encode(JSON.stringify(kept));
  const data = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, await cipherKey(key), text);
  const sealed = { until: Date.now() + lifeMs, iv: toBase64(iv), data: toBase64(new Uint8Array(data)) };
  store("local", prefix + id, JSON.stringify(sealed));
}

export async function findKept({ id, key }: Place): Promise<Kept | null> {
  const sealed = sealedIn(stored("local", prefix + id));
  if (sealed === null || sealed.until <= Date.now()) return null;
  try {
    const { iv, data } = sealed;
    const cipher = await cipherKey(key);
    const text = await crypto.subtle.decrypt({ name: "AES-GCM", iv: fromBase64(iv) }, cipher, fromBase64(data));
    return Kept.parse(JSON.parse(new TextDecoder().decode(text)));
  } catch {
    // Not ours any more: the session is opened anew.
    return null;
  }
}

/** Forgets what is kept of a session, unless another one has taken its place. @param access token of the session */
export async function forgetKept(place: Place, access: string): Promise<void> {
  const name = prefix + place.id;
  const before = stored("local", name);
  const kept = await findKept(place);
  // Another tab may have written meanwhile.
  if (kept?.access === access && stored("local", name) === before) store("local", name, null);
}

/** Forgets what can be of no use any more, of all links. */
export function forgetOld(): void {
  for (const key of keysOf(prefix)) {
    const sealed = sealedIn(stored("local", key));
    if (sealed === null || sealed.until <= Date.now()) store("local", key, null);
  }
}

function keysOf(start: string): string[] {
  try {
    return Object.keys(window.localStorage).filter((key) => key.startsWith(start));
  } catch {
    return [];
  }
}

function sealedIn(text: string | null): z.infer<typeof Sealed> | null {
  try {
    return text === null ? null : (Sealed.safeParse(JSON.parse(text)).data ?? null);
  } catch {
    return null;
  }
}

const cipherKey = (key: string) =>
  crypto.subtle.importKey("raw", fromBase64(key), "AES-GCM", false, ["encrypt", "decrypt"]);

const toBase64 = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes));
const fromBase64 = (text: string) => Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
