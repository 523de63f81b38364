import path from "node:path";
import react from "@vitejs/plugin-react";
import { defineConfig } from "electron-vite";

/** The console's three bundles, each complete in itself: the installed console has no node_modules. */

const source = (name: string) => path.resolve(import.meta.dirname, "apps/console/src", name);
const target = (name: string) => path.resolve(import.meta.dirname, "dist/console", name);
const common = { externalizeDeps: false, sourcemap: false, emptyOutDir: true, reportCompressedSize: false } as const;

export default defineConfig({
  main: {
    build: {
      ...common,
      outDir: target("main"),
      rollupOptions: {
        input: source("main/index.ts"),
        output: { format: "es", entryFileNames: "index.js" },
      },
    },
  },
  preload: {
    build: {
      ...common,
      outDir: target("preload"),
      rollupOptions: {
        input: source("preload/index.ts"),
        // A sandboxed preload script is one CommonJS file.
        output: { format: "cjs", entryFileNames: "index.cjs" },
      },
    },
  },
  renderer: {
    root: source("renderer"),
    plugins: [react()],
    build: {
      outDir: target("renderer"),
      emptyOutDir: true,
      minify: true,
      reportCompressedSize: false,
      // The content security policy allows no font from a data: URL.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      rollupOptions: { input: source("renderer/index.html") },
    },
  },
});
