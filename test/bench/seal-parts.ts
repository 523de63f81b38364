import { closeSync, openSync, writevSync } from "node:fs";

/** Behind the beginning of the certificates that are about to be made. */
export const AT = new Date(Date.now() + 60_000).toISOString();

/** Writes a file from its parts without joining them. */
export function writeParts(to: string, parts: Uint8Array[]): void {
  const file = openSync(to, "w");
  const written = writevSync(file, parts);
  closeSync(file);
  if (written !== parts.reduce((sum, { length }) => sum + length, 0)) throw new Error("a short write");
}
