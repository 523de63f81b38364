import { useLayoutEffect } from "react";

/** Where the focus was, and in which dialog that is, if in one. */
type From = { to: HTMLElement | null; behind: HTMLElement | null };
/** What a closing dialog gives back, a moment later; one that opens in its place takes that over. */
let owed: (From & { timer: ReturnType<typeof setTimeout> }) | null = null;
/** By then whatever follows the dialog has taken the focus itself, if it wants it. */
const afterMs = 10;
const dialogs = "[aria-modal='true']";

/** What had the focus last, also when it has lost it. */
let last: HTMLElement | null = null;
document.addEventListener("focusin", ({ target }) => {
  if (target instanceof HTMLElement) last = target;
});

/**
 * Gives the focus back to where it was before a dialog opened: when the dialog closes, and when it is taken off the page. When
 * that place is gone, the page's content has it, so that the keyboard goes on from there (WCAG 2.4.3).
 */
export function useFocusBack(opened: boolean): void {
  useLayoutEffect(() => {
    if (!opened) return;
    const from = takeOver();
    return () => {
      const inside = document.activeElement;
      owed = { ...from, timer: setTimeout(giveBack, afterMs, inside) };
    };
  }, [opened]);
}

function takeOver(): From {
  if (owed) {
    clearTimeout(owed.timer);
    const { to, behind } = owed;
    owed = null;
    return { to, behind };
  }
  const to = focused();
  return { to, behind: to?.closest<HTMLElement>(dialogs) ?? null };
}

function focused(): HTMLElement | null {
  const { activeElement, body } = document;
  if (activeElement instanceof HTMLElement && activeElement !== body) return activeElement;
  // The button of a dialog, which rested while its act was under way and asks for something first, has lost it by that.
  return last?.isConnected && last.closest(dialogs) ? last : null;
}

function giveBack(inside: Element | null): void {
  const { to, behind } = owed ?? { to: null, behind: null };
  owed = null;
  const { activeElement, body } = document;
  if (activeElement !== null && activeElement !== body && activeElement !== inside) return;
  to?.focus({ preventScroll: true });
  if (to !== null && document.activeElement === to) return;
  // Never behind a dialog that stands in front of the page still.
  const place = behind?.isConnected ? behind : document.querySelector<HTMLElement>("main[tabindex]");
  place?.focus({ preventScroll: true });
}
