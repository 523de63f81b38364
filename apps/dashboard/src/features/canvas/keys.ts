import type { Alignment, Distribution, SameSize } from "./align.ts";

/** Which keys do what on the pages. Pure. */

export type Command =
  | { do: "move" | "resize"; x: number; y: number }
  | { do: "align"; how: Alignment }
  | { do: "distribute"; how: Distribution }
  | { do: "equal"; what: SameSize }
  | { do: "step"; by: 1 | -1 }
  | { do: "zoom"; to: "in" | "out" | "width" }
  /** The role of new fields, by its place. */
  | { do: "role"; index: number }
  | { do: "remove" | "duplicate" | "all" | "help" };

export type Keys = Pick<KeyboardEvent, "key" | "code" | "shiftKey" | "ctrlKey" | "metaKey" | "altKey">;

const directions: Record<string, readonly [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** By where keys are: with Alt, a Mac types other characters. */
const withAlt: Record<string, Command> = {
  KeyA: { do: "align", how: "left" },
  KeyH: { do: "align", how: "centre" },
  KeyD: { do: "align", how: "right" },
  KeyW: { do: "align", how: "top" },
  KeyV: { do: "align", how: "middle" },
  KeyS: { do: "align", how: "bottom" },
  Digit1: { do: "equal", what: "width" },
  Digit2: { do: "equal", what: "height" },
  Digit3: { do: "equal", what: "size" },
};
const withAltShift: Record<string, Command> = {
  KeyH: { do: "distribute", how: "horizontally" },
  KeyV: { do: "distribute", how: "vertically" },
};

/** What a press of keys on the pages means; null when it belongs to the browser. */
export function commandOf(event: Keys): Command | null {
  const { key, code, shiftKey: shift, altKey: alt } = event;
  const control = event.ctrlKey || event.metaKey;
  const direction = directions[key];
  if (direction) {
    const step = shift ? 10 : 1;
    return { do: control || alt ? "resize" : "move", x: direction[0] * step, y: direction[1] * step };
  }
  if (control && !alt) return withControl(key);
  if (alt && !control) return (shift ? withAltShift : withAlt)[code] ?? null;
  if (control || alt) return null;
  if (key === "Tab") return { do: "step", by: shift ? -1 : 1 };
  if (key === "Delete" || key === "Backspace") return { do: "remove" };
  if (/^[1-9]$/.test(key)) return { do: "role", index: Number(key) - 1 };
  return key === "?" ? { do: "help" } : null;
}

function withControl(key: string): Command | null {
  switch (key.toLowerCase()) {
    case "a":
      return { do: "all" };
    case "d":
      return { do: "duplicate" };
    case "+":
    case "=":
      return { do: "zoom", to: "in" };
    case "-":
      return { do: "zoom", to: "out" };
    case "0":
      return { do: "zoom", to: "width" };
    default:
      return null;
  }
}
