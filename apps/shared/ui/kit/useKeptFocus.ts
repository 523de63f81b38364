import { type RefObject, useEffect } from "react";

type Place = { element: HTMLElement; list: Element | null; index: number; heading: HTMLElement | null };

/**
 * Gives the keyboard a place again when what had the focus has gone: a control of the row that took the row's place, or the
 * heading of what is empty now. What was only disabled meanwhile gets its focus back (WCAG 2.4.3).
 */
export function useKeptFocus(within: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const root = within.current;
    if (!root) return;
    let last: Place | null = null;
    /** Nothing has the focus, or the page's content as a whole has: a dialog leaves it there when what asked has gone or rests. */
    const isNowhere = (element: Element | null) => element?.contains(root) ?? false;
    const giveOn = () => {
      // What stands in front of the page has the keyboard.
      if (last && document.querySelector("[aria-modal='true']") === null) heirOf(last, root)?.focus();
    };
    const onFocus = ({ target }: FocusEvent) => {
      if (!(target instanceof HTMLElement)) return;
      if (isNowhere(target)) giveOn();
      else if (root.contains(target)) last = placeOf(target, root);
      else if (!target.closest("[role=dialog]")) last = null;
    };
    // Whoever clicks beside everything wants no focus.
    const onPress = ({ target }: PointerEvent) => {
      if (!(target instanceof Element) || last?.element.contains(target)) return;
      if (root.contains(target) || isNowhere(target)) last = null;
    };
    const observer = new MutationObserver(() => {
      if (isNowhere(document.activeElement)) giveOn();
    });
    document.addEventListener("focusin", onFocus);
    document.addEventListener("pointerdown", onPress, true);
    observer.observe(document.body, { childList: true, subtree: true, attributeFilter: ["disabled"] });
    return () => {
      observer.disconnect();
      document.removeEventListener("focusin", onFocus);
      document.removeEventListener("pointerdown", onPress, true);
    };
  }, [within]);
}

function placeOf(element: HTMLElement, root: HTMLElement): Place {
  const row = element.closest("tr, li");
  const list = row?.parentElement ?? null;
  const above = [...root.querySelectorAll<HTMLElement>("h1, h2")].filter(
    (heading) => heading.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING,
  );
  return { element, list, index: list && row ? [...list.children].indexOf(row) : 0, heading: above.at(-1) ?? null };
}

function heirOf({ element, list, index, heading }: Place, root: HTMLElement): HTMLElement | null {
  if (element.isConnected) return element;
  const row = list?.isConnected ? list.children[Math.min(index, list.children.length - 1)] : undefined;
  const control = row?.querySelector<HTMLElement>("button:enabled, a[href], summary");
  if (control) return control;
  const left = heading?.isConnected ? heading : root.querySelector<HTMLElement>("h1");
  left?.setAttribute("tabindex", "-1");
  return left;
}
