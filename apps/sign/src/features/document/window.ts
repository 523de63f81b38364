import { useSyncExternalStore } from "react";

/** Narrow windows fill in fields at their foot. */
const narrow = window.matchMedia("(max-width: 48rem)");

function subscribe(changed: () => void): () => void {
  narrow.addEventListener("change", changed);
  return () => narrow.removeEventListener("change", changed);
}

/** Whether the window is as narrow as a phone's. */
export function useNarrow(): boolean {
  return useSyncExternalStore(subscribe, () => narrow.matches);
}
