import { useSyncExternalStore } from "react";
import { store, stored } from "../../../../shared/storage.ts";

/** Whether single keys do something, for the frame and for every page in it: speech input types letters (WCAG 2.1.4). */

const key = "signet.shortcuts";
let enabled = stored("local", key) !== "0";
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Remembered on this device. */
export function enableShortcuts(on: boolean): void {
  enabled = on;
  store("local", key, on ? "1" : "0");
  for (const listener of listeners) listener();
}

export function useShortcutsEnabled(): boolean {
  return useSyncExternalStore(subscribe, () => enabled);
}

/** Whether a key press is text, or belongs to the browser, a dialog or a menu. */
export function isTaken(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return true;
  const target = event.target instanceof HTMLElement ? event.target : null;
  if (target?.isContentEditable || target?.closest("input, textarea, select, [role='menu'], [role='listbox']"))
    return true;
  return document.querySelector("[aria-modal='true']") !== null;
}
