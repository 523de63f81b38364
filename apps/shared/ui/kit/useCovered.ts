import { useCallback, useLayoutEffect, useRef } from "react";

/** The open dialogs, the latest last. */
const open: object[] = [];

/**
 * Whether another dialog has opened in front of this one: the Escape key then means that one, and Mantine tells it to both.
 * @returns to be asked when it matters
 */
export function useCovered(opened: boolean): () => boolean {
  const self = useRef({});
  useLayoutEffect(() => {
    if (!opened) return;
    const { current } = self;
    open.push(current);
    return () => {
      // Later: the key press that closed the one in front is still on its way to those behind it.
      setTimeout(() => open.splice(open.indexOf(current), 1));
    };
  }, [opened]);
  return useCallback(() => open.at(-1) !== self.current, []);
}
