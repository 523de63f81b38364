import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

/** Programs that the tests call, and the Debian package of each. */
const testPrograms: Readonly<Record<string, string>> = {
  "/usr/bin/chromium": "chromium",
  "/usr/bin/pdfsig": "poppler-utils",
  "/usr/bin/qpdf": "qpdf",
  "/usr/bin/mutool": "mupdf-tools",
  "/usr/bin/certutil": "libnss3-tools",
  "/usr/bin/openssl": "openssl",
  "/usr/bin/softhsm2-util": "softhsm2",
  "/usr/bin/unzip": "unzip",
  "/usr/bin/groff": "groff-base",
  "/usr/bin/rpmbuild": "rpm",
  "/usr/bin/7za": "p7zip-full",
  "/usr/bin/makensis": "nsis",
  "/usr/bin/systemd-analyze": "systemd",
  "/usr/bin/pebble": "pebble",
  "/usr/bin/cc": "gcc libc6-dev",
};

/** Of `npm run test:long`, besides. */
export const longTestPrograms: Readonly<Record<string, string>> = { "/usr/lib/wine/wine64": "wine64" };

/** Of `npm run test:appliance`, besides. */
export const containerPrograms: Readonly<Record<string, string>> = {
  "/usr/bin/mmdebstrap": "mmdebstrap",
  "/usr/bin/systemd-nspawn": "systemd-container",
  "/usr/bin/nsenter": "util-linux",
  "/usr/sbin/ip": "iproute2",
  "/usr/bin/dpkg-deb": "dpkg",
  "/usr/bin/rpmbuild": "rpm",
};

/**
 * Installs what is missing when that is allowed (root on Debian).
 * @throws Error that names the one command to run otherwise
 */
export function ensureSystemPackages(needed: Readonly<Record<string, string>> = testPrograms): void {
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
