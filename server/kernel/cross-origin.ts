import type { Context } from "koa";

/** Answers that pages of any origin may read (contract §0.6). */

/** What pages elsewhere may read of an answer, beside what every page may (Fetch standard, CORS-safelisted response headers). */
const exposedHeaders = [
  "accept-ranges",
  "content-disposition",
  "content-range",
  "etag",
  "ratelimit-limit",
  "ratelimit-remaining",
  "ratelimit-reset",
  "retry-after",
  "x-request-id",
].join(", ");

export function exposeHeaders(ctx: Context): void {
  ctx.set("access-control-allow-origin", "*");
  ctx.set("access-control-expose-headers", exposedHeaders);
}

/** CORS preflight: any origin, no credentials. Unknown addresses get one too; without it a page could not read the 404. */
export function preflight(ctx: Context): void {
  ctx.set("access-control-allow-methods", "GET, POST, OPTIONS");
  ctx.set("access-control-allow-headers", "content-type, if-none-match, if-range, range, x-request-id");
  ctx.set("access-control-max-age", "86400");
  ctx.status = 204;
}
