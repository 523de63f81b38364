import { type RefObject, useEffect, useRef } from "react";
import type { Actions } from "./actions.ts";

type Options = { view: RefObject<HTMLElement | null>; actions: Actions; readOnly: boolean };

/** Copy, cut and paste of the browser while the focus is on the pages: by keys as by its menu, and into another tab. */
export function useClipboard(options: Options): void {
  const latest = useRef(options);
  latest.current = options;
  useEffect(() => {
    const heard = (event: ClipboardEvent) => {
      const { view, actions, readOnly } = latest.current;
      if (!view.current?.contains(document.activeElement) || !event.clipboardData) return;
      if (event.type === "paste") {
        if (!readOnly && actions.paste(event.clipboardData.getData("text/plain"))) event.preventDefault();
        return;
      }
      // Text of the document that somebody marked is what they mean.
      if (getSelection()?.toString()) return;
      const text = actions.copied();
      if (text === null) return;
      event.clipboardData.setData("text/plain", text);
      event.preventDefault();
      if (event.type === "cut" && !readOnly) actions.remove();
    };
    for (const type of ["copy", "cut", "paste"] as const) document.addEventListener(type, heard);
    return () => {
      for (const type of ["copy", "cut", "paste"] as const) document.removeEventListener(type, heard);
    };
  }, []);
}
