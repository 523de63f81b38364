import type { ServerResponse } from "node:http";
import { onClosed } from "./closed.ts";
import { AppError } from "./errors.ts";

/** How long a client may leave what was sent to it unread, in milliseconds, before its stream is cut. */
export const slowMs = 10_000;

/** The event streams that each session, key or viewer holds open. @param most of one holder */
export function createStreamCount(most: number) {
  const open = new Map<string, number>();
  return {
    /**
     * Takes a place until the response is closed.
     * @throws AppError `rate-limited`
     */
    take(holder: string, response: ServerResponse): void {
      const count = open.get(holder) ?? 0;
      if (count >= most) {
        const detail = `At most ${most} event streams may be open at a time: close one.`;
        throw new AppError("rate-limited", { detail, retryAfter: 15 });
      }
      open.set(holder, count + 1);
      onClosed(response, () => {
        const left = (open.get(holder) ?? 1) - 1;
        if (left > 0) open.set(holder, left);
        else open.delete(holder);
      });
    },
  };
}

/**
 * The same events. Whoever sends them asks for the next when there is room for it, some 100 kB before the socket; when they do
 * not for `ms` milliseconds, `cut` is called once.
 */
export async function* cutWhenSlow<T>(events: AsyncIterable<T>, ms: number, cut: () => void): AsyncGenerator<T> {
  for await (const event of events) {
    const timer = setTimeout(cut, ms);
    try {
      yield event;
    } finally {
      clearTimeout(timer);
    }
  }
}
