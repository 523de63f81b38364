import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

/** Programs that the tests call, and the Debian package of each. */
const needed: Record<string, string> = {
  "/usr/bin/chromium": "chromium",
  "/usr/bin/pdfsig": "poppler-utils",
  "/usr/bin/qpdf": "qpdf",
  "/usr/bin/mutool": "mupdf-tools",
  "/usr/bin/certutil": "libnss3-tools",
  "/usr/bin/openssl": "openssl",
};

/**
 * Installs what is missing when that is allowed (root on Debian).
 * @throws Error that names the one command to run otherwise
 */
export function ensureSystemPackages(): void {
  const missing = Object.entries(needed)
    .filter(([program]) => !existsSync(program))
    .map(([, name]) => name);
  if (missing.length === 0) return;
  const debian = existsSync("/etc/debian_version") && /debian|ubuntu/i.test(readFileSync("/etc/os-release", "utf8"));
  const command = `apt-get update && apt-get install -y --no-install-recommends ${missing.join(" ")}`;
  if (!debian || process.getuid?.() !== 0)
    throw new Error(`the tests need ${missing.join(", ")}. Run:\n\n  sudo sh -c '${command}'\n`);
  console.log(`installing ${missing.join(", ")}`);
  execFileSync("sh", ["-c", command], {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  });
}
