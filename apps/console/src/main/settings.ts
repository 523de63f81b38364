import { mkdir, open, readFile, rename } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { ApplianceUrl } from "../shared/ipc.ts";

const Stored = z.object({ url: ApplianceUrl });

/** Where an appliance listens that was started with its defaults. */
export const defaultUrl = "http://127.0.0.1:8480";

/** The console's own settings, in one JSON file of the user. */
export function openSettings(file: string) {
  return {
    /** The stored address; the default when none is stored or the file cannot be used. */
    async url(): Promise<string> {
      try {
        const stored = Stored.safeParse(JSON.parse(await readFile(file, "utf8")));
        return stored.success ? stored.data.url : defaultUrl;
      } catch (error) {
        if (error instanceof SyntaxError || isMissing(error)) return defaultUrl;
        throw error;
      }
    },
    /** Written beside and renamed, so that a crash leaves the old or the new file. */
    async setUrl(url: string): Promise<void> {
      await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
      const handle = await open(`${file}.tmp`, "w", 0o600);
      try {
        await handle.writeFile(`${JSON.stringify({ url })}\n`);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(`${file}.tmp`, file);
    },
  };
}

export type Settings = ReturnType<typeof openSettings>;

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
