import { credentialsTopic } from "./admission.ts";
import type { Deps } from "./deps.ts";

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

/**
 * The bell of a stream that people follow with a credential: rings after each publication of the topic, when anybody's
 * credential ends, and when the client goes away.
 */
export function createStreamBell({ db, events }: Pick<Deps, "db" | "events">, topic: string, signal: AbortSignal) {
  const news = createBell(signal);
  const endings = createBell(signal);
  const unsubscribe = [
    events.subscribe(topic, news.ring),
    db.onCommitted(credentialsTopic, () => {
      endings.ring();
      news.ring();
    }),
  ];
  return {
    wait: news.wait,
    /** Lets time pass between two looks, at most until a credential ends. */
    pause: (ms: number) => endings.wait(ms),
    close() {
      for (const end of unsubscribe) end();
      news.close();
      endings.close();
    },
  };
}
