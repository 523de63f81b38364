import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type Database, type DatabaseOptions, openDatabase } from "../../server/kernel/db.ts";
import { testMigrations } from "./tables.ts";

/** A folder that is removed after the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "signet-test-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A database with the kernel's tables, `notes` and the append-only `log`; closed after the test. */
export async function openTestDatabase(options: Partial<DatabaseOptions> = {}): Promise<Database> {
  const file = options.file ?? join(await temporaryFolder(), "test.db");
  const db = await openDatabase({ migrations: testMigrations, ...options, file });
  onTestFinished(() => db.close());
  return db;
}
