import { useCallback, useEffect, useRef, useState } from "react";

/** Moves the focus to the first wrong field of a form each time it is refused, and at no other time. */
export function useRefusals() {
  const form = useRef<HTMLFormElement>(null);
  // A count, so that the same field gets the focus again.
  const [refusals, setRefusals] = useState(0);
  useEffect(() => {
    if (refusals > 0)
      form.current
        ?.querySelector<HTMLElement>("[aria-invalid='true'], [data-error] input, [data-refused] input")
        ?.focus();
  }, [refusals]);
  const refuse = useCallback(() => setRefusals((count) => count + 1), []);
  return { form, refuse };
}
