import type { CSSProperties } from "react";
import type { OverlayItem } from "../../../../../server/features/templates/contract.ts";

/** How a fixed item looks on the page while it is edited, as near to the document as a browser's own fonts allow. */
export function lookOf(item: OverlayItem): CSSProperties {
  if (item.type === "whiteout") return { background: item.color ?? "#ffffff" };
  if (item.type === "image" && "data" in item) {
    return { background: `center / contain no-repeat url("${item.data}")` };
  }
  if (item.type !== "text") return {};
  const { size = 11, lineHeight = 1.25, padding = 0, align, baseline } = item;
  // Where the service puts the first line (workers/typst/overlay.typ).
  const top = baseline === undefined ? padding : baseline - size * (lineHeight / 2 + 0.388);
  return {
    padding: `${scaled(Math.max(0, top))} ${scaled(padding)} 0`,
    background: item.group === undefined ? "rgb(255 255 255 / 60%)" : "none",
    color: item.color ?? "#000000",
    fontFamily: item.face === "Noto Sans Mono" ? "monospace" : "sans-serif",
    fontSize: scaled(size),
    fontWeight: item.weight === "bold" ? 700 : 400,
    fontStyle: item.italic ? "italic" : "normal",
    textDecoration: item.underline ? "underline" : "none",
    textAlign: align ?? "start",
    lineHeight,
  };
}

/** A length in points, at the scale of the page. */
const scaled = (points: number) => `calc(${points}px * var(--scale))`;
