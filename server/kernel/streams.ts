import type { ServerResponse } from "node:http";
import { AppError } from "./errors.ts";

/** A browser with as many tabs is rare; each stream costs a timer, a listener and reads. */
export const mostStreams = 20;

/** The event streams that each session, key or viewer holds open. */
export function createStreamCount() {
  const open = new Map<string, number>();
  return {
    /**
     * Takes a place until the response is closed.
     * @throws AppError `rate-limited`
     */
    take(holder: string, response: ServerResponse): void {
      const count = open.get(holder) ?? 0;
      if (count >= mostStreams) {
        const detail = `At most ${mostStreams} event streams may be open at a time: close one.`;
        throw new AppError("rate-limited", { detail, retryAfter: 15 });
      }
      open.set(holder, count + 1);
      response.once("close", () => {
        const left = (open.get(holder) ?? 1) - 1;
        if (left > 0) open.set(holder, left);
        else open.delete(holder);
      });
    },
  };
}
