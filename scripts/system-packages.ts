import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

/** Where a program lies, and the Debian package that brings it. */
export type Programs = Readonly<Record<string, string>>;

/** Programs that the tests call. `test/architecture/programs.test.ts` finds calls of others. */
export const testPrograms: Programs = {
  "/usr/bin/chromium-headless-shell": "chromium-headless-shell",
  "/usr/bin/pdfsig": "poppler-utils",
  "/usr/bin/pdftotext": "poppler-utils",
  "/usr/bin/pdftoppm": "poppler-utils",
  "/usr/bin/pdfimages": "poppler-utils",
  "/usr/bin/pdfinfo": "poppler-utils",
  "/usr/bin/qpdf": "qpdf",
  "/usr/bin/mutool": "mupdf-tools",
  "/usr/bin/certutil": "libnss3-tools",
  "/usr/bin/openssl": "openssl",
  "/usr/bin/softhsm2-util": "softhsm2",
  "/usr/bin/pkcs11-tool": "opensc",
  "/usr/bin/unzip": "unzip",
  "/usr/bin/xxd": "xxd",
  "/usr/bin/groff": "groff-base",
  "/usr/bin/dpkg-deb": "dpkg",
  "/usr/bin/rpm": "rpm",
  "/usr/bin/rpmbuild": "rpm",
  "/usr/bin/7za": "p7zip-full",
  "/usr/bin/makensis": "nsis",
  "/usr/bin/systemd-analyze": "systemd",
  "/usr/bin/systemd-notify": "systemd",
  "/usr/bin/pebble": "pebble",
  "/usr/bin/cc": "gcc libc6-dev",
  "/usr/bin/php": "php-cli",
  "/usr/bin/python3": "python3",
};

/** Of `npm run test:long`, besides. */
export const longTestPrograms: Programs = {
  "/usr/lib/wine/wine64": "wine64",
  "/usr/lib/wine/wineserver64": "wine64",
  "/usr/bin/strace": "strace",
  "/usr/sbin/ip": "iproute2",
  "/usr/sbin/mkfs.ext4": "e2fsprogs",
  "/usr/sbin/e2fsck": "e2fsprogs",
};

/** Of `npm run test:judges`, besides. */
export const judgePrograms: Programs = {
  "/usr/bin/java": "default-jdk-headless",
  "/usr/bin/mvn": "maven",
  "/usr/share/doc/python3-venv": "python3-venv",
  "/usr/sbin/ip": "iproute2",
  "/usr/bin/gs": "ghostscript",
  "/usr/bin/pdftocairo": "poppler-utils",
  "/usr/bin/pdfunite": "poppler-utils",
  "/usr/bin/soffice": "libreoffice-writer-nogui",
};

/** Of `npm run test:appliance` and `npm run test:fresh`, besides. */
export const containerPrograms: Programs = {
  "/usr/bin/mmdebstrap": "mmdebstrap",
  "/usr/bin/apt-config": "apt",
  "/usr/bin/systemd-nspawn": "systemd-container",
  "/usr/bin/nsenter": "util-linux",
  "/usr/sbin/ip": "iproute2",
  "/usr/bin/dpkg-deb": "dpkg",
  "/usr/bin/rpmbuild": "rpm",
};

export function missingOf(needed: Programs): Programs {
  return Object.fromEntries(Object.entries(needed).filter(([program]) => !existsSync(program)));
}

/** The one command that installs them, for root on Debian. */
export function installCommand(programs: Programs): string {
  const packages = new Set(Object.values(programs).flatMap((names) => names.split(" ")));
  return `apt-get update && apt-get install -y --no-install-recommends ${[...packages].join(" ")}`;
}

/**
 * Installs what is missing when that is allowed (root on Debian).
 * @returns what is missing all the same
 */
export function installMissing(needed: Programs): Programs {
  const missing = missingOf(needed);
  if (Object.keys(missing).length === 0 || !mayInstall()) return missing;
  console.log(`installing ${[...new Set(Object.values(missing))].join(", ")}`);
  try {
    execFileSync("sh", ["-c", installCommand(missing)], {
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    });
  } catch {
    console.error("apt-get could not install them: see above");
  }
  return missingOf(missing);
}

function mayInstall(): boolean {
  const debian = existsSync("/etc/debian_version") && /debian|ubuntu/i.test(readFileSync("/etc/os-release", "utf8"));
  return debian && process.getuid?.() === 0;
}

/**
 * Installs what is missing when that is allowed.
 * @throws Error that names the one command to run otherwise
 */
export function ensureSystemPackages(needed: Programs = testPrograms): void {
  const missing = installMissing(needed);
  if (Object.keys(missing).length === 0) return;
  const packages = [...new Set(Object.values(missing))].join(", ");
  throw new Error(`the tests need ${packages}. Run:\n\n  sudo sh -c '${installCommand(missing)}'\n`);
}
