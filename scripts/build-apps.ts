import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { buildVerifier } from "./build-verifier.ts";

const root = path.resolve(import.meta.dirname, "..");
const stamp = path.join(root, "dist/apps/.built");

/** Builds the web pages unless they are newer than everything that they are made of. */
export async function buildApps(): Promise<void> {
  const built = statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (
    built >
    newest(["apps", "locales", "server/features", "server/kernel", "workers/pdf", "workers/seal", "package-lock.json"])
  )
    return;
  console.log("building the pages");
  const started = Date.now();
  const { build } = await import("vite");
  // Whoever builds (a test runner names its own environment): what is served is always the production build.
  const environment = process.env.NODE_ENV;
  process.env.NODE_ENV = "production";
  try {
    await build({ configFile: path.join(root, "apps/vite.config.ts"), logLevel: "warn" });
    // After the other pages: their build empties the folder.
    await buildVerifier();
  } finally {
    if (environment === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = environment;
  }
  mkdirSync(path.dirname(stamp), { recursive: true });
  writeFileSync(stamp, `${new Date(started).toISOString()}\n`);
}

/** Time of the last change below these paths, in milliseconds since the epoch. */
function newest(places: readonly string[]): number {
  let latest = 0;
  for (const place of places) {
    const full = path.join(root, place);
    const names = statSync(full).isDirectory() ? readdirSync(full, { recursive: true, encoding: "utf8" }) : [""];
    for (const name of names) {
      const entry = statSync(path.join(full, name), { throwIfNoEntry: false });
      if (entry?.isFile()) latest = Math.max(latest, entry.mtimeMs);
    }
  }
  return latest;
}

if (import.meta.main) await buildApps();
