import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { fontFamilies } from "../workers/fonts.ts";
import { closureOf, type NpmPackage, root, serverSources } from "./package-modules.ts";
import { billOfMaterials, nodeRuntime, type Product, thirdPartyLicences } from "./sbom.ts";

/** One release of the server as a folder: what runs, and nothing that only builds, tests or explains it. */

export type Release = {
  folder: string;
  version: string;
  /** Seconds since the epoch that every file is dated with. */
  epoch: number;
};

/** Folders at the top of a package that no program loads. */
const idleFolders = new Set([
  "test",
  "tests",
  "__tests__",
  "doc",
  "docs",
  "example",
  "examples",
  "benchmark",
  "benchmarks",
  "bench",
  "man",
  ".github",
]);
const idleFile =
  /(\.map|\.[cm]?ts|\.tsx|\.md|\.markdown|\.gyp|\.gypi|\.mk|\.gz|\.Makefile|\.flow|\.tgz|\.png|\.yml|\.yaml|\.lock|\.c|\.cc|\.cpp|\.h|\.html|\.min\.js)$|(^|\/)(\.[^/]+|Makefile|tsconfig[^/]*\.json|package-lock\.json|changelog[^/]*|history[^/]*|authors|contributing[^/]*)$/i;
const licenceFile = /(^|\/)(licen[cs]e|copying|notice)[^/]*$/i;

/** Whether a file of an npm package goes into a release. */
export function isShipped(name: string, file: string): boolean {
  const family = fontFamilies.find(({ folder }) => name === `@expo-google-fonts/${folder}`);
  // What lies deeper is a package of its own.
  if (file.includes("node_modules/")) return false;
  if (licenceFile.test(file)) return true;
  if (family)
    return (
      file === "package.json" || family.styles.some((style) => file.startsWith(`${style}/`) && file.endsWith(".ttf"))
    );
  const [top = ""] = file.split("/");
  // Of what was compiled here only the addon itself.
  if (/^build\/(Release|deps|node_gyp_bins)\//.test(file)) return /^build\/Release\/[^/]+\.node$/.test(file);
  if (idleFolders.has(top)) return false;
  return !idleFile.test(file);
}

export type ShippedFile = {
  /** Below the checkout. */ from: string /** Below the release. */;
  to: string;
  mode: number;
};

/** Every file of the checkout that goes into a release, and the packages that some of them are of. */
export function releaseFiles(): { files: ShippedFile[]; packages: NpmPackage[] } {
  const { files, imports } = serverSources();
  const packages = closureOf(imports);
  const pages = below("dist/apps").filter((name) => name !== ".built" && !name.endsWith(".map"));
  const names = [
    ...files.filter((name) => name !== "package.json"),
    ...pages.map((name) => `dist/apps/${name}`),
    ...packages.flatMap(({ folder, name }) =>
      below(folder)
        .filter((file) => isShipped(name, file))
        .map((file) => `${folder}/${file}`),
    ),
  ];
  const node = { from: "node_modules/node/bin/node", to: "bin/node", mode: 0o755 };
  return { files: [node, ...names.map((name) => ({ from: name, to: name, mode: 0o644 }))], packages };
}

/** Writes the release folder anew. @throws Error when a package is missing, or its licence is not known */
export function writeRelease({ folder, version, epoch }: Release): void {
  rmSync(folder, { recursive: true, force: true });
  const { files, packages } = releaseFiles();
  for (const file of files) put(folder, file);
  // What the server reads of its package: the version. Nothing of the scripts and of what builds it.
  write(folder, "package.json", json({ name: "signet", version, private: true, type: "module" }));
  const runtime = nodeRuntime(path.join(folder, "bin/node"));
  writePapers(folder, { name: "signet-server", version, epoch, packages, runtime });
  // The keys that its successor must be signed with; without them it is updated by packages only.
  const keys = "release-keys.json";
  if (existsSync(path.join(root, keys))) put(folder, { from: keys, to: keys, mode: 0o644 });
  write(folder, "SHA256SUMS", checksums(folder));
  date(folder, epoch);
}

/** What others wrote in it, for programs and for people. @throws Error when a licence is not known */
export function writePapers(folder: string, product: Product): void {
  write(folder, "sbom.cdx.json", json(billOfMaterials(product)));
  write(folder, "THIRD-PARTY-LICENCES.txt", thirdPartyLicences(product));
}

function put(release: string, { from, to, mode }: ShippedFile): void {
  const target = path.join(release, to);
  mkdirSync(path.dirname(target), { recursive: true });
  copyFileSync(path.join(root, from), target);
  chmodSync(target, mode);
}

function write(release: string, name: string, text: string): void {
  writeMode(path.join(release, name), text, 0o644);
}

/** Writes a file with exactly this mode, whatever the umask of whoever builds. */
export function writeMode(file: string, content: string | NodeJS.ArrayBufferView, mode: number): void {
  writeFileSync(file, content);
  chmodSync(file, mode);
}

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

/** Files below a folder of the checkout, or an absolute one, as sorted relative paths; links are left out. */
export function below(folder: string): string[] {
  const at = path.resolve(root, folder);
  return readdirSync(at, { recursive: true, encoding: "utf8" })
    .filter((name) => lstatSync(path.join(at, name)).isFile())
    .sort();
}

/** As `sha256sum` writes them. */
export function checksums(folder: string): string {
  return below(folder)
    .map((name) => `${sha256(path.join(folder, name))}  ${name}\n`)
    .join("");
}

export const sha256 = (file: string) => createHash("sha256").update(readFileSync(file)).digest("hex");

/** The same date and the same modes for everything, so that two builds are the same bytes. */
export function date(folder: string, epoch: number): void {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    const file = path.join(folder, name);
    if (lstatSync(file).isDirectory()) date(file, epoch);
    else if (!lstatSync(file).isSymbolicLink()) utimesSync(file, epoch, epoch);
  }
  chmodSync(folder, 0o755);
  utimesSync(folder, epoch, epoch);
}
