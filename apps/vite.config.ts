import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";
import { validationAliases } from "../scripts/validation-aliases.ts";

/** One build for all pages: dist/apps/<name>/index.html and what they share under dist/apps/assets. */

const root = import.meta.dirname;
const packages = path.resolve(root, "../node_modules");
const { version } = JSON.parse(readFileSync(path.join(packages, "pdfjs-dist/package.json"), "utf8")) as {
  version: string;
};
/** What pdfjs fetches by name at run time: character maps, standard fonts, image decoders, colour profiles. */
const pdfjsFolders = ["cmaps", "standard_fonts", "wasm", "iccs"];

/** Ships pdfjs' own files beside the bundle, under a folder named after the version so that it can be cached for ever. */
function pdfjsFiles(): Plugin {
  const prefix = `assets/pdfjs-${version}`;
  return {
    name: "pdfjs-files",
    generateBundle() {
      for (const folder of pdfjsFolders) {
        for (const name of readdirSync(path.join(packages, "pdfjs-dist", folder))) {
          const source = readFileSync(path.join(packages, "pdfjs-dist", folder, name));
          this.emitFile({ type: "asset", fileName: `${prefix}/${folder}/${name}`, source });
        }
      }
    },
    configureServer(server) {
      server.middlewares.use(`/${prefix}`, (request, response, next) => {
        const [folder, name] = (request.url ?? "").split("?")[0]?.split("/").filter(Boolean) ?? [];
        if (!folder || !name || !pdfjsFolders.includes(folder) || name.includes("..")) return next();
        response.end(readFileSync(path.join(packages, "pdfjs-dist", folder, name)));
      });
    },
  };
}

/** Writes `.br` and `.gz` beside everything that gets smaller, so that the server never compresses. */
function precompressed(): Plugin {
  return {
    name: "precompressed",
    apply: "build",
    writeBundle(options, bundle) {
      for (const name of Object.keys(bundle)) {
        if (!/\.(m?js|css|ttf|wasm|svg|json|icc)$/.test(name)) continue;
        const file = path.join(options.dir ?? "", name);
        const bytes = readFileSync(file);
        if (bytes.length < 1024) continue;
        writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
        writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }));
      }
    },
  };
}

/** The dashboard and its router, which no other page loads. */
const ofDashboard = /[\\/]apps[\\/]dashboard[\\/]|[\\/]@tanstack[\\/](react-)?(router|history|store)/;

const appliance = process.env.SIGNET_BASE_URL ?? "http://127.0.0.1:8480";

export default defineConfig({
  root,
  publicDir: false,
  resolve: { alias: validationAliases },
  worker: { format: "es" },
  plugins: [react(), pdfjsFiles(), precompressed()],
  build: {
    outDir: path.resolve(root, "../dist/apps"),
    emptyOutDir: true,
    target: "es2022",
    // Fonts and pictures stay files: data: URLs are not allowed for fonts by the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2000,
    rollupOptions: {
      input: Object.fromEntries(
        ["dashboard", "sign", "verify", "view", "docs"].map((name) => [name, path.join(root, name, "index.html")]),
      ),
      output: {
        // Code that three or more pages load at startup goes into one file, the dashboard's own into another: as fifty small files,
        // the sign-in page made 65 requests. The count includes the dashboard's lazy routes, hence the filters.
        codeSplitting: {
          groups: [
            { name: "base", test: (id) => !ofDashboard.test(id), tags: ["$initial"], minShareCount: 3, priority: 2 },
            { name: "dashboard-base", test: ofDashboard, tags: ["$initial"], minShareCount: 3, priority: 1 },
          ],
        },
      },
    },
  },
  server: {
    proxy: Object.fromEntries(
      ["/v1", "/auth", "/.well-known", "/locales", "/openapi.json"].map((url) => [url, appliance]),
    ),
  },
});
