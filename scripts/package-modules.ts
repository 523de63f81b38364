import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { z } from "zod";

/** What of the checkout the packaged server needs: its own files, as they import each other, and the npm packages below them. */

export const root = path.resolve(import.meta.dirname, "..");

/** Where the process and its threads begin. A thread's file is named by a URL, which no import shows. */
const entries = [
  "server/main.ts",
  "workers/parsing-tasks.ts",
  "workers/sealing-tasks.ts",
  "server/kernel/blob-check-thread.ts",
];
/** Packages named by no import: the typesetter finds its fonts by their folder. */
const named = /@expo-google-fonts\/\$\{/;
/** What these packages need only to compile themselves, for a command line of their own, or elsewhere. */
const notAtRunTime: Readonly<Record<string, readonly string[]>> = {
  sqlite3: ["node-addon-api", "node-gyp", "prebuild-install", "tar"],
  qrcode: ["yargs"],
  // It draws outside of browsers, where we do not use it.
  "pdfjs-dist": ["@napi-rs/canvas"],
};

const Names = z.record(z.string(), z.string()).default({});
const OneOrMore = z.union([z.string().transform((one) => [one]), z.array(z.string())]).optional();
const Locked = z.object({
  version: z.string().default(""),
  integrity: z.string().optional(),
  license: z.string().optional(),
  dev: z.boolean().default(false),
  dependencies: Names,
  optionalDependencies: Names,
  os: OneOrMore,
  cpu: OneOrMore,
  libc: OneOrMore,
});
const Lock = z.object({ packages: z.record(z.string(), Locked) });

/** A package as the lockfile names it, with the folder that it lies in below the checkout. */
export type NpmPackage = z.output<typeof Locked> & { folder: string; name: string; needs: readonly string[] };
type Lock = z.output<typeof Lock>;

export function readLock(): Lock {
  return Lock.parse(JSON.parse(readFileSync(path.join(root, "package-lock.json"), "utf8")));
}

export type Sources = {
  /** Below the checkout, sorted. */
  files: string[];
  /** npm packages that they import, sorted. */
  imports: string[];
};

/** Every file of ours that a running server may load, and the packages that these files name. */
export const serverSources = (): Sources =>
  sourcesOf([...entries, ...filesBelow("server"), ...filesBelow("workers"), ...filesBelow("locales"), "package.json"]);

/** The console's three bundles are made of these. Electron is no package of theirs: they run in it. */
export function consolePackages(): NpmPackage[] {
  const source = "apps/console/src";
  const { imports } = sourcesOf([
    `${source}/main/index.ts`,
    `${source}/preload/index.ts`,
    `${source}/renderer/main.tsx`,
  ]);
  return closureOf(imports.filter((name) => name !== "electron"));
}

/** @param from files below the checkout, which the rest is found from */
function sourcesOf(from: readonly string[]): Sources {
  const files = new Set<string>();
  const imports = new Set<string>();
  const waiting = [...from];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (files.has(file)) continue;
    files.add(file);
    if (!/\.tsx?$/.test(file)) continue;
    const text = readFileSync(path.join(root, file), "utf8");
    if (named.test(text))
      for (const name of readdirSync(inModules("@expo-google-fonts"))) imports.add(`@expo-google-fonts/${name}`);
    for (const specifier of specifiers(text)) {
      if (specifier.startsWith(".")) {
        const target = path.join(path.dirname(file), specifier);
        const found = statSync(path.join(root, target), { throwIfNoEntry: false });
        if (!found && target.endsWith(".ts")) throw new Error(`${file} imports ${target}, which is not there`);
        if (found?.isFile()) waiting.push(target);
      } else if (!specifier.startsWith("node:")) {
        const name = packageName(specifier);
        if (name !== null) imports.add(name);
      }
    }
  }
  return { files: [...files].sort(), imports: [...imports].sort() };
}

const inModules = (name: string) => path.join(root, "node_modules", name);

/** What a module names after `from`, in `import(…)` or bare; types alone are no reason to ship anything. */
function specifiers(text: string): string[] {
  const statements = text.matchAll(/^(?:import|export)\s+(?!type\b)(?:[\w$*{},\s]+\sfrom\s+)?["']([^"'\n]+)["']/gm);
  const calls = text.matchAll(/\bimport\(\s*["']([^"'\n]+)["']/g);
  const urls = text.matchAll(/new URL\(\s*["'](\.[^"'\n]+)["']\s*,\s*import\.meta\.url/g);
  return [statements, calls, urls].flatMap((found) => [...found].flatMap(([, specifier]) => specifier ?? []));
}

function packageName(specifier: string): string | null {
  return /^(@[\w.-]+\/)?[\w.-]+(?=\/|$)/.exec(specifier)?.[0] ?? null;
}

function filesBelow(folder: string): string[] {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
    .map((name) => path.join(folder, name))
    .filter((name) => statSync(path.join(root, name)).isFile());
}

/**
 * The installed packages that these need at run time, with what those need, by folder.
 * @throws Error when one is not installed
 */
export function closureOf(names: readonly string[], lock = readLock()): NpmPackage[] {
  const found = new Map<string, NpmPackage>();
  const visit = (from: string, name: string, optional: boolean) => {
    const folder = resolve(lock, from, name);
    const entry = folder === null ? undefined : lock.packages[folder];
    if (folder === null || !entry || !existsSync(path.join(root, folder)) || !fits(entry)) {
      if (optional) return;
      throw new Error(`${name} is not installed: npm ci`);
    }
    if (found.has(folder)) return;
    const needed = { ...entry.dependencies, ...entry.optionalDependencies };
    const needs = Object.keys(needed).filter(
      (need) => !need.startsWith("@types/") && !notAtRunTime[name]?.includes(need),
    );
    const one: NpmPackage = { ...entry, folder, name, needs: [] };
    found.set(folder, one);
    for (const need of needs) visit(folder, need, need in entry.optionalDependencies);
    one.needs = needs.flatMap((need) => resolve(lock, folder, need) ?? []).filter((need) => found.has(need));
  };
  const optional = lock.packages[""]?.optionalDependencies ?? {};
  for (const name of names) visit("", name, name in optional);
  return [...found.values()].sort((a, b) => (a.folder < b.folder ? -1 : 1));
}

/** As Node looks for a package: from folder to folder upwards. */
function resolve({ packages }: Lock, from: string, name: string): string | null {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf("node_modules/") - 1))) {
    const folder = `${at === "" ? "" : `${at}/`}node_modules/${name}`;
    if (packages[folder]) return folder;
    if (at === "") return null;
  }
}

function fits({ os, cpu, libc }: z.output<typeof Locked>): boolean {
  const has = (wanted: readonly string[] | undefined, mine: string) => wanted === undefined || wanted.includes(mine);
  return has(os, process.platform) && has(cpu, process.arch) && has(libc, "glibc");
}
