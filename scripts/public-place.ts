import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "..");

/** The user to whom nothing belongs. */
export const anotherUser = 65_534;

/**
 * Tests that work as another user start our programs as that user.
 * @returns why it could not: null when it can, or when this is not root, who alone can be somebody else
 */
export function hiddenFromOthers(): string | null {
  if (process.getuid?.() !== 0) return null;
  const look =
    'const fs = require("node:fs"); fs.readFileSync(process.argv[1]); fs.accessSync(process.argv[2], fs.constants.W_OK)';
  const args = ["-e", look, path.join(root, "server/main.ts"), tmpdir()];
  const { status } = spawnSync(process.execPath, args, {
    cwd: "/",
    uid: anotherUser,
    gid: anotherUser,
    stdio: "ignore",
  });
  return status === 0 ? null : `user ${anotherUser} may not read ${root} or not write to ${tmpdir()}`;
}

/** Set for the script that runs there already: a mount that did not help once never will. */
const alreadyThere = "SIGNET_IN_PUBLIC_PLACE";

/**
 * Where others may not read this checkout (below root's home, say), starts the script once more with the checkout mounted at a place
 * where they may. The mount is seen by that process and its children alone, and ends with them.
 * @returns its exit code; null when there is no need, the system does not let us mount, or this is that script already
 */
export function runInPublicPlace(script: string, args: readonly string[]): number | null {
  const isThere = process.env[alreadyThere] !== undefined;
  // What is started from here, the service above all, must not find it among its settings.
  delete process.env[alreadyThere];
  if (isThere || hiddenFromOthers() === null) return null;
  const place = mkdtempSync(path.join(tmpdir(), "signet-checkout-"));
  chmodSync(place, 0o755);
  const moved = (file: string) =>
    file.startsWith(root + path.sep) ? path.join(place, path.relative(root, file)) : file;
  const mount = (command: string, ...words: string[]) =>
    spawnSync("unshare", ["--mount", "sh", "-c", `mount --bind "$1" "$2" && ${command}`, "sh", root, place, ...words], {
      stdio: "inherit",
      env: { ...process.env, [alreadyThere]: "1" },
    }).status;
  try {
    if (mount(":") !== 0) return null;
    return mount('cd "$2" && shift 2 && exec "$@"', moved(process.execPath), moved(script), ...args) ?? 1;
  } finally {
    rmdirSync(place);
  }
}
