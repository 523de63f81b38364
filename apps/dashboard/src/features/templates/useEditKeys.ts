import { useEffect } from "react";
import type { DraftStore } from "./draft-store.ts";

/** Ctrl or ⌘ with Z undoes, with Shift or with Y redoes; in a text they belong to the text. */
export function useEditKeys(store: DraftStore): void {
  useEffect(() => {
    const key = (event: KeyboardEvent) => {
      const { target } = event;
      if (target instanceof HTMLElement && target.closest("input, textarea, select, [role=dialog]")) return;
      if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
      const letter = event.key.toLowerCase();
      if (letter !== "z" && letter !== "y") return;
      event.preventDefault();
      if (letter === "y" || event.shiftKey) store.redo();
      else store.undo();
    };
    window.addEventListener("keydown", key);
    return () => window.removeEventListener("keydown", key);
  }, [store]);
}
