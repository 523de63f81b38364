import path from "node:path";

/**
 * Copies of the whole database that an update keeps in the data folder. Each may come back, and names files of the store.
 * - `before`: as it was when the update that is under way began
 * - `kept`: as it was before the last one that went through
 */
export const snapshotNames = ["before", "kept"] as const;
export type SnapshotName = (typeof snapshotNames)[number];

export const snapshotFile = (dataDir: string, name: SnapshotName): string => path.join(dataDir, "update", `${name}.db`);
