/** How often an open stream says that it lives (contract §4). */
export const pingMs = 15_000;

/** Wakes whoever waits for news; remembers a ring that comes while nobody waits. Rings when the signal is aborted. */
export function createBell(signal: AbortSignal) {
  let rung = false;
  let wake: (() => void) | undefined;
  const ring = () => {
    rung = true;
    wake?.();
  };
  signal.addEventListener("abort", ring, { once: true });
  return {
    ring,
    close: () => signal.removeEventListener("abort", ring),
    /** @returns false when the time passed without a ring */
    async wait(ms: number): Promise<boolean> {
      if (!rung) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        wake = undefined;
      }
      const was = rung;
      rung = false;
      return was;
    },
  };
}
