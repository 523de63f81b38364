/**
 * Keeps something open while the page can be seen: browsers allow few connections to one server, and forgotten tabs would
 * take them all.
 * @param open returns what closes it
 * @returns the end of it all
 */
export function whileVisible(open: () => () => void): () => void {
  let close: (() => void) | undefined;
  const look = () => {
    if (document.visibilityState === "visible") close ??= open();
    else {
      close?.();
      close = undefined;
    }
  };
  document.addEventListener("visibilitychange", look);
  look();
  return () => {
    document.removeEventListener("visibilitychange", look);
    close?.();
    close = undefined;
  };
}

/** JSON of a stream, or null for what is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
