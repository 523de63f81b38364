import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Plugin } from "vite";
import { validationAliases } from "./validation-aliases.ts";

const root = path.resolve(import.meta.dirname, "..");
const folder = path.join(root, "apps/evidence");

/**
 * Makes dist/apps/evidence/verify.html, which lies in every evidence bundle: script and style stand in the page, and its
 * policy allows these two by their hashes and nothing else, no network above all.
 * @param target folder to write it to
 * @param plugins of a test that puts other words into it
 */
export async function buildVerifier(
  target = path.join(root, "dist/apps/evidence"),
  plugins: Plugin[] = [],
): Promise<void> {
  const { build } = await import("vite");
  const built = await build({
    root: folder,
    configFile: false,
    publicDir: false,
    plugins,
    resolve: { alias: validationAliases },
    logLevel: "warn",
    build: {
      write: false,
      target: "es2022",
      modulePreload: false,
      rollupOptions: { input: path.join(folder, "src/main.ts"), output: { format: "iife" } },
    },
  });
  const [output] = [built].flat();
  const chunk = output && "output" in output ? output.output.find((one) => one.type === "chunk") : undefined;
  if (chunk?.type !== "chunk") throw new Error("the verifier was not built");
  // What ends a script element may stand only in strings of the script.
  const script = chunk.code.trim().replaceAll(/<(?=\/script|!--)/gi, "\\x3c");
  const style = readFileSync(path.join(folder, "src/verify.css"), "utf8");
  const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  const policy = `default-src 'none'; script-src ${hashOf(script)}; style-src ${hashOf(style)}; base-uri 'none'; form-action 'none'`;
  const page = readFileSync(path.join(folder, "page.html"), "utf8")
    .replace("__POLICY__", () => policy)
    .replace("<style></style>", () => `<style>${style}</style>`)
    .replace("<script></script>", () => `<script>${script}</script>`);
  mkdirSync(target, { recursive: true });
  writeFileSync(path.join(target, "verify.html"), page);
}

if (import.meta.main) await buildVerifier();
