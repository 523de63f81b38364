import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";

/** The built web apps on disk. Only files that were there when the folder was listed exist: no path is ever composed from a request. */

/** Where `vite build` puts the apps. */
export const builtApps = path.resolve(import.meta.dirname, "../../dist/apps");

const types: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".json": "application/json",
  ".woff2": "font/woff2",
  ".ttf": "font/ttf",
  ".wasm": "application/wasm",
  ".svg": "image/svg+xml",
  ".png": "image/png",
};

export type Asset = { bytes: Uint8Array; type: string; encoding: "br" | "gzip" | null; compressible: boolean };
export type Assets = {
  /** Names are those of the folder, `/` between their parts. */
  read(name: string, acceptEncoding: string): Promise<Asset | null>;
  /** The name that starts and ends like this: built files carry a hash in between. */
  find(start: string, end: string): string | null;
};

/** Lists the folder once; an empty list when it was never built. */
export function openAssets(folder: string): Assets {
  const files = listed(folder);
  return {
    async read(name, acceptEncoding) {
      if (!files.has(name)) return null;
      const encoding = encodingOf(name, files, acceptEncoding);
      const suffix = encoding === "br" ? ".br" : encoding === "gzip" ? ".gz" : "";
      const bytes = await readFile(path.join(folder, `${name}${suffix}`));
      const type = types[path.posix.extname(name)] ?? "application/octet-stream";
      return { bytes, type, encoding, compressible: files.has(`${name}.br`) || files.has(`${name}.gz`) };
    },
    find(start, end) {
      return files.values().find((name) => name.startsWith(start) && name.endsWith(end)) ?? null;
    },
  };
}

function listed(folder: string): ReadonlySet<string> {
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    return new Set(
      entries
        .filter((entry) => entry.isFile())
        .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).split(path.sep).join("/")),
    );
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return new Set();
    throw error;
  }
}

/** The best of the forms on disk that the client takes (RFC 9110 §12.5.3; `q=0` refuses). */
function encodingOf(name: string, files: ReadonlySet<string>, acceptEncoding: string): "br" | "gzip" | null {
  const accepted = new Set(
    acceptEncoding
      .toLowerCase()
      .split(",")
      .map((part) => part.trim())
      .filter((part) => !/;\s*q=0(\.0*)?$/.test(part))
      .map((part) => part.split(";", 1)[0]?.trim() ?? ""),
  );
  if (accepted.has("br") && files.has(`${name}.br`)) return "br";
  return accepted.has("gzip") && files.has(`${name}.gz`) ? "gzip" : null;
}
