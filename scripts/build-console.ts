import "../server/node-version.ts";
import { readdirSync, statSync } from "node:fs";
import path from "node:path";

/** `npm run build:console`: the console's three bundles under dist/console, unless they are newer than all they are made of. */

const root = path.resolve(import.meta.dirname, "..");
// Of the server the contracts of its features, from which the methods are derived, and the client of the admin socket.
const sources = [
  "apps/console",
  "apps/shared",
  "locales",
  "server/kernel",
  "server/local-client.ts",
  "server/local-contract.ts",
  ...contracts("server/features"),
  "electron.vite.config.ts",
  "package-lock.json",
];
// The renderer is built last.
const built = statSync(path.join(root, "dist/console/renderer/index.html"), { throwIfNoEntry: false })?.mtimeMs ?? 0;
if (built <= Math.max(...sources.map(newest))) {
  // React chooses by it, and whoever starts this may have set another.
  process.env.NODE_ENV = "production";
  const { build } = await import("electron-vite");
  await build({ root, configFile: path.join(root, "electron.vite.config.ts"), logLevel: "warn" });
}

function contracts(place: string): string[] {
  const names = readdirSync(path.join(root, place), { recursive: true, encoding: "utf8" });
  return names.filter((name) => name.endsWith("contract.ts")).map((name) => path.join(place, name));
}

/** Time of the last change below a path, in milliseconds since the epoch. */
function newest(place: string): number {
  const full = path.join(root, place);
  if (!statSync(full).isDirectory()) return statSync(full).mtimeMs;
  const entries = readdirSync(full, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Math.max(...entries.map((entry) => statSync(path.join(entry.parentPath, entry.name)).mtimeMs));
}
