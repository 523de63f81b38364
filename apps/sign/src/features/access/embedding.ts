type Signal = {
  type: "ready" | "signed" | "declined" | "exit" | "error" | "resize";
  envelope: string | null;
  recipient: string | null;
};

/** Tells the page that embeds this one what happened; only the origin that the session names ever hears it. */
export function tellParent(embedOrigin: string | null, signal: Signal): void {
  if (!embedOrigin || window.parent === window) return;
  window.parent.postMessage({ source: "svc-sign", ...signal }, embedOrigin);
}
