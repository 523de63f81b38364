import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { isTaken, useShortcutsEnabled } from "./shortcuts.ts";

/** After `g`, where to. */
const places = { h: "/", e: "/envelopes", t: "/templates", s: "/settings/account" } as const;
const isPlace = (letter: string): letter is keyof typeof places => Object.hasOwn(places, letter);

/** Single keys for whoever works here all day, on every page. */
export function useShortcuts(onHelp: () => void): void {
  const enabled = useShortcutsEnabled();
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
        const search = document.querySelector<HTMLInputElement>("main input[type='search']");
        if (!search) return;
        search.focus();
        search.select();
      } else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, [enabled, navigate, onHelp]);
}
