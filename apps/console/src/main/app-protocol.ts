import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { isOwnPage } from "./origin.ts";

/** What the page may load: its own files, and styles that are made at run time with this response's nonce. No network at all. */
const contentSecurityPolicy = (nonce: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "font-src 'self'",
    "img-src 'self' data:",
    "connect-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");

const headersWith = (nonce: string) => ({
  "content-security-policy": contentSecurityPolicy(nonce),
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cache-control": "no-store",
});

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".woff2": "font/woff2",
};

/**
 * The handler of app://: serves the files that stood in the folder when it was listed. No path is made from a request.
 * @param folder the built renderer; may lie inside the asar
 */
export function serveRenderer(folder: string): (request: Request) => Promise<Response> {
  const files = new Map(list(folder).map((name) => [`/${name}`, path.join(folder, ...name.split("/"))]));
  return async (request) => {
    const url = URL.parse(request.url);
    const file = url && isOwnPage(request.url) ? files.get(url.pathname) : undefined;
    const type = file === undefined ? undefined : types[path.extname(file)];
    const nonce = randomBytes(18).toString("base64");
    const headers = headersWith(nonce);
    if (file === undefined || type === undefined) return new Response("Not found\n", { status: 404, headers });
    if (request.method !== "GET")
      return new Response("Only GET\n", { status: 405, headers: { ...headers, allow: "GET" } });
    const bytes = await readFile(file);
    const body =
      path.extname(file) === ".html" ? bytes.toString("utf8").replaceAll("__NONCE__", nonce) : Uint8Array.from(bytes);
    return new Response(body, { headers: { ...headers, "content-type": type } });
  };
}

/** Names below a folder with `/` between their parts. Walked by hand: an asar has no recursive listing. */
function list(folder: string, prefix = ""): string[] {
  return readdirSync(path.join(folder, prefix), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? list(folder, `${prefix}${entry.name}/`) : [`${prefix}${entry.name}`],
  );
}
