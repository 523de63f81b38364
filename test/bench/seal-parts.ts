import { closeSync, openSync, writevSync } from "node:fs";

export const AT = "2026-01-01T00:00:00.000Z";

/** Writes a file from its parts without joining them. */
export function writeParts(to: string, parts: Uint8Array[]): void {
  const file = openSync(to, "w");
  const written = writevSync(file, parts);
  closeSync(file);
  if (written !== parts.reduce((sum, { length }) => sum + length, 0)) throw new Error("a short write");
}
