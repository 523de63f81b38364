import { useEffect, useRef, useState } from "react";
import { translator } from "../../i18n.ts";
import { notify } from "./notify.tsx";

const shownMs = 3000;

/** Copies text. `copied` is true for three seconds afterwards; if copying fails, a message says so and `copy` returns false. */
export function useCopy(): { copied: boolean; copy: (text: string) => Promise<boolean> } {
  const [copied, setCopied] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return {
    copied,
    async copy(text) {
      if (!(await write(text))) {
        notify({ message: translator("common")("copyFailed"), tone: "bad" });
        return false;
      }
      setCopied(true);
      clearTimeout(timer.current);
      timer.current = setTimeout(setCopied, shownMs, false);
      return true;
    },
  };
}

/** @returns whether the text is in the clipboard */
async function write(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return writeWithoutClipboard(text);
  }
}

/** Browsers have no `navigator.clipboard` on a page of plain http, which an intranet may use. */
function writeWithoutClipboard(text: string): boolean {
  let written = false;
  const answer = (event: ClipboardEvent) => {
    event.clipboardData?.setData("text/plain", text);
    event.preventDefault();
    written = true;
  };
  document.addEventListener("copy", answer, { capture: true });
  try {
    return document.execCommand("copy") && written;
  } finally {
    document.removeEventListener("copy", answer, { capture: true });
  }
}
