import { type RefObject, useEffect, useRef } from "react";
import { translator } from "../../i18n.ts";

/** A page was left and the next one has not shown its heading yet. */
let arriving = false;

/** Told by the router when another page was asked for. */
export function expectHeading(): void {
  arriving = true;
}

/**
 * Names the window after the page and, after a navigation, moves the focus to the page's heading: that is how a screen reader
 * tells where it is, and where the keyboard goes on from.
 * @returns the ref of the heading, which needs tabIndex -1
 */
export function useHeading(title: string): RefObject<HTMLHeadingElement | null> {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · ${translator("common")("product")}`;
    if (!arriving) return;
    arriving = false;
    heading.current?.focus();
  }, [title]);
  return heading;
}
