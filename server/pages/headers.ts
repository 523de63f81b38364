/** Headers that every page carries. */

/** What a page may load: its own files, nothing inline but styles with the nonce of this response. */
export function contentSecurityPolicy(nonce: string, frameAncestors: string): string {
  return [
    "default-src 'none'",
    // pdfjs decodes some pictures and colours with WebAssembly.
    "script-src 'self' 'wasm-unsafe-eval'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self' blob:",
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${frameAncestors}`,
  ].join("; ");
}

/** @param embedOrigin the one origin that may frame the page; null for none */
export function pageHeaders(nonce: string, embedOrigin: string | null): Record<string, string> {
  return {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": contentSecurityPolicy(nonce, embedOrigin ?? "'none'"),
    // Older browsers know only this one, and it cannot name an origin.
    ...(embedOrigin === null && { "x-frame-options": "DENY" }),
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
  };
}
