import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { Preferences, StoredConnection } from "../shared/native.ts";

const Bounds = z.object({ x: z.int(), y: z.int(), width: z.int().min(1), height: z.int().min(1) });

/** Each part for itself: what a later or an earlier console wrote costs no more than that part. */
const Stored = z.object({
  /** Null: where the appliance of this machine is found by itself. */
  connection: StoredConnection.nullable().catch(null),
  preferences: Preferences.catch({ language: null, colorScheme: "auto", background: false }),
  window: Bounds.extend({ maximized: z.boolean() }).nullable().catch(null),
});
export type Stored = z.infer<typeof Stored>;
export type WindowPlace = NonNullable<Stored["window"]>;

/** What the console keeps between its starts, in one JSON file of the user. */
export function openStore(file: string) {
  let stored = read(file);
  return {
    get: (): Stored => stored,
    /** Written beside and renamed, so that a crash leaves the old or the new file. At once: the process may end now. */
    set(change: Partial<Stored>): void {
      const next = { ...stored, ...change };
      mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
      const handle = openSync(`${file}.tmp`, "w", 0o600);
      try {
        writeSync(handle, `${JSON.stringify(next)}\n`);
        fsyncSync(handle);
      } finally {
        closeSync(handle);
      }
      renameSync(`${file}.tmp`, file);
      stored = next;
    },
  };
}
export type Store = ReturnType<typeof openStore>;

function read(file: string): Stored {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") text = "{}";
    else throw error;
  }
  try {
    const parsed = Stored.safeParse(JSON.parse(text));
    if (parsed.success) return parsed.data;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return Stored.parse({});
}
