/** What the disk, or what lies on it, does to whoever wants to store or read something. */
type StorageFault = "full" | "read-only" | "damaged";

const faults: Readonly<Record<string, StorageFault>> = {
  ENOSPC: "full",
  EDQUOT: "full",
  SQLITE_FULL: "full",
  EROFS: "read-only",
  SQLITE_READONLY: "read-only",
  SQLITE_CORRUPT: "damaged",
  SQLITE_NOTADB: "damaged",
};

const deepest = 5;

/** Finds a fault of the disk in an error or in what caused it; null when it is about something else. */
export function storageFault(error: unknown): StorageFault | null {
  let current = error;
  for (let depth = 0; depth < deepest && current instanceof Error; depth += 1) {
    const fault = "code" in current && typeof current.code === "string" ? faults[current.code] : undefined;
    if (fault !== undefined) return fault;
    current = current.cause;
  }
  return null;
}
