import { randomBytes } from "node:crypto";
import { locales } from "../locales/read.ts";
import { embedOriginOf } from "./features/signing/service.ts";
import type { Deps } from "./kernel/deps.ts";
import { appAt } from "./pages/addresses.ts";
import { type Assets, builtApps, openAssets } from "./pages/assets.ts";
import { pageHeaders } from "./pages/headers.ts";
import { askAgainSeconds, maintenancePage } from "./pages/maintenance.ts";
import { errorPage, notBuiltPage, notFoundPage, type Setting } from "./pages/plain.ts";
import { openWords, type ServedWords } from "./pages/words.ts";

/** The web pages: the built apps, their files and words, and the help for error codes. Everything here is public. */

export type PageRequest = {
  method: string;
  path: string;
  /** What stands behind the path, without the question mark. */
  query?: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Nothing new is taken at present: only what proves documents is shown. */
  inMaintenance?: boolean;
};
export type PageResponse = { status: number; headers: Record<string, string>; body: Uint8Array | null };

let built: Assets | undefined;
let opened: ServedWords | undefined;

function servedWords(): ServedWords {
  opened ??= openWords(locales());
  return opened;
}

/**
 * Answers a request for a page or a file of the web apps.
 * @param request `path` is the path of the URL as it came, without query
 * @returns null when there is no page at the path, or the method is not GET or HEAD
 */
export async function servePage(deps: Pick<Deps, "db">, request: PageRequest): Promise<PageResponse | null> {
  if (request.method !== "GET" && request.method !== "HEAD") return null;
  built ??= openAssets(builtApps);
  const response = (await respond(deps, request, built)) ?? nothingHere(request, built);
  if (!response) return null;
  // What was not modified says nothing of its length (RFC 9110 §8.6).
  const length = response.status === 304 ? {} : { "content-length": String(response.body?.byteLength ?? 0) };
  const headers = { ...response.headers, ...length };
  return { ...response, headers, body: request.method === "HEAD" ? null : response.body };
}

async function respond(deps: Pick<Deps, "db">, request: PageRequest, assets: Assets): Promise<PageResponse | null> {
  const { path } = request;
  if (path.startsWith("/assets/")) return assetResponse(assets, path.slice(1), headerOf(request, "accept-encoding"));
  const words = /^\/locales\/([\w-]+)\/([\w-]+)\.json$/.exec(path);
  if (words) return wordsResponse(request, words[1] ?? "", words[2] ?? "");
  const error = /^\/errors\/([a-z-]{1,64})$/.exec(path)?.[1];
  if (error !== undefined) return plainResponse(assets, 200, (setting) => errorPage(error, setting));
  const found = appAt(path);
  if (!found) return null;
  if (request.inMaintenance && !alwaysOpen.has(found.app)) {
    const waiting = plainResponse(assets, 503, (setting) =>
      maintenancePage(setting, headerOf(request, "accept-language")),
    );
    const headers = { "retry-after": String(askAgainSeconds), vary: "accept-language" };
    return waiting && { ...waiting, headers: { ...waiting.headers, ...headers } };
  }
  return appResponse(assets, found.app, found.session === null ? null : await embedOriginOf(deps, found.session));
}

/** What they show stays true, whatever is being done to the service. */
const alwaysOpen: ReadonlySet<string> = new Set(["verify", "docs"]);

/** A page for people where there is none; programs, and everybody who calls an operation, get the API's own answer. */
function nothingHere(request: PageRequest, assets: Assets): PageResponse | null {
  const forPeople =
    headerOf(request, "accept").includes("text/html") && !/^\/(v1|auth|assets|locales)(\/|$)/.test(request.path);
  return forPeople ? plainResponse(assets, 404, notFoundPage) : null;
}

function headerOf(request: PageRequest, name: string): string {
  const value = request.headers[name];
  return typeof value === "string" ? value : (value?.join(",") ?? "");
}

async function assetResponse(assets: Assets, name: string, acceptEncoding: string): Promise<PageResponse | null> {
  const asset = await assets.read(name, acceptEncoding);
  if (!asset) return null;
  return {
    status: 200,
    headers: {
      "content-type": asset.type,
      // Every name holds a hash of its content or a version.
      "cache-control": "public, max-age=31536000, immutable",
      "x-content-type-options": "nosniff",
      "cross-origin-resource-policy": "same-origin",
      "referrer-policy": "no-referrer",
      ...(asset.encoding && { "content-encoding": asset.encoding }),
      ...(asset.compressible && { vary: "accept-encoding" }),
    },
    body: asset.bytes,
  };
}

/** The words of one catalogue, English where the language has none of its own. */
async function wordsResponse(request: PageRequest, language: string, catalogue: string): Promise<PageResponse | null> {
  const found = await servedWords().read(language, catalogue);
  if (!found) return null;
  const headers = {
    etag: found.etag,
    // Whoever names another version, or none, asks again each time.
    "cache-control": request.query === `v=${locales().version()}` ? "public, max-age=31536000, immutable" : "no-cache",
    vary: "accept-encoding",
  };
  // Compared weakly (RFC 9110 §13.1.2): a proxy that compresses makes the tag a weak one.
  const held = headerOf(request, "if-none-match")
    .split(",")
    .map((tag) => tag.trim().replace(/^W\//, ""));
  if (held.includes(found.etag)) return { status: 304, headers, body: null };
  const takesBrotli = /(^|[\s,])br\s*(,|$)/i.test(headerOf(request, "accept-encoding"));
  return {
    status: 200,
    headers: {
      ...headers,
      "content-type": "application/json",
      "x-content-type-options": "nosniff",
      "cross-origin-resource-policy": "same-origin",
      "referrer-policy": "no-referrer",
      ...(takesBrotli && { "content-encoding": "br" }),
    },
    body: takesBrotli ? found.brotli : found.json,
  };
}

const newNonce = () => randomBytes(18).toString("base64");
const utf8 = new TextEncoder();

function plainResponse(assets: Assets, status: number, page: (setting: Setting) => string | null): PageResponse | null {
  const nonce = newNonce();
  const face = (start: string) => {
    const name = assets.find(`assets/${start}-latin-wght-normal-`, ".woff2");
    return name === null ? null : `/${name}`;
  };
  const html = page({ nonce, faces: { text: face("inter"), headings: face("source-serif-4") } });
  return html === null ? null : { status, headers: pageHeaders(nonce, null), body: utf8.encode(html) };
}

async function appResponse(assets: Assets, app: string, embedOrigin: string | null): Promise<PageResponse | null> {
  const index = await assets.read(`${app}/index.html`, "");
  if (!index) return plainResponse(assets, 503, notBuiltPage);
  const nonce = newNonce();
  const { languages, version } = locales();
  const html = new TextDecoder()
    .decode(index.bytes)
    .replaceAll("__NONCE__", nonce)
    .replace("__LANGUAGES__", languages.join(" "))
    .replace("__WORDS__", version());
  return { status: 200, headers: pageHeaders(nonce, embedOrigin), body: utf8.encode(html) };
}
