import { type Clock, toTs } from "../../server/kernel/clock.ts";

/**
 * A clock that goes on by a millisecond with every reading, as a busy machine's does between two lines: whoever reads it
 * twice for one moment gets two. Otherwise it stands until the test moves it.
 */
export function tickingClock(start = "2026-11-21T10:00:00.000Z"): Clock & { advance(ms: number): void } {
  let ms = Date.parse(start);
  const now = () => {
    ms += 1;
    return ms;
  };
  return {
    now,
    ts: () => toTs(now()),
    advance(by) {
      ms += by;
    },
  };
}
