import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire, registerHooks } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { methodNames } from "../../apps/console/src/shared/ipc.ts";

/** The console's real main bundle, started in this process on the stand-in for Electron. */

const root = path.resolve(import.meta.dirname, "../..");
export const bundles = path.join(root, "dist/console");
const mainBundle = path.join(bundles, "main/index.js");
const standInFile = path.join(import.meta.dirname, "electron-stand-in.ts");

/** Builds the bundles when they are missing or old. Test files run side by side: one builds, the others wait for it. */
export async function buildConsole(): Promise<void> {
  mkdirSync(path.join(root, "dist"), { recursive: true });
  const lock = path.join(root, "dist/.console-lock");
  await promisify(execFile)("flock", [lock, process.execPath, "scripts/build-console.ts"], { cwd: root });
}

// Vitest would transform what it imports: the bundle and the stand-in are loaded by Node itself, so that they meet.
const nodeRequire = createRequire(import.meta.url);
type StandIn = typeof import("./electron-stand-in.ts");

/** Starts the bundle once for this test file. */
export async function startMain(): Promise<StandIn & { stop: () => void }> {
  await buildConsole();
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === "electron"
        ? { url: pathToFileURL(standInFile).href, shortCircuit: true }
        : next(specifier, context),
  });
  const standIn: StandIn = nodeRequire(standInFile);
  const { recorded } = standIn;
  recorded.userData = mkdtempSync(path.join(tmpdir(), "signet-console-"));
  nodeRequire(mainBundle);
  // The bundle goes on when the app is ready, which the stand-in is at once.
  await standIn.app.whenReady();
  await Promise.resolve();
  if (methodNames.some((name) => !recorded.handlers.has(name))) throw new Error("the main bundle did not start");
  return { ...standIn, stop: () => rmSync(recorded.userData, { recursive: true, force: true }) };
}

/** Starts the bundle once more, as a second process would. */
export function startAgain(): void {
  const folder = mkdtempSync(path.join(tmpdir(), "signet-console-again-"));
  const copy = path.join(folder, "index.mjs");
  copyFileSync(mainBundle, copy);
  nodeRequire(copy);
  rmSync(folder, { recursive: true });
}
