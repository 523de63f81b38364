import { randomBytes } from "node:crypto";
import { embedOriginOf } from "./features/signing/service.ts";
import type { Deps } from "./kernel/deps.ts";
import { type Assets, builtApps, openAssets } from "./pages/assets.ts";
import { pageHeaders } from "./pages/headers.ts";
import { errorPage, notBuiltPage, type Setting, startPage } from "./pages/plain.ts";

/** The web pages: the built apps, their files, the start page and the help for error codes. Everything here is public. */

export type PageRequest = {
  method: string;
  path: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
};
export type PageResponse = { status: number; headers: Record<string, string>; body: Uint8Array | null };

let built: Assets | undefined;

/**
 * Answers a request for a page or a file of the web apps.
 * @param request `path` is the path of the URL as it came, without query
 * @returns null when there is no page at the path, or the method is not GET or HEAD
 */
export async function servePage(deps: Pick<Deps, "db">, request: PageRequest): Promise<PageResponse | null> {
  if (request.method !== "GET" && request.method !== "HEAD") return null;
  built ??= openAssets(builtApps);
  const response = await respond(deps, request, built);
  if (!response) return null;
  const headers = { ...response.headers, "content-length": String(response.body?.byteLength ?? 0) };
  return { ...response, headers, body: request.method === "HEAD" ? null : response.body };
}

async function respond(deps: Pick<Deps, "db">, request: PageRequest, assets: Assets): Promise<PageResponse | null> {
  const { path } = request;
  if (path.startsWith("/assets/")) return assetResponse(assets, path.slice(1), headerOf(request, "accept-encoding"));
  if (path === "/") return plainResponse(assets, 200, startPage);
  const error = /^\/errors\/([a-z-]{1,64})$/.exec(path)?.[1];
  if (error !== undefined) return plainResponse(assets, 200, (setting) => errorPage(error, setting));
  const app = /^\/(sign|verify|docs)\/?$/.exec(path)?.[1];
  if (app !== undefined) return appResponse(assets, app, null);
  const session = /^\/sign\/(ses_[0-9A-Za-z]{1,64})$/.exec(path)?.[1];
  if (session !== undefined) return appResponse(assets, "sign", await embedOriginOf(deps, session));
  return null;
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
  const html = new TextDecoder().decode(index.bytes).replaceAll("__NONCE__", nonce);
  return { status: 200, headers: pageHeaders(nonce, embedOrigin), body: utf8.encode(html) };
}
