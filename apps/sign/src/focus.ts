import { useEffect, useRef } from "react";

/** Moves the focus to an element when it first appears, so that a change of screen is announced. */
export function useFocusOnce<E extends HTMLElement>() {
  const element = useRef<E>(null);
  useEffect(() => {
    element.current?.focus({ preventScroll: true });
  }, []);
  return element;
}
