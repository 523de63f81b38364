import "../server/node-version.ts";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { endpoints } from "../server/contract.ts";
import { version } from "../server/version.ts";
import { sdkOperations } from "./sdk-operations.ts";
import { typesOf } from "./sdk-types.ts";

const root = path.resolve(import.meta.dirname, "..");
const folder = path.join(root, "apps/sdk");
/** The module that the package's own is made of. */
const entry = "client";

/**
 * `npm run build:sdk`: the package `@signet/sdk` for the operations in the endpoint table, as a folder and as a tarball.
 * @param target folder to make both in
 * @returns path of the tarball
 */
export async function buildSdk(target = path.join(root, "dist/sdk")): Promise<string> {
  const made = path.join(target, "package");
  rmSync(target, { recursive: true, force: true });
  mkdirSync(made, { recursive: true });
  const operations = sdkOperations(endpoints);
  const { build } = await import("vite");
  await build({
    root: folder,
    configFile: false,
    publicDir: false,
    logLevel: "warn",
    define: {
      signetOperations: JSON.stringify(operations.map(({ operation }) => operation)),
      signetVersion: JSON.stringify(version),
    },
    build: {
      outDir: made,
      emptyOutDir: false,
      target: "es2022",
      lib: { entry: path.join(folder, `src/${entry}.ts`), formats: ["es"], fileName: () => "index.js" },
      // Whoever debugs a program can read what it calls; the comments are in the declarations.
      rollupOptions: { output: { minify: false, comments: false } },
    },
  });
  // A set goes on to what is added while it is walked.
  const modules = new Set([entry]);
  for (const name of modules) {
    const text = name === "api" ? typesOf(endpoints, operations) : declarationsOf(name);
    for (const [, next = ""] of text.matchAll(/from "\.\/([\w-]+)\.js"/g)) modules.add(next);
    writeFileSync(path.join(made, `${name === entry ? "index" : name}.d.ts`), `${text.trim()}\n`);
  }
  copyFileSync(path.join(folder, "README.md"), path.join(made, "README.md"));
  writeFileSync(path.join(made, "package.json"), `${JSON.stringify(manifest(), null, 2)}\n`);
  const packed = execFileSync("npm", ["pack", "--silent", "--no-update-notifier", "--pack-destination", target], {
    cwd: made,
    encoding: "utf8",
  });
  return path.join(target, packed.trim());
}

const manifest = () => ({
  name: "@signet/sdk",
  version,
  description: "Client of the Signet API",
  license: "UNLICENSED",
  type: "module",
  main: "./index.js",
  types: "./index.d.ts",
  exports: { ".": { types: "./index.d.ts", default: "./index.js" } },
  sideEffects: false,
  engines: { node: ">=20.3" },
  files: ["index.js", "*.d.ts"],
});

/** Declarations of a module, whose exports say their types. */
function declarationsOf(module: string): string {
  const name = `${module}.ts`;
  const source = readFileSync(path.join(folder, "src", name), "utf8");
  const { outputText, diagnostics = [] } = ts.transpileDeclaration(source, {
    fileName: name,
    reportDiagnostics: true,
    compilerOptions: { target: ts.ScriptTarget.ES2022, strict: true, isolatedDeclarations: true },
  });
  const [fault] = diagnostics;
  if (fault) throw new Error(`apps/sdk/src/${name}: ${ts.flattenDiagnosticMessageText(fault.messageText, " ")}`);
  return outputText.replaceAll(/(from "\.\/[\w-]+)\.ts"/g, '$1.js"');
}

if (import.meta.main) console.log(path.relative(".", await buildSdk()));
