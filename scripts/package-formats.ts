import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { root } from "./package-modules.ts";
import { below, date, type Release, sha256, writeMode } from "./package-tree.ts";

/** Packages of one release. Every one holds the same files; only what puts them in place differs. */

export const formats = ["deb", "rpm", "tar.gz"] as const;
export type Format = (typeof formats)[number];

const linux = path.join(root, "installer/linux");
const isX64 = process.arch === "x64";
const debian = isX64 ? "amd64" : "arm64";
const redHat = isX64 ? "x86_64" : "aarch64";

/** Files besides the release: where they come from, where they go, their mode. */
const fixed: readonly (readonly [string, string, number])[] = [
  ["signet", "usr/bin/signet", 0o755],
  ["deploy", "usr/lib/signet/deploy", 0o755],
  ["signet.service", "usr/lib/systemd/system/signet.service", 0o644],
  ["sysusers.conf", "usr/lib/sysusers.d/signet.conf", 0o644],
  ["tmpfiles.conf", "usr/lib/tmpfiles.d/signet.conf", 0o644],
  ["signet.env", "etc/signet/signet.env", 0o640],
];

/** What the release itself prints, and where shells and `man` look for it: zsh elsewhere on Debian than on Red Hat. */
const printed: readonly (readonly [readonly string[], readonly string[]])[] = [
  [["man"], ["usr/share/man/man1/signet.1"]],
  [["completion", "bash"], ["usr/share/bash-completion/completions/signet"]],
  [
    ["completion", "zsh"],
    ["usr/share/zsh/vendor-completions/_signet", "usr/share/zsh/site-functions/_signet"],
  ],
  [["completion", "fish"], ["usr/share/fish/vendor_completions.d/signet.fish"]],
];

/** Fills a folder with everything as it will lie on the machine. */
export function writePayload(release: Release, payload: string): void {
  rmSync(payload, { recursive: true, force: true });
  for (const name of below(release.folder)) {
    const target = path.join(payload, "usr/lib/signet/release", name);
    mkdirSync(path.dirname(target), { recursive: true });
    linkSync(path.join(release.folder, name), target);
  }
  for (const [from, to, mode] of fixed) place(path.join(linux, from), path.join(payload, to), mode);
  for (const [args, places] of printed) {
    const text = printedBy(release, args);
    for (const to of places) {
      mkdirSync(path.dirname(path.join(payload, to)), { recursive: true });
      writeMode(path.join(payload, to), text, 0o644);
    }
  }
  execFileSync("gzip", ["-n9", path.join(payload, "usr/share/man/man1/signet.1")]);
  const docs = path.join(payload, "usr/share/doc/signet-server");
  mkdirSync(docs, { recursive: true });
  cpSync(path.join(linux, "examples"), path.join(docs, "examples"), { recursive: true });
  place(path.join(root, "installer/README.md"), path.join(docs, "README.md"), 0o644);
  const copyright =
    "Signet is proprietary. What it contains of others: THIRD-PARTY-LICENCES.txt in /usr/lib/signet/release.\n";
  writeMode(path.join(docs, "copyright"), copyright, 0o644);
  for (const name of below(path.join(docs, "examples"))) chmodSync(path.join(docs, "examples", name), 0o644);
  date(payload, release.epoch);
}

function place(from: string, to: string, mode: number): void {
  mkdirSync(path.dirname(to), { recursive: true });
  copyFileSync(from, to);
  chmodSync(to, mode);
}

/** By the program that is packed, so that the page names its version and the completion its commands. */
function printedBy(release: Release, args: readonly string[]): string {
  const node = path.join(release.folder, "bin/node");
  const main = path.join(release.folder, "server/main.ts");
  // No cache of compiled code may be left in the release, and no setting of here counts.
  const env = { PATH: process.env.PATH, NODE_DISABLE_COMPILE_CACHE: "1" };
  return execFileSync(node, [main, ...args], { env, cwd: release.folder, encoding: "utf8" });
}

/** @returns the file made @throws Error when the tool for it is missing */
export function writeFormat(
  format: Format,
  release: Release,
  payload: string,
  out: string,
  { fast = false }: { /** A package that is made soon and is large, for tests. */ fast?: boolean } = {},
): string {
  if (format === "deb") return writeDeb(release, payload, out, fast ? "1" : "12");
  if (format === "rpm") return writeRpm(release, payload, out, fast ? "1" : "9");
  return writeTar(release, payload, out, fast ? "1" : "6");
}

function filled(name: string, values: Readonly<Record<string, string>>): string {
  return readFileSync(path.join(linux, name), "utf8").replaceAll(
    /@([A-Z]+)@/g,
    (all, key: string) => values[key] ?? all,
  );
}

function writeDeb({ version, epoch }: Release, payload: string, out: string, level: string): string {
  const control = path.join(payload, "DEBIAN");
  rmSync(control, { recursive: true, force: true });
  const names = below(payload);
  const bytes = names.reduce((sum, name) => sum + statSync(path.join(payload, name)).size, 0);
  const values = {
    VERSION: version.replace("-", "~"),
    ARCHITECTURE: debian,
    SIZE: String(Math.ceil(bytes / 1024)),
    GLIBC: glibc(),
  };
  mkdirSync(control);
  writeMode(path.join(control, "control"), filled("debian/control", values), 0o644);
  for (const script of ["preinst", "postinst", "prerm", "postrm"])
    writeMode(path.join(control, script), filled(`debian/${script}`, { VERSION: version }), 0o755);
  writeMode(path.join(control, "conffiles"), "/etc/signet/signet.env\n", 0o644);
  const sums = execFileSync("md5sum", ["--", ...names.filter((name) => !name.startsWith("etc/"))], { cwd: payload });
  writeMode(path.join(control, "md5sums"), sums, 0o644);
  date(payload, epoch);
  const file = path.join(out, `signet-server_${version}_${debian}.deb`);
  tool(
    "dpkg-deb",
    "dpkg",
    ["--root-owner-group", "--threads-max=1", "-Zzstd", `-z${level}`, "--build", payload, file],
    epoch,
  );
  rmSync(control, { recursive: true });
  return file;
}

function writeRpm({ version, epoch }: Release, payload: string, out: string, level: string): string {
  const top = path.join(out, ".rpm");
  rmSync(top, { recursive: true, force: true });
  mkdirSync(top);
  const spec = path.join(top, "signet-server.spec");
  const values = {
    VERSION: version.replace("-", "~"),
    ARCHITECTURE: redHat,
    GLIBC: glibc(),
    PAYLOAD: payload,
    LEVEL: level,
  };
  writeFileSync(spec, filled("signet-server.spec", values));
  tool("rpmbuild", "rpm", ["--quiet", "-bb", "--target", redHat, "--define", `_topdir ${top}`, spec], epoch);
  const [made = ""] = readdirSync(path.join(top, "RPMS", redHat));
  const file = path.join(out, `signet-server-${version}.${redHat}.rpm`);
  copyFileSync(path.join(top, "RPMS", redHat, made), file);
  rmSync(top, { recursive: true });
  return file;
}

function writeTar({ version, epoch }: Release, payload: string, out: string, level: string): string {
  const name = `signet-server-${version}-linux-${process.arch}`;
  writeMode(path.join(payload, "install.sh"), filled("install.sh", { VERSION: version }), 0o755);
  date(payload, epoch);
  const plain = path.join(out, `${name}.tar`);
  const same = ["--sort=name", `--mtime=@${epoch}`, "--owner=0", "--group=0", "--numeric-owner", "--format=gnu"];
  tool(
    "tar",
    "tar",
    [...same, "--hard-dereference", `--transform=s,^\\.,${name},S`, "-cf", plain, "-C", payload, "."],
    epoch,
  );
  rmSync(path.join(payload, "install.sh"));
  tool("gzip", "gzip", ["-nf", `-${level}`, plain], epoch);
  return `${plain}.gz`;
}

/** What was compiled here needs the C library of here, or a newer one. */
function glibc(): string {
  const report: unknown = process.report.getReport();
  const found = /"glibcVersionRuntime":"([\d.]+)"/.exec(JSON.stringify(report))?.[1];
  if (found === undefined) throw new Error("the version of the C library is not known");
  return found;
}

function tool(name: string, debianPackage: string, args: readonly string[], epoch: number): void {
  const { error, status, stderr } = spawnSync(name, args, {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, LC_ALL: "C", TZ: "UTC", SOURCE_DATE_EPOCH: String(epoch) },
    encoding: "utf8",
  });
  if (error && "code" in error && error.code === "ENOENT")
    throw new Error(`${name} is missing: apt install ${debianPackage}`);
  if (status !== 0) throw new Error(`${name} failed: ${stderr.slice(-1000)}`);
}

/** Sums of everything made, beside it, as `sha256sum --check` reads them. */
export function writeSums(files: readonly string[], out: string): void {
  const lines = files.map((file) => `${sha256(file)}  ${path.basename(file)}\n`).sort();
  writeFileSync(path.join(out, "SHA256SUMS"), lines.join(""));
}
