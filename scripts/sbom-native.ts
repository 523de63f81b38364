import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { type NpmPackage, root } from "./package-modules.ts";

/** What is compiled into npm packages, and named by no lockfile: read from what is shipped itself. */

export type NativePart = {
  name: string;
  /** Null where the compiled file does not say it. */
  version: string | null;
  purl: string;
  /** An SPDX identifier, "public domain", or null where nothing that is shipped says it. */
  licence: string | null;
  /** Files of the package with its licence's text. */
  texts: readonly string[];
};

/** SQLite says itself which it is. Asked in a process of its own: this one need not load it. */
function sqlite(): NativePart[] {
  const script =
    'const {Database}=require("sqlite3");const d=new Database(":memory:");d.get("select sqlite_version() v",(e,r)=>{if(e)throw e;process.stdout.write(r.v)})';
  const version = execFileSync(process.execPath, ["-e", script], { cwd: root, encoding: "utf8" });
  return [{ name: "sqlite", version, purl: `pkg:generic/sqlite@${version}`, licence: "public domain", texts: [] }];
}

/**
 * Crates that the compiler left the paths of: where a crate can panic, the file and its version stand in the program. One that
 * cannot is not found this way.
 */
function crates(program: Buffer): NativePart[] {
  const text = program.toString("latin1");
  const found = new Map<string, NativePart>();
  for (const [, name = "", version = ""] of text.matchAll(
    /registry\/src\/[\w.-]+\/([A-Za-z][\w-]*?)-(\d+\.\d+\.\d+[\w.+-]*)\//g,
  )) {
    const purl = `pkg:cargo/${name}@${encodeURIComponent(version)}`;
    found.set(purl, { name, version, purl, licence: null, texts: [] });
  }
  for (const [, name = "", commit = ""] of text.matchAll(
    /git\/checkouts\/([\w-]+)-[0-9a-f]{16}\/([0-9a-f]{7,40})\//g,
  )) {
    const purl = `pkg:generic/${name}@${commit}`;
    found.set(purl, { name, version: commit, purl, licence: null, texts: [] });
  }
  return [...found.values()].sort((a, b) => (a.purl < b.purl ? -1 : 1));
}

/** By file: a program of fifty megabytes is read once. */
const read = new Map<string, NativePart[]>();

/** What pdf.js brings as WebAssembly; none of these says its version. */
const ofPdfJs = ["jbig2", "openjpeg", "qcms"] as const;
const pdfJsNames = {
  jbig2: { name: "pdfium-jbig2", licence: "BSD-3-Clause" },
  openjpeg: { name: "openjpeg", licence: "BSD-2-Clause" },
  qcms: { name: "qcms", licence: "MIT" },
} as const;

/** Programs of a package: below its folder, without what only built them. */
function programs(folder: string): string[] {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.(node|wasm)$/.test(file) && !file.includes("node_modules/") && !file.includes("obj.target/"))
    .sort();
}

/**
 * The work of others inside what a package brings compiled.
 * @throws Error when it brings a program that nobody has looked into
 */
export function nativeParts({ name, folder }: Pick<NpmPackage, "name" | "folder">): NativePart[] {
  const files = existsSync(path.join(root, folder)) ? programs(folder) : [];
  if (files.length === 0) return [];
  if (name === "sqlite3") return sqlite();
  // Its own source alone, by the headers of PKCS #11.
  if (name === "pkcs11js") return [];
  if (/^@(myriaddreamin\/typst-ts-node-compiler|napi-rs\/nice)-/.test(name))
    return files.flatMap((file) => {
      const at = path.join(root, folder, file);
      const parts = read.get(at) ?? crates(readFileSync(at));
      read.set(at, parts);
      return parts;
    });
  if (name === "pdfjs-dist") {
    const known = files.map((file) => ofPdfJs.find((one) => path.basename(file).startsWith(one)));
    return known.map((one, at) => {
      if (one === undefined) throw unknown(name, files[at]);
      const part = pdfJsNames[one];
      const texts = [`wasm/LICENSE_${one.toUpperCase()}`, `wasm/LICENSE_PDFJS_${one.toUpperCase()}`];
      return { ...part, version: null, purl: `pkg:generic/${part.name}`, texts };
    });
  }
  throw unknown(name, files[0]);
}

const unknown = (name: string, file: string | undefined) =>
  new Error(`${name} brings ${file}: look at what is compiled into it, and name it in scripts/sbom-native.ts`);
