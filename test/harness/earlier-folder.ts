import { chmodSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { z } from "zod";
import { startAppliance, type TestAppliance } from "./appliance.ts";
import { movableClock } from "./clock.ts";

/** Data folders that earlier versions left in the middle of their work (`make-folder-fixtures.ts`), taken over by this one. */

const root = path.resolve(import.meta.dirname, "../fixtures/folders");
export const earlierFolders: readonly string[] = readdirSync(root);

const Texts = z.record(z.string(), z.string());
const About = z.object({
  /** When it was left. */
  at: z.string(),
  /** Where it was reached: mails that wait lead there. */
  baseUrl: z.string(),
  owner: z.object({ email: z.string() }),
  keys: z.object({ live: z.string(), test: z.string() }),
  /** Ids by what they stand for. */
  envelopes: Texts,
  /** Access tokens of the people whose turn it is. */
  bearers: Texts,
  /** The file that was added to `opened`. */
  attachment: z.string(),
  consentText: z.string(),
});

export type EarlierFolder = {
  app: TestAppliance;
  about: z.infer<typeof About>;
  clock: ReturnType<typeof movableClock>;
  /** For files of the test; the data is in `data` below it. */
  temporary: string;
  close(): Promise<void>;
};

/**
 * Starts the appliance on a copy, a minute after it was left, and does what was queued.
 * @param moved it is reached at an address of its own now, where a browser finds it; mails that waited lead nowhere
 */
export async function takeOver(commit: string, moved = false): Promise<EarlierFolder> {
  const about = About.parse(JSON.parse(readFileSync(path.join(root, commit, "about.json"), "utf8")));
  const temporary = mkdtempSync(path.join(tmpdir(), "signet-earlier-"));
  const folder = path.join(temporary, "data");
  cpSync(path.join(root, commit, "folder"), folder, { recursive: true });
  // Git keeps no such mode.
  chmodSync(path.join(folder, "master.key"), 0o600);
  const clock = movableClock(about.at);
  clock.advance(60_000);
  const env: Record<string, string> = moved ? {} : { SIGNET_BASE_URL: about.baseUrl };
  const app = await startAppliance({ folder, clock, env, owner: "third@example.com" });
  Object.assign(app.keys, about.keys);
  const direct = globalThis.fetch;
  const here = `http://127.0.0.1:${app.deps.config.port}`;
  globalThis.fetch = (to, init) => direct(`${to}`.replace(about.baseUrl, here), init);
  await app.jobs.idle().catch((error: unknown) => {
    globalThis.fetch = direct;
    throw error;
  });
  return {
    app,
    about,
    clock,
    temporary,
    async close() {
      globalThis.fetch = direct;
      await app.stop();
      rmSync(temporary, { recursive: true, force: true });
    },
  };
}
