import { store, stored } from "./storage.ts";

/** Remembers in this browser which member saved a signature, so that signing pages ask for it only where there is one. */

const key = "signet.savedSignature";

export function rememberSavedSignature(email: string | null): void {
  store("local", key, email);
}

export function hasSavedSignature(email: string): boolean {
  return stored("local", key)?.toLowerCase() === email.toLowerCase();
}
