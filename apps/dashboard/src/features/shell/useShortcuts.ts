import { useNavigate } from "@tanstack/react-router";
import { useCallback, useEffect, useRef, useState } from "react";

const key = "signet.shortcuts";

/** After `g`, where to. */
const places = { h: "/", e: "/envelopes", t: "/templates", s: "/settings/account" } as const;
const isPlace = (letter: string): letter is keyof typeof places => Object.hasOwn(places, letter);

function enabledHere(): boolean {
  try {
    return localStorage.getItem(key) !== "0";
  } catch {
    return true;
  }
}

/** Whether a key press is text or belongs to a dialog or menu. */
function isTaken(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return true;
  const target = event.target instanceof HTMLElement ? event.target : null;
  if (target?.isContentEditable || target?.closest("input, textarea, select, [role='menu'], [role='listbox']"))
    return true;
  return document.querySelector("[aria-modal='true']") !== null;
}

/** Single keys for whoever works here all day. They can be switched off: speech input types letters (WCAG 2.1.4). */
export function useShortcuts(onHelp: () => void): { enabled: boolean; setEnabled: (enabled: boolean) => void } {
  const [enabled, set] = useState(enabledHere);
  const navigate = useNavigate();
  const going = useRef(0);

  useEffect(() => {
    if (!enabled) return;
    const pressed = (event: KeyboardEvent) => {
      if (isTaken(event)) return;
      const letter = event.key.toLowerCase();
      const afterG = event.timeStamp - going.current < 1500;
      going.current = 0;
      if (event.key === "?") onHelp();
      else if (afterG && isPlace(letter)) void navigate({ to: places[letter] });
      else if (letter === "g") going.current = event.timeStamp;
      else if (letter === "n") void navigate({ to: "/send" });
      else if (event.key === "/") {
        const search = document.querySelector<HTMLElement>("main input[type='search'], main [role='searchbox']");
        if (!search) return;
        search.focus();
      } else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, [enabled, navigate, onHelp]);

  const setEnabled = useCallback((on: boolean) => {
    set(on);
    try {
      localStorage.setItem(key, on ? "1" : "0");
    } catch {
      // The choice then lasts as long as the page.
    }
  }, []);
  return { enabled, setEnabled };
}
